//! What the story over the network is made of: two small projects with the same problem, a third with its own, and agents
//! that follow a script. The checks really fail, and what they print is the log of a cycle.

/// A service elsewhere, in both projects.
pub const SERVICE: &str = "\
// Stands for a service elsewhere: the first call after a pause takes too long.
class TimeoutError extends Error {}
TimeoutError.prototype.name = 'TimeoutError';
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

/// How the first owner runs it.
pub const SHOP_CHECK: &str = "node shop.test.js";

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

/// How the second owner runs it.
pub const INVOICES_CHECK: &str = "node invoices.test.js";

/// The gene that the first owner wrote: what to do about such an error, and how to see that it was done.
pub const GENE: &str = r#"{"type":"Gene","schema_version":"1.5.0","id":"gene_retry_after_timeout","category":"repair","signals_match":["TimeoutError","timeout","did not answer"],"summary":"Call again after a timeout, a little later each time, and give up in the end.","preconditions":["the signals name a call that took too long"],"strategy":["Find the call that runs out of time.","Write retry.js: it calls again after a timeout only, waits longer each time, and gives up after a few tries.","Write retry.test.js, which shows all three.","Wrap the call in it and leave the rest as it is."],"constraints":{"max_files":6,"forbidden_paths":[".git","node_modules"]},"validation":["node --test"]}"#;

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
cat > "$CAPSID_NOTE_FILE" <<'END'
Call the service again after a timeout

The service needs a moment after a pause, so its first call runs out of time. retry.js calls it again, a little later each time, and gives up after three tries. retry.test.js shows all of that.
END
echo 'agent: shop.js calls again after a timeout'
"#;

/// An agent that must not be called, because the problem is solved without one.
pub const NOT_NEEDED: &str = "echo 'agent: nobody should have called me'; exit 1\n";

/// The second agent: it takes the two new files from the solution in its prompt, and wires them into its own code.
pub const APPLY: &str = r#"prompt=$(mktemp) patch=$(mktemp)
cat > "$prompt"
sed -n '/^diff --git a\/retry/,/^DATA [0-9a-f]*>>>/p' "$prompt" | sed '/^DATA [0-9a-f]*>>>/d' > "$patch"
git apply --include=retry.js --include=retry.test.js "$patch" || { echo 'agent: the prompt held no solution'; exit 1; }
rm -f "$prompt" "$patch"
sed -i.bak \
  -e "1a const { retry } = require('./retry.js');" \
  -e 's/await service\.ask(\(.*\)));/await retry(() => service.ask(\1)));/' invoices.js && rm -f invoices.js.bak
echo 'Call the service again after a timeout, as another node does' > "$CAPSID_NOTE_FILE"
echo 'agent: invoices.js uses what the network knew'
"#;

/// The third project: it trusts whatever the service answers.
pub const MAILER: &str = "\
exports.greeting = (answer) => `Dear ${answer.customer.name},`;
";

/// What the third owner asks of it.
pub const MAILER_TEST: &str = "\
const assert = require('node:assert');
const { greeting } = require('./mailer.js');
assert.strictEqual(greeting({ customer: { name: 'Ada' } }), 'Dear Ada,');
assert.strictEqual(greeting({}), 'Dear reader,');
console.log('ok');
";

/// How the third owner runs it.
pub const MAILER_CHECK: &str = "node mailer.test.js";

/// Another file of the third project, which trusts its dates.
pub const DATES: &str = "\
exports.day = (at) => new Date(at).toISOString().slice(0, 10);
";

/// What the third owner asks of that.
pub const DATES_TEST: &str = "\
const assert = require('node:assert');
const { day } = require('./dates.js');
assert.strictEqual(day('2026-03-01T10:00:00Z'), '2026-03-01');
assert.strictEqual(day('tomorrow, perhaps'), 'soon');
console.log('ok');
";

/// How the third owner runs that.
pub const DATES_CHECK: &str = "node dates.test.js";

/// Two genes of the third owner. The second one asks for nothing that could fail, so its test proves nothing.
pub const MAILER_GENES: &str = concat!(
    r#"{"type":"Gene","schema_version":"1.5.0","id":"gene_check_shape","category":"repair","signals_match":["TypeError","Cannot read properties of undefined"],"summary":"Look at the shape of an answer before a field of it is read.","preconditions":["the signals name a field of something that is not there"],"strategy":["Find where the answer is read.","Write shape.js: it gives a field by its path, or a value in its place.","Write shape.test.js, which shows both.","Read the answer through it."],"constraints":{"max_files":6,"forbidden_paths":[".git","node_modules"]},"validation":["node --test"]}"#,
    "\n",
    r#"{"type":"Gene","schema_version":"1.5.0","id":"gene_check_range","category":"repair","signals_match":["RangeError","Invalid time value"],"summary":"Look whether a value is valid before it is used.","strategy":["Find the value that is out of range.","Decide what to answer in its place."],"constraints":{"max_files":3,"forbidden_paths":[".git","node_modules"]},"validation":["node --version"]}"#,
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
cat > mailer.js <<'END'
const { field } = require('./shape.js');
exports.greeting = (answer) => `Dear ${field(answer, 'customer.name', 'reader')},`;
END
cat > "$CAPSID_NOTE_FILE" <<'END'
Greet a reader whose name is missing

An answer of the service may have no customer. shape.js gives a field by its path, or what stands in its place, and mailer.js reads the name through it.
END
echo 'agent: mailer.js greets a reader without a name'
"#;

/// The third agent, on the date that is none.
pub const CHECK_DATE: &str = r#"cat > /dev/null
cat > dates.js <<'END'
exports.day = (at) => {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? 'soon' : date.toISOString().slice(0, 10);
};
END
echo 'Write "soon" where a letter has no date' > "$CAPSID_NOTE_FILE"
echo 'agent: dates.js knows what is no date'
"#;
