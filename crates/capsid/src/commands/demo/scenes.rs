//! What the story over the network is made of: two small projects with the same illness, and agents that follow a script.

/// A service elsewhere, in both projects.
pub const SERVICE: &str = "\
// Stands for a service elsewhere: the first call after a pause takes too long.
let awake = false;
exports.ask = async (what) => {
  if (awake) return `${what}: 42`;
  awake = true;
  throw Object.assign(new Error('upstream did not answer within 5000 ms'), { name: 'TimeoutError' });
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
