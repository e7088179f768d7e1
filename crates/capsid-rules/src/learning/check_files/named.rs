//! The files that a command reads as its input, apart from the code that it checks.
//!
//! `node app.js < orders.txt` checks `app.js` with the input `orders.txt`. A file of code is an input only if its name
//! says that it is a check (`check.sh`), because otherwise a repair could not touch the code that fails.

use super::normalize_path;

/// Extensions of code that a command compiles, runs or inspects.
const CODE: [&str; 45] = [
    "rs", "py", "pyi", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "vue", "svelte", "go", "java",
    "kt", "kts", "scala", "groovy", "c", "h", "cc", "cpp", "cxx", "hpp", "m", "mm", "cs", "fs", "vb", "rb",
    "php", "swift", "ex", "exs", "erl", "hs", "lua", "pl", "r", "sh", "bash", "zsh", "sql", "zig",
];

/// Words in the name of a script that checks something.
const CHECK_WORDS: [&str; 8] = ["check", "checks", "test", "tests", "verify", "validate", "spec", "smoke"];

/// Whether a command names this file as an input. The path is normalized.
pub(super) fn names_input_file(command: &str, path: &str) -> bool {
    if path.is_empty() || !is_input_name(path) {
        return false;
    }
    let mut folder = String::new();
    let mut previous = "";
    let separators =
        |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | ';' | '&' | '|' | '(' | ')' | '<' | ',');
    for word in command.split(separators).filter(|word| !word.is_empty()) {
        let is_output = previous.ends_with('>') || word.starts_with('>') || previous == "-o";
        if previous == "cd" {
            folder = normalize_path(&format!("{folder}/{word}"));
        } else if !is_output {
            // `--input=a.txt`, and the id of a test behind a file.
            let word = word.rsplit('=').next().unwrap_or(word).split("::").next().unwrap_or(word);
            let named = normalize_path(word);
            if named == path || (!folder.is_empty() && format!("{folder}/{named}") == path) {
                return true;
            }
        }
        previous = word;
    }
    false
}

fn is_input_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let Some((stem, extension)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) else {
        return is_check_stem(&name);
    };
    !CODE.contains(&extension) || is_check_stem(stem)
}

fn is_check_stem(stem: &str) -> bool {
    stem.split(|c: char| !c.is_alphanumeric()).any(|word| CHECK_WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_and_check_scripts_are_inputs() {
        for (command, path) in [
            ("node app.js < orders.txt", "orders.txt"),
            ("node app.js <orders.txt", "orders.txt"),
            ("sh scripts/check.sh", "scripts/check.sh"),
            ("./verify", "verify"),
            ("python run.py --input=data/a.json", "data/a.json"),
            ("cd web && node port-check.js", "web/port-check.js"),
            ("diff 'expected.txt' actual.txt", "expected.txt"),
        ] {
            assert!(names_input_file(command, path), "{command}");
        }
    }

    #[test]
    fn checked_code_and_outputs_are_no_inputs() {
        for (command, path) in [
            ("npx eslint src/app.js", "src/app.js"),
            ("python src/main.py", "src/main.py"),
            ("sh deploy.sh", "deploy.sh"),
            ("node app.js > out.txt", "out.txt"),
            ("node app.js >out.txt", "out.txt"),
            ("gcc -o a.out main.c", "a.out"),
            ("cat a.txt", "b/a.txt"),
            ("cat a.txt", ""),
        ] {
            assert!(!names_input_file(command, path), "{command}");
        }
    }
}
