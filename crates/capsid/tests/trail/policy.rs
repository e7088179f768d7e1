//! Who may have signed what is taken in, what is added to a chain, and what an older home becomes.

use super::*;
use capsid_model::{Value, fields, json};
use capsid_seal::chain::{ChainWriter, PendingRecord};
use capsid_seal::keys::KeyOrigin;
use capsid_seal::{ActionRecord, ChainLink, Sealer, SigningKey};
use std::path::{Path, PathBuf};

fn read(path: &Path) -> Value {
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

fn write(path: &Path, value: &Value) {
    std::fs::write(path, value.to_string()).unwrap();
}

/// An exported session, and its author.
struct Bundle {
    author: TrailUser,
    folder: PathBuf,
}

impl Bundle {
    fn export(chains: &[&str]) -> Self {
        let author = sealed(2);
        let out = ["trail", "export", "--out", "bundle"];
        author.expect(0, &[&out[..], chains].concat());
        let folder = author.home().join("bundle");
        Self { author, folder }
    }

    fn path(&self) -> &str {
        self.folder.to_str().unwrap()
    }

    fn key(&self) -> String {
        self.author.expect(0, &["key", "show", "--json"]).json()["public_key"].as_str().unwrap().to_owned()
    }

    /// Changes the records, and all headers with them.
    fn change(&self, change: impl FnOnce(&mut Vec<Value>)) {
        let file = self.folder.join(format!("claude-code-{SESSION}.json"));
        let mut chain = read(&file);
        let records = chain["capsules"].as_array_mut().unwrap();
        change(records);
        let (length, head) = (json!(records.len()), records.last().unwrap()["hash"].clone());
        let index_file = self.folder.join("index.json");
        let mut index = read(&index_file);
        for header in [&mut chain, &mut index["chains"][0]] {
            header["length"] = length.clone();
            header["head_hash"] = head.clone();
            let own = header.as_object_mut().unwrap();
            own.remove("signed_by");
            own.remove("ended_at");
        }
        index["capsule_count"] = length;
        write(&file, &chain);
        write(&index_file, &index);
    }

    /// Removes what a forger would remove.
    fn remove(&self, names: &[&str]) {
        names.iter().for_each(|name| std::fs::remove_file(self.folder.join(name)).unwrap());
        let index_file = self.folder.join("index.json");
        let mut index = read(&index_file);
        index["meta"] = Value::Null;
        write(&index_file, &index);
    }
}

fn codes(verdict: &Value) -> Vec<&str> {
    verdict["findings"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect()
}

#[test]
fn a_forged_tail_after_records_of_a_pinned_key_is_refused() {
    let bundle = Bundle::export(&[]);
    bundle.remove(&["meta.json", "heads.json"]);
    let stranger = Sealer::new(SigningKey::from_seed(&[9; 32]));
    bundle.change(|records| {
        records.pop();
        let link = ChainLink {
            sequence: records.len() as u64,
            previous_hash: Some(records.last().unwrap()["hash"].as_str().unwrap().to_owned()),
        };
        let action = ActionRecord {
            id: "forged".into(),
            kind: "tool".into(),
            domain: "claude-code".into(),
            context: capsid_model::fields! { "session_id": SESSION },
            ..ActionRecord::default()
        };
        let stored = stranger.seal(&action, &link, "2026-06-01T12:00:00+00:00").unwrap();
        records.push(json!({
            "hash": stored.seal.hash, "signature": stored.seal.signature, "signature_pq": "",
            "signed_at": stored.seal.signed_at, "signed_by": stored.seal.signed_by, "canonical": stored.canonical,
        }));
    });
    let index_file = bundle.folder.join("index.json");
    let mut index = read(&index_file);
    index["keys"][stranger.public().fingerprint()] = json!(stranger.public().hex());
    write(&index_file, &index);

    let reader = desk();
    reader.expect(0, &["key", "pin", &bundle.key(), "--name", "ada"]);
    for more in [&[][..], &["--signatures"], &["--from", "ada"], &["--require", "known"]] {
        let words = [&["trail", "verify", "--json", bundle.path()][..], more].concat();
        let verdict = reader.expect(1, &words).json();
        assert!(codes(&verdict).contains(&"signer_not_allowed"), "{more:?}: {verdict}");
    }
    let refused = reader.expect(1, &["trail", "import", bundle.path()]);
    assert!(refused.stdout.contains("refused"), "{refused}");
    assert!(!reader.trail().join("imported").exists() && !reader.trail().join("chains").exists());
    assert!(!reader.trail().join("known_keys.json").exists());
    // Whoever asks for nothing gets it, and sees that nothing is proven.
    let careless = reader.expect(0, &["trail", "verify", "--json", "--require", "any", bundle.path()]).json();
    assert_eq!(careless["level"], "unverified");
}

#[test]
fn import_makes_no_key_known() {
    let bundle = Bundle::export(&[]);
    let reader = desk();
    reader.expect(0, &["trail", "import", bundle.path()]);
    assert!(!reader.trail().join("known_keys.json").exists());
    let signer = bundle.key()[..16].to_owned();
    let imported = reader.trail().join("imported").join(signer).join("claude-code");
    assert!(imported.join(format!("{SESSION}.db")).is_file());
    let note = read(&imported.join(format!("{SESSION}.import.json")));
    assert_eq!((&note["level"], &note["require"]), (&json!("unverified"), &json!("any")));
    assert!(!reader.trail().join("chains").exists());
    // It is listed, shown and verified, and proves no more than it did.
    assert!(reader.expect(0, &["trail", "list", "--json"]).stdout.contains(SESSION));
    reader.expect(0, &["trail", "inspect", SESSION]);
    let verdict = reader.expect(0, &["trail", "verify", "--json"]).json();
    assert_eq!(verdict["level"], "unverified");
    assert!(codes(&verdict).contains(&"bundled_signer"), "{verdict}");
    // A pinned key makes the same chain valid, and another one refuses it.
    reader.expect(0, &["key", "pin", &bundle.key()]);
    assert_eq!(reader.expect(0, &["trail", "verify", "--json"]).json()["level"], "valid");
}

#[test]
fn import_heeds_the_bundles_meta_chain() {
    let bundle = Bundle::export(&[]);
    std::fs::remove_file(bundle.folder.join("heads.json")).unwrap();
    bundle.change(|records| drop(records.pop()));
    let reader = desk();
    let import = ["trail", "import", bundle.path()];
    let refused = reader.expect(1, &import);
    assert!(refused.stdout.contains("the meta-chain recorded"), "{refused}");
    assert!(!reader.trail().exists());
    reader.expect(0, &[&import[..], &["--accept-incomplete"]].concat());
    let verdict = reader.expect(1, &["trail", "verify", "--json"]).json();
    assert_eq!(verdict["level"], "incomplete", "it stays incomplete: {verdict}");
}

#[test]
fn an_export_of_one_session_without_the_meta_chain_cannot_be_cut_unseen() {
    let bundle = Bundle::export(&[SESSION]);
    assert!(!bundle.folder.join("meta.json").exists());
    let reader = desk();
    reader.expect(0, &["key", "pin", &bundle.key()]);
    assert_eq!(reader.expect(0, &["trail", "verify", "--json", bundle.path()]).json()["level"], "valid");
    let script = || {
        let node = std::process::Command::new("node")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/verify.mjs"))
            .args(["--pin", &bundle.key(), bundle.path()])
            .output();
        ProgramOutput::from_output(node.unwrap())
    };
    assert_status(0, &script());
    bundle.change(|records| drop(records.pop()));
    let verdict = reader.expect(1, &["trail", "verify", "--json", bundle.path()]).json();
    assert_eq!((&verdict["level"], codes(&verdict)), (&json!("incomplete"), vec!["truncated"]));
    assert_status(1, &script());
}

/// A home with the chain of somebody else where its own belongs, as an import of an older version left it.
fn with_foreign_chain() -> TrailUser {
    let stranger = sealed(1);
    let desk = desk();
    desk.transcript("own-session", 1);
    desk.expect(0, &["trail", "seal", "--tool", "claude-code", "--session", "own-session", "--finalize"]);
    std::fs::copy(stranger.chain(SESSION), desk.chain(SESSION)).unwrap();
    desk
}

const SEAL: [&str; 6] = ["trail", "seal", "--tool", "claude-code", "--session", SESSION];

#[test]
fn sealing_does_not_continue_after_a_strangers_record() {
    let desk = with_foreign_chain();
    let transcript = desk.transcript(SESSION, 2);
    let before = std::fs::read(desk.chain(SESSION)).unwrap();
    assert_eq!(desk.expect(1, &SEAL).code(), "chain_not_own");
    let payload = json!({
        "session_id": SESSION, "transcript_path": transcript, "hook_event_name": "SessionEnd",
    });
    assert_status(0, &desk.run_with_input(&["trail", "hook", "claude-code"], &payload.to_string()));
    let log = std::fs::read_to_string(desk.trail().join("hook.log")).unwrap();
    assert!(
        log.contains(&format!("diverted session={SESSION} to={SESSION}+1 reason=chain_not_own")),
        "{log}"
    );
    assert_eq!(std::fs::read(desk.chain(SESSION)).unwrap().len(), before.len());
    let next =
        desk.expect(0, &["trail", "inspect", &format!("claude-code/{SESSION}+1"), "--seq", "0", "--json"]);
    let continues = next.json()["content"]["context"]["environment"]["continues"].clone();
    assert_eq!((&continues["session"], &continues["reason"]), (&json!(SESSION), &json!("chain_not_own")));
    // A second call finds it there and adds nothing.
    assert_status(0, &desk.run_with_input(&["trail", "hook", "claude-code"], &payload.to_string()));
    let log = std::fs::read_to_string(desk.trail().join("hook.log")).unwrap();
    assert_eq!(log.matches("diverted").count(), 1, "{log}");
}

#[test]
fn no_records_are_appended_after_an_invalid_signature() {
    let desk = sealed(1);
    let database = rusqlite::Connection::open(desk.chain(SESSION)).unwrap();
    let flip = "UPDATE capsules SET signature = (SELECT signature FROM capsules WHERE sequence = 0) \
                WHERE sequence = (SELECT max(sequence) FROM capsules)";
    database.execute(flip, []).unwrap();
    drop(database);
    desk.transcript(SESSION, 2);
    let refused = desk.expect(1, &SEAL);
    assert_eq!(refused.code(), "chain_broken");
    assert!(refused.stderr.contains("signature"), "{refused}");
}

#[test]
fn migrate_moves_chains_of_others_and_says_so_before() {
    let desk = with_foreign_chain();
    let verdict = desk.expect(1, &["trail", "verify", "--json"]).json();
    assert!(verdict.to_string().contains("capsid trail migrate"), "{verdict}");
    let records = |chain: &str| desk.expect(0, &["trail", "inspect", chain, "--json"]).stdout;
    let before = records(SESSION);
    let would = desk.expect(0, &["trail", "migrate", "--dry-run"]);
    assert!(would.stdout.contains(&format!("move claude-code/{SESSION}")), "{would}");
    assert_eq!(desk.expect(1, &["trail", "migrate"]).code(), "change_refused", "nobody can be asked");
    assert!(desk.chain(SESSION).exists() && !desk.trail().join("imported").exists());
    desk.expect(0, &["trail", "migrate", "--yes"]);
    assert!(!desk.chain(SESSION).exists() && desk.chain("own-session").exists());
    let after = records(SESSION);
    let hashes = |text: &str| text.matches("\"hash\"").count();
    assert!(hashes(&before) > 0 && hashes(&before) == hashes(&after));
    let verdict = desk.expect(0, &["trail", "verify", "--json"]).json();
    assert_eq!(verdict["level"], "unverified", "{verdict}");
    assert!(desk.expect(0, &["trail", "migrate"]).stdout.contains("nothing has to change"));
}

/// Runs a command in a terminal, with answers typed ahead. Python brings the terminal.
fn run_in_terminal(desk: &TrailUser, args: &[&str], answers: &str) -> ProgramOutput {
    const TERMINAL: &str = "
import os, pty, sys
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[2], sys.argv[2:])
os.write(terminal, sys.argv[1].encode())
shown = b''
try:
    while part := os.read(terminal, 4096):
        shown += part
except OSError:
    pass
sys.stdout.write(shown.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
";
    let words = ["python3", "-c", TERMINAL, answers];
    let output = desk.program.command_under(&words, desk.home(), args).output().unwrap();
    ProgramOutput::from_output(output)
}

#[test]
fn migrate_asks_about_each_known_key_and_does_what_is_answered() {
    let desk = sealed(1);
    for seed in 1..=3 {
        desk.expect(0, &["key", "add", &SigningKey::from_seed(&[seed; 32]).public().hex()]);
    }
    let plan = desk.expect(0, &["trail", "migrate", "--dry-run", "--json"]).json();
    let known: Vec<&str> =
        plan["known"].as_array().unwrap().iter().map(|key| key.as_str().unwrap()).collect();
    assert_eq!(known.len(), 3);
    let ran = run_in_terminal(&desk, &["trail", "migrate"], "p\nremove\n\n");
    assert_status(0, &ran);
    for key in &known {
        let question = format!("The key {}: [p]in, [r]emove or [k]eep as known?", &key[..16]);
        assert_eq!(ran.stdout.matches(&question).count(), 1, "{ran}");
    }
    let keys = capsid_seal::keys::load_home(&desk.trail());
    let origin = |key: &str| keys.iter().find(|one| one.key.hex() == key).map(|one| one.origin);
    let origins = known.iter().map(|key| origin(key)).collect::<Vec<_>>();
    assert_eq!(origins, [Some(KeyOrigin::Pinned), None, Some(KeyOrigin::Known)]);
}

#[test]
fn migrate_changes_nothing_unless_the_answer_is_yes() {
    let desk = with_foreign_chain();
    for answer in ["n\n", "\n"] {
        let ran = run_in_terminal(&desk, &["trail", "migrate"], answer);
        assert_status(1, &ran);
        assert!(ran.stdout.contains("Nothing was changed"), "{ran}");
        assert!(desk.chain(SESSION).exists());
    }
    // The rest is kept as it is: nobody answers any more.
    assert_status(0, &run_in_terminal(&desk, &["trail", "migrate"], "y\nk\nk\n"));
    assert!(!desk.chain(SESSION).exists() && desk.trail().join("imported").exists());
}

#[test]
fn a_rotation_is_recorded_and_whoever_pinned_the_old_key_follows_it() {
    let author = sealed(1);
    let old = author.expect(0, &["key", "show", "--json"]).json()["public_key"].as_str().unwrap().to_owned();
    let reader = desk();
    reader.expect(0, &["key", "pin", &old, "--name", "ada"]);
    author.expect(0, &["key", "rotate"]);
    author.transcript(SESSION, 2);
    author.expect(0, &[&SEAL[..], &["--finalize"]].concat());
    author.expect(0, &["trail", "verify"]);
    author.expect(0, &["trail", "export", "--out", "bundle"]);
    let bundle = author.home().join("bundle");
    let verify = ["trail", "verify", bundle.to_str().unwrap(), "--from", "ada"];
    reader.expect(1, &verify);
    let shown = author.expect(0, &["key", "show", "--json"]);
    let rotations = reader.home().join("ada.json");
    let forged = shown.stdout.replace("takes the place", "took the place");
    std::fs::write(&rotations, forged).unwrap();
    assert_eq!(reader.expect(2, &["key", "pin", "--successor", "ada.json"]).code(), "key_invalid");
    std::fs::write(&rotations, &shown.stdout).unwrap();
    let pinned = reader.expect(0, &["key", "pin", "--successor", "ada.json"]);
    assert!(pinned.stdout.contains("as ada"), "{pinned}");
    reader.expect(0, &verify);
    assert_eq!(
        desk().expect(1, &["key", "pin", "--successor", rotations.to_str().unwrap()]).code(),
        "not_found"
    );
}

#[test]
fn an_adopted_key_makes_chains_of_another_home_go_on_here() {
    let laptop = Bundle::export(&[]);
    let desk = desk();
    let private_key = laptop.author.trail().join("key");
    desk.expect(0, &["key", "adopt", private_key.to_str().unwrap()]);
    desk.expect(0, &["trail", "import", laptop.path()]);
    assert!(desk.chain(SESSION).exists(), "it is one of the own chains");
    desk.transcript(SESSION, 3);
    desk.expect(0, &[&SEAL[..], &["--finalize"]].concat());
    assert_eq!(desk.expect(0, &["trail", "verify", "--json"]).json()["level"], "valid");
}

#[test]
fn a_retired_key_signs_nothing_new_elsewhere_and_in_what_is_imported() {
    let author = sealed(1);
    author.expect(0, &["trail", "export", "--out", "before"]);
    // A thief has the key from before its rotation, and seals a session with it.
    let thief = desk();
    std::fs::create_dir_all(thief.trail()).unwrap();
    std::fs::copy(author.trail().join("key"), thief.trail().join("key")).unwrap();
    let stolen =
        thief.expect(0, &["key", "show", "--json"]).json()["fingerprint"].as_str().unwrap().to_owned();
    thief.transcript("stolen", 1);
    thief.expect(0, &["trail", "seal", "--tool", "claude-code", "--session", "stolen"]);
    thief.expect(0, &["trail", "export", "--out", "bundle", "stolen"]);
    author.expect(0, &["key", "rotate"]);

    let bundle = thief.home().join("bundle");
    let stolen_chain = thief.chain("stolen");
    for path in [&bundle, &stolen_chain, &thief.trail()] {
        let path = path.to_str().unwrap();
        let verdict = author.expect(1, &["trail", "verify", "--json", path]).json();
        assert!(codes(&verdict).contains(&"retired_key"), "{path}: {verdict}");
        let refused = author.expect(1, &["trail", "import", path]);
        assert!(refused.stdout.contains("was retired at record 0"), "{refused}");
    }
    // What the key signed while it was in use is the author's, wherever it is.
    let own = author.expect(0, &["trail", "verify", "--json", "before"]).json();
    assert_eq!(own["level"], "valid", "{own}");
    // One that is among the imported chains already.
    let imported = author.trail().join("imported").join(stolen).join("claude-code");
    std::fs::create_dir_all(&imported).unwrap();
    std::fs::copy(&stolen_chain, imported.join("stolen.db")).unwrap();
    let verdict = author.expect(1, &["trail", "verify", "--json"]).json();
    assert!(codes(&verdict).contains(&"retired_key"), "{verdict}");
}

/// Brings a home into the state of one that rotated before rotations were recorded.
fn rotate_without_record(desk: &TrailUser) {
    let files = ["meta.db", "meta.checkpoint.json"].map(|name| desk.trail().join(name));
    let before = files.clone().map(|path| std::fs::read(path).unwrap());
    desk.expect(0, &["key", "rotate"]);
    for (path, bytes) in files.iter().zip(before) {
        std::fs::write(path, bytes).unwrap();
    }
}

#[test]
fn migrate_records_a_rotation_that_was_never_recorded() {
    let desk = sealed(1);
    let old = desk.expect(0, &["key", "show", "--json"]).json()["public_key"].as_str().unwrap().to_owned();
    let thief = desk.home().join("stolen-key");
    std::fs::copy(desk.trail().join("key"), &thief).unwrap();
    rotate_without_record(&desk);
    let rotations = || desk.expect(0, &["key", "show", "--json"]).json()["rotations"].clone();
    assert_eq!(rotations(), json!([]));
    let would = desk.expect(0, &["trail", "migrate", "--dry-run"]);
    assert!(would.stdout.contains(&format!("that {} was replaced", &old[..16])), "{would}");
    let done = desk.expect(0, &["trail", "migrate", "--yes", "--json"]).json();
    assert_eq!(done["rotations"], json!([old]));
    assert_eq!(rotations()[0]["old_public_key"], json!(old));
    assert!(desk.expect(0, &["trail", "migrate"]).stdout.contains("nothing has to change"));
    let verdict = desk.expect(0, &["trail", "verify", "--json"]).json();
    assert_eq!(verdict["level"], "valid", "{verdict}");
    // From now on the old key signs nothing more, not even in a chain that only it had signed.
    let other = capsid_testkit::trail_user::TrailUser::new(env!("CARGO_BIN_EXE_capsid"));
    std::fs::create_dir_all(other.trail()).unwrap();
    std::fs::copy(&thief, other.trail().join("key")).unwrap();
    other.transcript("later", 1);
    other.expect(0, &["trail", "seal", "--tool", "claude-code", "--session", "later"]);
    std::fs::copy(other.chain("later"), desk.chain("later")).unwrap();
    let verdict = desk.expect(1, &["trail", "verify", "--json"]).json();
    assert!(codes(&verdict).contains(&"retired_key"), "{verdict}");
}

#[test]
fn a_thief_of_a_key_that_was_replaced_without_a_record_cannot_seal_the_rotation() {
    let desk = sealed(1);
    let old = capsid_seal::keys::file::load(&desk.trail().join("key")).unwrap().unwrap();
    rotate_without_record(&desk);
    desk.transcript("later", 1);
    desk.expect(0, &["trail", "seal", "--tool", "claude-code", "--session", "later", "--finalize"]);
    assert_eq!(desk.expect(0, &["trail", "verify", "--json"]).json()["level"], "valid");
    let action = ActionRecord {
        id: "forged".into(),
        kind: "system".into(),
        domain: "meta".into(),
        context: fields! { "session_id": "meta" },
        outcome: fields! { "result": fields! {
            "kind": "key_rotation",
            "old_public_key": old.public().hex(),
            "new_public_key": SigningKey::from_seed(&[9; 32]).public().hex(),
        } },
        ..ActionRecord::default()
    };
    let thief = Sealer::new(old);
    let item = PendingRecord { key: "forged".to_owned(), open: false, weight: 1, item: () };
    let seal = |(): &(), _, link: &_| thief.seal(&action, link, "2026-06-01T12:00:00+00:00");
    ChainWriter::open(&desk.trail().join("meta.db")).unwrap().append(None, [item], seal).unwrap();
    let verdict = desk.expect(1, &["trail", "verify", "--json"]).json();
    assert!(codes(&verdict).contains(&"meta_invalid"), "{verdict}");
}

#[test]
fn migrate_writes_the_marks_of_chains_that_were_finalised_before() {
    let desk = sealed(1);
    let database = || rusqlite::Connection::open(desk.chain(SESSION)).unwrap();
    database().execute_batch("DROP TABLE capsid_finalised").unwrap();
    let would = desk.expect(0, &["trail", "migrate", "--dry-run"]);
    assert!(would.stdout.contains("mark 1 finalised chain(s)"), "{would}");
    let done = desk.expect(0, &["trail", "migrate", "--yes", "--json"]).json();
    assert_eq!(done["marks"], 1);
    let marks: i64 =
        database().query_row("SELECT count(*) FROM capsid_finalised", [], |row| row.get(0)).unwrap();
    assert_eq!(marks, 1);
    assert!(desk.expect(0, &["trail", "migrate"]).stdout.contains("nothing has to change"));
    // The mark alone now says that the meta-chain is gone.
    for name in ["meta.db", "meta.checkpoint.json"] {
        std::fs::remove_file(desk.trail().join(name)).unwrap();
    }
    let verdict = desk.expect(1, &["trail", "verify", "--json"]).json();
    assert!(codes(&verdict).contains(&"meta_missing"), "{verdict}");
}

#[test]
fn migrate_leaves_chains_of_a_shared_database_where_they_are() {
    let desk = desk();
    let shared = desk.home().join("all.db");
    let run = |status: i32, args: &[&str]| {
        let mut command = desk.program.command(desk.home(), args);
        let ran = ProgramOutput::from_output(command.env("AGENT_CAPSULE_DB", &shared).output().unwrap());
        assert_status(status, &ran);
        ran
    };
    // A stranger's session is in the database, and then this user has it.
    for session in ["theirs", "ours"] {
        desk.transcript(session, 1);
        run(0, &["trail", "seal", "--tool", "claude-code", "--session", session]);
        if session == "theirs" {
            std::fs::remove_dir_all(desk.trail()).unwrap();
        }
    }
    let before = std::fs::read(&shared).unwrap();
    let plan = run(0, &["trail", "migrate", "--yes", "--json"]).json();
    assert_eq!((&plan["moved"], &plan["migrated"]), (&json!([]), &json!(false)), "{plan}");
    assert_eq!(plan["stuck"][0]["chain"], "claude-code/theirs", "{plan}");
    assert_eq!(plan["stuck"][0]["reason"], "it is in a database of many sessions");
    assert_eq!(plan["stuck"].as_array().unwrap().len(), 1, "our own chain needs nothing");
    assert!(std::fs::read(&shared).unwrap() == before && !desk.trail().join("imported").exists());
}
