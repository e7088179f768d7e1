//! Hundreds of hostile commands, none of which may create the canary.
//!
//! The canary lies in the repository, where a sandboxed program may write: it is the gate and the missing shell that
//! must keep it from being made, not the sandbox.

use capsid_model::gate::{CommandPolicy, check};
use capsid_sandbox::isolation::best_of;
use capsid_sandbox::{Confinement, FinishedProcess, Isolation, ProcessLimits, probe, run_validation_at};
use capsid_testkit::test_repo::TestRepo;
use std::collections::{BTreeMap, BTreeSet};

const TABLE: &str = include_str!("../../capsid-model/tests/hostile_commands.txt");

struct Hostile {
    family: String,
    policy: CommandPolicy,
    command: String,
}

fn table(canary: &str) -> Vec<Hostile> {
    let mut family = String::new();
    let mut policy = CommandPolicy::default();
    let mut commands = Vec::new();
    for line in TABLE.lines() {
        if let Some(name) = line.strip_prefix("# family: ") {
            family = name.to_owned();
            policy = CommandPolicy::default();
        } else if let Some(programs) = line.strip_prefix("# owner: ") {
            policy.programs = programs.split(' ').map(str::to_owned).collect();
        } else if line == "# inline code" {
            policy.inline_code = true;
        } else if !line.is_empty() && !line.starts_with("# ") {
            commands.push(Hostile {
                family: family.clone(),
                policy: policy.clone(),
                command: decode(line).replace("CANARY", canary),
            });
        }
    }
    commands
}

fn decode(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, escape)) = rest.split_once('\\') {
        out.push_str(before);
        let hex = |digits: &str| char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap();
        let (c, length) = match escape.chars().next() {
            Some('n') => ('\n', 1),
            Some('r') => ('\r', 1),
            Some('t') => ('\t', 1),
            Some('\\') => ('\\', 1),
            Some('x') => (hex(&escape[1..3]), 3),
            Some('u') => {
                let end = escape.find('}').unwrap();
                (hex(&escape[2..end]), end + 1)
            }
            _ => ('\\', 0),
        };
        out.push(c);
        rest = &escape[length..];
    }
    out + rest
}

/// A repository in which every attack would work: what it would run is there.
fn scratch(canary: &str) -> TestRepo {
    let repo = TestRepo::new();
    let write = format!("require('fs').writeFileSync('{canary}', '')");
    repo.write("a.js", "console.log(process.argv.slice(2))");
    repo.write("evil.js", &write);
    repo.write("evil.mjs", format!("import fs from 'fs'; fs.writeFileSync('{canary}', '')"));
    repo.script("evil.sh", &format!("#!/bin/sh\ntouch '{canary}'\n"));
    let evil = format!(r#"{{"name":"evil","version":"1.0.0","scripts":{{"test":"touch '{canary}'"}}}}"#);
    repo.write("evil/package.json", evil);
    repo.write("package.json", r#"{"name":"x","version":"1.0.0","scripts":{"test":"node a.js"}}"#);
    repo.script("node_modules/.bin/tool", "#!/bin/sh\necho \"tool $*\"\n");
    repo
}

fn run(level: Isolation, repo: &TestRepo, argv: &[String]) -> FinishedProcess {
    let place = Confinement::to(repo.path());
    run_validation_at(level, argv, &place, &ProcessLimits::default()).unwrap()
}

#[test]
fn no_hostile_command_creates_the_canary() {
    let level = best_of(&probe()).unwrap_or(Isolation::None);
    let name = format!("canary-{}", std::process::id());
    let repo = scratch(&name);
    let canary = repo.file(&name);
    let mut families: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for hostile in table(&name) {
        let Hostile { family, policy, command } = hostile;
        assert!(seen.insert((family.clone(), command.clone())), "twice in the table: {command:?}");
        let counts = families.entry(family).or_default();
        match check(&command, &policy) {
            Err(_) => counts[0] += 1,
            Ok(argv) => {
                counts[1] += 1;
                run(level, &repo, &argv);
            }
        }
        assert!(!canary.exists(), "the canary was made by {command:?}");
    }
    for (family, [refused, ran]) in &families {
        println!("{refused:4} refused {ran:3} ran as literals  {family}");
    }
    let distinct: BTreeSet<_> = seen.iter().map(|(_, command)| command).collect();
    println!("{:4} distinct commands, {} families", distinct.len(), families.len());
    assert!(distinct.len() >= 320 && families.len() >= 14);
    assert!(families.values().map(|[_, ran]| ran).sum::<usize>() >= 10);
}

#[test]
fn the_canary_can_be_made_by_what_the_gate_keeps_out() {
    let level = best_of(&probe()).unwrap_or(Isolation::None);
    let attacks: [&[&str]; 5] = [
        &["sh", "-c", "node a.js; touch canary"],
        &["node", "-e", "require('fs').writeFileSync('canary', '')"],
        &["node", "-r", "./evil.js", "a.js"],
        &["npm", "--prefix", "./evil", "test"],
        &["npm", "exec", "-c", "touch canary"],
    ];
    for attack in attacks {
        let repo = scratch("canary");
        let argv: Vec<String> = attack.iter().map(|&word| word.to_owned()).collect();
        let finished = run(level, &repo, &argv);
        let made = repo.file("canary").exists() || repo.file("evil/canary").exists();
        assert!(made, "{attack:?} {finished:?}");
    }
}
