//! `bytes` from npm.

use super::peers::peer_path;
use super::story::{PackageCase, repair_twice};

/// The archive has no tests.
const TESTS: &str = "'use strict';

const assert = require('node:assert');
const test = require('node:test');
const bytes = require('..');

test('a unit begins at its own size', () => {
  assert.strictEqual(bytes.format(1024), '1KB');
});

test('less than a unit is shown in the smaller one', () => {
  assert.strictEqual(bytes.format(1023), '1023B');
});

test('a text is parsed', () => {
  assert.strictEqual(bytes.parse('1.5KB'), 1536);
});
";

#[test]
fn a_mistake_in_bytes_is_repaired_by_an_agent_once() {
    let folder = peer_path("node_modules/bytes");
    // Its own script needs mocha, which would bring dependencies.
    let manifest = std::fs::read_to_string(folder.join("package.json")).unwrap_or_default();
    let manifest = manifest.replace("mocha --check-leaks --reporter spec", "node --test");
    repair_twice(&PackageCase {
        name: "bytes",
        files: vec![("index.js", folder.join("index.js")), ("LICENSE", folder.join("LICENSE"))],
        added: vec![
            ("package.json", manifest),
            ("test/bytes.test.js", TESTS.to_owned()),
            (".gitignore", "build.log\n".to_owned()),
        ],
        environment: vec![("npm_config_update_notifier", "false".into())],
        policy: &[],
        suite: "npm test",
        tests: ["npm test", "npm test"],
        mistake: ("index.js", "    } else if (mag >= map.kb) {", "    } else if (mag > map.kb) {"),
        unrelated: (
            "\nmodule.exports = bytes;\n",
            "\n// The module is the function.\nmodule.exports = bytes;\n",
        ),
        repair: "s/mag > map.kb/mag >= map.kb/",
        note: "Format exactly 1024 bytes as 1KB\n\n\
            A size that equals the unit belongs to that unit. The comparison left it to the smaller one.",
        problem: "Expected values to be strictly equal",
        level: "exact",
    });
}
