//! What the story over the network is made of: two small projects with the same illness, a third with its own, and agents
//! that follow a script.

/// A service elsewhere, in both projects.
pub const SERVICE: &str = "\
// Stands for a service elsewhere: the first call after a pause takes too long.
class TimeoutError extends Error {
  get name() { return 'TimeoutError'; }
}
let awake = false;
exports.ask = async (what) => {
  if (awake) return `${what}: 42`;
  awake = true;
  throw new TimeoutError('upstream did not answer within 5000 ms');
};
";

/// The first project.
pub const SHOP: &str = "\
const { ask } = require('./service.js');
exports.price = (item) => ask(`price of ${item}`);
";

/// What the first owner asks of it.
pub const SHOP_TEST: &str = "\
const { price } = require('./shop.js');
price('an apple').then((text) => {
  if (!text.endsWith('42')) throw new Error(text);
  console.log('ok');
});
";

/// The second project: other code, the same service.
pub const INVOICES: &str = "\
const service = require('./service.js');
exports.total = async (numbers) => {
  const found = [];
  for (const number of numbers) found.push(await service.ask(`invoice ${number}`));
  return found.length;
};
";

/// What the second owner asks of it.
pub const INVOICES_TEST: &str = "\
const { total } = require('./invoices.js');
total([7, 8, 9]).then((count) => {
  if (count !== 3) throw new Error(`found ${count}`);
  console.log('ok');
});
";

/// The gene that the first owner wrote: what to do about such an error, and how to see that it was done.
pub const GENE: &str = r#"{"type":"Gene","schema_version":"1.5.0","id":"gene_retry_after_timeout","category":"repair","signals_match":["TimeoutError","timeout","did not answer"],"summary":"Call again after a timeout, a little later each time, and give up in the end.","preconditions":["the signals name a call that took too long"],"strategy":["Find the call that runs out of time.","Write retry.js: it calls again after a timeout only, waits longer each time, and gives up after a few tries.","Write retry.test.js, which shows all three.","Wrap the call in it and leave the rest as it is."],"constraints":{"max_files":6,"forbidden_paths":[".git","node_modules"]},"validation":["node retry.test.js"]}"#;

/// The first agent: it finds the solution by itself.
pub const FIX: &str = r#"cat > /dev/null
cat > retry.js <<'END'
// Calls again after a timeout, a little later each time; anything else is passed on at once.
exports.retry = async (work, tries = 3, pause = 10) => {
  for (let tried = 1; ; tried += 1) {
    try {
      return await work();
    } catch (error) {
      if (error.name !== 'TimeoutError' || tried >= tries) throw error;
      await new Promise((done) => setTimeout(done, pause * 2 ** tried));
    }
  }
};
END
cat > retry.test.js <<'END'
const assert = require('node:assert');
const { retry } = require('./retry.js');
const late = () => Object.assign(new Error('late'), { name: 'TimeoutError' });
const failing = (times, error) => {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls <= times) throw error;
    return calls;
  };
};
(async () => {
  assert.strictEqual(await retry(failing(2, late())), 3);
  await assert.rejects(retry(failing(3, late())), { name: 'TimeoutError' });
  await assert.rejects(retry(failing(1, new Error('broken'))), { message: 'broken' });
  console.log('ok');
})();
END
cat > shop.js <<'END'
const { ask } = require('./service.js');
const { retry } = require('./retry.js');
exports.price = (item) => retry(() => ask(`price of ${item}`));
END
printf 'Call again after a timeout\n\nThe first call after a pause takes too long. It is called again, a little later each time.\n' > "$CAPSID_NOTE_FILE"
echo 'agent: shop.js calls again after a timeout'
"#;

/// The second agent: it takes the two new files from the solution in its prompt, and wires them into its own code.
pub const APPLY: &str = r#"prompt=$(mktemp) patch=$(mktemp)
cat > "$prompt"
sed -n '/^diff --git a\/retry/,/^DATA [0-9a-f]*>>>/p' "$prompt" | sed '/^DATA [0-9a-f]*>>>/d' > "$patch"
git apply --include=retry.js --include=retry.test.js "$patch" || { echo 'agent: the prompt held no solution'; exit 1; }
rm -f "$prompt" "$patch"
sed -i.bak \
  -e "1a const { retry } = require('./retry.js');" \
  -e 's/await service\.ask(\(.*\)));/await retry(() => service.ask(\1)));/' invoices.js && rm -f invoices.js.bak
echo 'agent: invoices.js uses what the network knew'
"#;

/// The third project: it trusts whatever the service answers, and reads addresses with a call of old.
pub const MAILER: &str = "\
const url = require('node:url');
exports.greeting = (answer) => `Dear ${answer.customer.name},`;
exports.host = (address) => url.parse(address).host;
";

/// What the third owner asks of it.
pub const MAILER_TEST: &str = "\
const assert = require('node:assert');
const { greeting, host } = require('./mailer.js');
assert.strictEqual(greeting({ customer: { name: 'Ada' } }), 'Dear Ada,');
assert.strictEqual(greeting({}), 'Dear reader,');
assert.strictEqual(host('https://example.org/a'), 'example.org');
console.log('ok');
";

/// What its log says.
pub const OLD_CALL: &str = "DeprecationError: url.parse() is not maintained, use the URL class";

/// Two genes of the third owner. The second one asks for nothing that could fail, so it proves nothing.
pub const MAILER_GENES: &str = concat!(
    r#"{"type":"Gene","schema_version":"1.5.0","id":"gene_check_shape","category":"repair","signals_match":["TypeError","Cannot read properties of undefined"],"summary":"Look at the shape of an answer before a field of it is read.","preconditions":["the signals name a field of something that is not there"],"strategy":["Find where the answer is read.","Write shape.js: it gives a field by its path, or a value in its place.","Write shape.test.js, which shows both.","Read the answer through it."],"constraints":{"max_files":6,"forbidden_paths":[".git","node_modules"]},"validation":["node shape.test.js"]}"#,
    "\n",
    r#"{"type":"Gene","schema_version":"1.5.0","id":"gene_replace_old_call","category":"repair","signals_match":["DeprecationError","not maintained"],"summary":"Replace a call of old by the one that took its place.","strategy":["Find the call that is not maintained.","Use what its documentation names instead."],"constraints":{"max_files":3,"forbidden_paths":[".git","node_modules"]},"validation":["node --version"]}"#,
    "\n",
);

/// The third agent, on the answer that has no customer.
pub const CHECK_SHAPE: &str = r#"cat > /dev/null
cat > shape.js <<'END'
// Gives the field at a path of names, or what is to stand in its place.
exports.field = (from, path, otherwise) => {
  let found = from;
  for (const name of path.split('.')) found = found === null || found === undefined ? undefined : found[name];
  return found === undefined ? otherwise : found;
};
END
cat > shape.test.js <<'END'
const assert = require('node:assert');
const { field } = require('./shape.js');
assert.strictEqual(field({ customer: { name: 'Ada' } }, 'customer.name', 'reader'), 'Ada');
assert.strictEqual(field({}, 'customer.name', 'reader'), 'reader');
assert.strictEqual(field(null, 'customer.name', 'reader'), 'reader');
console.log('ok');
END
sed -i.bak \
  -e "1a const { field } = require('./shape.js');" \
  -e "s/answer\.customer\.name/field(answer, 'customer.name', 'reader')/" mailer.js && rm -f mailer.js.bak
printf 'Greet a reader without a name\n\nThe answer need not have a customer, so its fields are read by their path.\n' > "$CAPSID_NOTE_FILE"
echo 'agent: mailer.js greets a reader without a name'
"#;

/// The third agent, on the call of old.
pub const NEW_CALL: &str = r#"cat > /dev/null
sed -i.bak -e '/node:url/d' -e 's/url\.parse(address)/new URL(address)/' mailer.js && rm -f mailer.js.bak
echo 'agent: mailer.js reads addresses with URL'
"#;
