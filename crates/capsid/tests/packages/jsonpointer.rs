//! `jsonpointer` from PyPI.

use super::peers::{find_python_module, path_with};
use super::story::{PackageCase, repair_twice};

/// The wheel has no tests.
const TESTS: &str = r#"import unittest

from jsonpointer import JsonPointer, resolve_pointer, set_pointer


class Pointers(unittest.TestCase):
    def test_items(self):
        self.assertEqual(resolve_pointer({"foo": ["bar", "baz"]}, "/foo/1"), "baz")

    def test_escaped_slash(self):
        self.assertEqual(resolve_pointer({"a/b": 1}, "/a~1b"), 1)

    def test_escaped_tilde_before_a_one(self):
        self.assertEqual(resolve_pointer({"~1": 9}, "/~01"), 9)

    def test_set(self):
        self.assertEqual(set_pointer({"a": {}}, "/a/b", 2), {"a": {"b": 2}})

    def test_parts(self):
        self.assertEqual(JsonPointer.from_parts(["a", "~", "/"]).path, "/a/~0/~1")
"#;

#[test]
fn a_mistake_in_jsonpointer_is_repaired_by_an_agent_once() {
    let (module, prefix) = find_python_module("jsonpointer");
    repair_twice(&PackageCase {
        name: "jsonpointer",
        files: vec![("jsonpointer.py", module)],
        added: vec![
            ("test_jsonpointer.py", TESTS.to_owned()),
            (".gitignore", "__pycache__/\nbuild.log\n".to_owned()),
        ],
        environment: vec![
            // The real Python, not a launcher that needs more of the user's home.
            ("PATH", path_with(&prefix.join("bin"))),
            // Python takes a file of the same size and second for the one that it compiled, and here both happen.
            ("PYTHONDONTWRITEBYTECODE", "1".into()),
        ],
        policy: &[
            ("programs = []", "programs = [\"python3\"]"),
            ("commands = []", "commands = [\"python3 -m unittest\"]"),
        ],
        suite: "python3 -m unittest",
        tests: ["python3 -m unittest", "python3 -m unittest"],
        mistake: (
            "jsonpointer.py",
            "    return s.replace('~1', '/').replace('~0', '~')",
            "    return s.replace('~0', '~').replace('~1', '/')",
        ),
        unrelated: (
            "\n_nothing = object()\n",
            "\n# Stands for a default that nobody gave.\n_nothing = object()\n",
        ),
        repair: "s,replace('~0'\\, '~').replace('~1'\\, '/'),replace('~1'\\, '/').replace('~0'\\, '~'),",
        note: "Unescape ~1 before ~0 in JSON pointers\n\n\
            unescape turned ~01 into ~1 first and then into a slash. RFC 6901 asks for the other order.",
        problem: "member <s> not found in {<s>: <n>}",
        level: "exact",
    });
}
