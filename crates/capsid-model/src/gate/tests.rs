use super::*;
use proptest::prelude::*;

fn code(command: &str, policy: &CommandPolicy) -> &'static str {
    match check(command, policy) {
        Ok(_) => "ok",
        Err(refusal) => refusal.code.as_str(),
    }
}

fn owner(programs: &[&str]) -> CommandPolicy {
    CommandPolicy { programs: programs.iter().map(|&name| name.to_owned()).collect(), inline_code: false }
}

fn expect(policy: &CommandPolicy, table: &[(&str, &str)]) {
    for (command, expected) in table {
        assert_eq!(code(command, policy), *expected, "{command:?}");
    }
}

#[test]
fn the_known_commands_of_the_protocol_pass_or_fail_as_they_always_did() {
    expect(
        &CommandPolicy::default(),
        &[
            ("node a.js", "ok"),
            ("  npm test  ", "ok"),
            ("npx vitest run", "ok"),
            ("node", "program_not_allowed"),
            ("nodejs a.js", "program_not_allowed"),
            ("node\ta.js", "control_character"),
            ("npm test; rm -rf /", "shell_operator"),
            ("npm test && echo hi", "shell_operator"),
            ("npm test | tee x", "shell_operator"),
            ("node a.js > out", "shell_operator"),
            ("node a.js \"a;b|c>d\"", "ok"),
            ("node a.js 'x && y'", "ok"),
            ("node a.js \"`id`\"", "substitution"),
            ("node a.js \"$(id)\"", "substitution"),
            ("node a.js '$(id)'", "substitution"),
            ("node -e \"1\"", "inline_code"),
            ("node --eval=1", "inline_code"),
            ("node -p 1", "inline_code"),
            ("node  -e 1", "inline_code"),
            ("node --print 1", "inline_code"),
            ("node a.js $HOME", "ok"),
            ("node a.js \"unterminated ; x", "unbalanced_quote"),
            ("NODE a.js", "program_not_allowed"),
            ("pnpm test", "program_not_allowed"),
            ("cargo test", "program_not_allowed"),
        ],
    );
}

#[test]
fn defect_2_newlines_mixed_quotes_and_hidden_inline_code_are_refused() {
    expect(
        &CommandPolicy::default(),
        &[
            ("node a.js\nrm -rf /", "control_character"),
            ("node a.js\n", "control_character"),
            ("node a.js 'a\"b' ; c \"d'e\"", "shell_operator"),
            ("node -pe 1", "inline_code"),
            ("node -r ./x -e 1", "inline_code"),
            ("npm exec -- node -e 1", "option_not_allowed"),
            ("npx -y anything", "option_not_allowed"),
        ],
    );
}

#[test]
fn every_kind_of_refusal_has_its_code() {
    expect(
        &CommandPolicy::default(),
        &[
            ("", "empty"),
            ("   ", "empty"),
            (&format!("node {}", "a".repeat(4096)), "too_long"),
            ("node a.js \u{202e}", "control_character"),
            ("node\u{a0}a.js", "control_character"),
            ("node a.js \\; b", "shell_operator"),
            ("node a.js \\", "unbalanced_quote"),
            ("\"node\" a.js", "program_not_allowed"),
            ("no'de' a.js", "program_not_allowed"),
            ("/usr/bin/node a.js", "program_not_allowed"),
            ("node --watch a.js", "option_not_allowed"),
        ],
    );
}

#[test]
fn node_options_before_the_script_are_a_closed_list() {
    expect(
        &CommandPolicy::default(),
        &[
            ("node --test", "ok"),
            ("node --test --test-reporter=tap test/", "ok"),
            ("node --test-reporter=./evil.js --test", "option_not_allowed"),
            ("node --test-reporter ./evil.js", "option_not_allowed"),
            ("node --check a.js", "ok"),
            ("node --version", "ok"),
            ("node --max-old-space-size=512 a.js -e 1", "ok"),
            ("node --no-warnings --import data:text/javascript,1 a.js", "inline_code"),
            ("node --env-file=x a.js", "option_not_allowed"),
            ("node --run build", "option_not_allowed"),
            ("node inspect a.js", "inline_code"),
            ("node data:text/javascript,1", "inline_code"),
            ("node /dev/stdin", "inline_code"),
            ("node -", "inline_code"),
            ("node 'C:\\a.js'", "inline_code"),
        ],
    );
}

#[test]
fn node_with_the_path_of_npm_cli_js_does_not_pass() {
    let refused = [
        "node /usr/lib/node_modules/npm/bin/npm-cli.js exec -c id",
        "node ../../usr/lib/node_modules/npm/bin/npm-cli.js exec -c id",
        "node node_modules/npm/bin/npm-cli.js exec -c id",
        "node ./node_modules//npm/bin/npm-cli.js test",
        "node NODE_MODULES/NPM/index.js exec",
        "node node_modules/.bin/npm exec -c id",
        "node node_modules/.bin/npx.cmd id",
        "node node_modules/a/node_modules/npm/lib/cli.js exec",
        "node 'node_modules\\npm\\bin\\npm-cli.js' exec",
        "node vendor/npm-cli.js exec -c id",
        "node vendor/npm-cli exec -c id",
        "node .yarn/releases/yarn-4.1.0.cjs exec id",
        "node node_modules/corepack/dist/corepack.js yarn",
        "node node_modules/yarn/bin/yarn.js exec id",
        "node node_modules/pnpm/bin/pnpm.cjs exec id",
        "node node_modules/concurrently/dist/bin/concurrently.js id",
        "node node_modules/cross-env/src/bin/cross-env.js id",
        "node node_modules/tsx/dist/cli.mjs -e 1",
        "node --check --no-warnings /usr/lib/node_modules/npm/bin/npm-cli.js",
        "node --test a.test.js node_modules/npm/bin/npm-cli.js",
        "node -- node_modules/npm/bin/npm-cli.js exec",
        "npx tsx /usr/lib/node_modules/npm/bin/npm-cli.js exec",
        "npx tsx --tsconfig x.json node_modules/npm/bin/npm-cli.js exec",
        "npx tsx node_modules/npm exec",
    ];
    for command in refused {
        assert_eq!(code(command, &CommandPolicy::default()), "inline_code", "{command}");
    }
}

#[test]
fn a_script_is_named_by_a_path_that_stays_in_the_repository() {
    expect(
        &CommandPolicy::default(),
        &[
            ("node ./scripts/check.js --file /etc/hosts", "ok"),
            ("node src/node_modules.js", "ok"),
            ("node node_modules/vitest/vitest.mjs run", "ok"),
            ("node node_modules/@scope/tool/cli.js", "ok"),
            ("node node_modules/.bin/vitest run", "ok"),
            ("node node_modules/tsx/dist/cli.mjs test.ts", "ok"),
            ("node --test test/ 'src/*.test.js'", "ok"),
            ("node /tmp/a.js", "inline_code"),
            ("node '\\\\server\\a.js'", "inline_code"),
            ("node a/../../b.js", "inline_code"),
            ("node ..", "inline_code"),
            ("node ''", "inline_code"),
            ("node node_modules", "inline_code"),
            ("node node_modules/@scope", "inline_code"),
            ("node node_modules/.pnpm/x@1/node_modules/x/a.js", "program_not_allowed"),
            ("node node_modules/node/bin/node", "program_not_allowed"),
            ("node --test ../other/", "inline_code"),
            ("npx tsx ../a.ts", "inline_code"),
        ],
    );
    expect(
        &owner(&["python3", "bash", "deno"]),
        &[
            ("python3 tools/check.py /etc/hosts", "ok"),
            ("python3 /usr/lib/python3/x.py", "inline_code"),
            ("python3 -B ../x.py", "inline_code"),
            ("bash ci/run.sh", "ok"),
            ("bash /tmp/run.sh", "inline_code"),
            ("bash node_modules/npm/bin/npm", "inline_code"),
            ("deno run --allow-read a.ts", "ok"),
            ("deno run --config deno.json /tmp/a.ts", "inline_code"),
        ],
    );
    let inline = CommandPolicy { inline_code: true, ..CommandPolicy::default() };
    expect(&inline, &[("node /opt/tools/check.js", "ok")]);
}

#[test]
fn the_scripts_of_a_command_are_those_that_its_interpreter_takes() {
    let policy = owner(&["python3"]);
    let found = |command: &str| -> Vec<String> {
        let argv = check(command, &policy).unwrap();
        scripts(&argv, &policy).iter().map(|word| format!("{word:?}")).collect()
    };
    assert_eq!(found("node --no-warnings a.js b.js"), ["File(\"a.js\")"]);
    assert_eq!(found("node --test a.js b"), ["Pattern(\"a.js\")", "Pattern(\"b\")"]);
    assert_eq!(found("npx --no tsx --x a.ts"), ["Pattern(\"a.ts\")"]);
    assert_eq!(found("python3 -B run.py x"), ["File(\"run.py\")"]);
    for none in ["npm test", "npx vitest run", "node --version", "python3 -m pytest"] {
        assert!(found(none).is_empty(), "{none}");
    }
    let inline = CommandPolicy { inline_code: true, ..CommandPolicy::default() };
    assert!(scripts(&["node".to_owned(), "/a.js".to_owned()], &inline).is_empty());
}

#[test]
fn npm_runs_declared_scripts_only() {
    expect(
        &CommandPolicy::default(),
        &[
            ("npm run lint -- --fix -c x", "ok"),
            ("npm --silent test", "ok"),
            ("npm test -w pkg --if-present", "ok"),
            ("npm ls --depth=0", "ok"),
            ("npm --version", "ok"),
            ("npm -w --script-shell=x test", "option_not_allowed"),
            ("npm test --script-shell=x", "option_not_allowed"),
            ("npm test --script-shell x", "option_not_allowed"),
            ("npm --prefix /tmp test", "option_not_allowed"),
            ("npm -C /tmp test", "option_not_allowed"),
            ("npm -- exec node", "option_not_allowed"),
            ("npm install x", "option_not_allowed"),
            ("npm config set x", "option_not_allowed"),
            ("npm x vitest", "option_not_allowed"),
        ],
    );
}

#[test]
fn npx_starts_installed_programs_only() {
    expect(
        &CommandPolicy::default(),
        &[
            ("npx --no @scope/tool run", "ok"),
            ("npx tsc -p tsconfig.json", "ok"),
            ("npx tsx test.ts", "ok"),
            ("npx tsx -e 1", "inline_code"),
            ("npx npm test", "ok"),
            ("npx npm exec x", "option_not_allowed"),
            ("npx -c 'touch x'", "option_not_allowed"),
            ("npx --package=x y", "option_not_allowed"),
            ("npx node -e 1", "program_not_allowed"),
            ("npx sh", "program_not_allowed"),
            ("npx bash5 x", "program_not_allowed"),
            ("npx npx vitest", "program_not_allowed"),
            ("npx cross-env A=1 sh", "program_not_allowed"),
            ("npx vitest@latest", "program_not_allowed"),
            ("npx ./evil", "program_not_allowed"),
            ("npx github:a/b", "program_not_allowed"),
            ("npx @scope", "program_not_allowed"),
            ("npx --no", "program_not_allowed"),
        ],
    );
}

#[test]
fn npx_is_run_so_that_it_cannot_download_or_mistake_an_option_for_its_own() {
    let argv = check("npx --no vitest -c config", &CommandPolicy::default()).unwrap();
    assert_eq!(argv_to_run(&argv), ["npx", "--no", "--", "vitest", "-c", "config"]);
    let argv = check("node a.js", &CommandPolicy::default()).unwrap();
    assert_eq!(argv_to_run(&argv), argv);
}

#[test]
fn programs_the_owner_added_still_may_not_carry_code() {
    let policy = owner(&["make", "cargo", "python3", "bash", "perl", "env", "go", "deno"]);
    expect(
        &policy,
        &[
            ("make", "ok"),
            ("make test V=1", "ok"),
            ("make --eval=x", "option_not_allowed"),
            ("make -kE x", "option_not_allowed"),
            ("make SHELL=./x", "option_not_allowed"),
            ("make 'CC=touch x'", "option_not_allowed"),
            ("makefile", "program_not_allowed"),
            ("cargo test --workspace", "ok"),
            ("cargo test --config x=1", "option_not_allowed"),
            ("go test -exec ./x", "option_not_allowed"),
            ("python3 -m pytest -c x", "ok"),
            ("python3 -B run.py -c x", "ok"),
            ("python3 -m timeit x", "inline_code"),
            ("python3 -c x", "inline_code"),
            ("python3 -Wignore -c x", "inline_code"),
            ("python3 -W ignore -c x", "option_not_allowed"),
            ("bash ci.sh -c x", "ok"),
            ("bash -lc x", "inline_code"),
            ("bash -O extglob -c x", "option_not_allowed"),
            ("perl -MPOSIX -e x", "option_not_allowed"),
            ("env sh ci.sh", "inline_code"),
            ("deno eval x", "inline_code"),
            ("deno run https://x.invalid/a.ts", "inline_code"),
            ("ruby a.rb", "program_not_allowed"),
        ],
    );
}

#[test]
fn the_owner_can_allow_inline_code_but_not_a_shell() {
    let policy = CommandPolicy { inline_code: true, ..owner(&["python3"]) };
    expect(
        &policy,
        &[
            ("node -e 1", "ok"),
            ("python3 -c 1", "ok"),
            ("node -e 1; id", "shell_operator"),
            ("npm exec x", "option_not_allowed"),
            ("npx sh -c x", "program_not_allowed"),
        ],
    );
}

#[test]
fn a_refusal_reads_as_a_blocked_command() {
    let refusal = check("rm -rf /", &CommandPolicy::default()).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "BLOCKED: validation command rejected by safety check: `rm` is not an allowed program; \
         a command starts with node, npm or npx."
    );
    assert_eq!(Problem::from(refusal).code, Code::CommandRefused);
}

proptest! {
    #[test]
    fn any_text_is_judged_without_panic_and_plain_quoting_round_trips(
        noise in ".{0,80}",
        words in prop::collection::vec("[a-zA-Z0-9 $;&|<>\\\\\"*~-]{0,12}", 0..6),
    ) {
        let _ = check(&noise, &CommandPolicy::default());
        let _ = check(&format!("npx {noise}"), &CommandPolicy { programs: vec!["x".into()], inline_code: false });
        prop_assume!(words.iter().all(|word| !word.contains("$(")));
        let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        let argv = check(&format!("node a.js {}", quoted.join(" ")), &CommandPolicy::default()).unwrap();
        prop_assert_eq!(&argv[2..], &words[..]);
    }
}
