//! A trail's home: chains of two tools and of a repository, the meta-chain, keys old and new.

use super::{User, read_json, tree, versions};
use crate::common::program;
use capsid_testkit::program::assert_status;
use std::path::Path;

const CLAUDE_SESSION: &str = "5f0c1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01";
const CODEX_SESSION: &str = "019e2f00-1111-7222-8333-444455556666";
const TRAIL: &str = ".local/share/capsid/trail";

#[test]
fn chains_verify_and_are_listed_as_before() {
    for version in versions() {
        let user = User::restore(&version, "ada");
        let before = tree::files(&user.home().join(TRAIL));
        user.sees(&version, &["trail"]);
        user.sees(&version, &["key"]);
        user.expect(0, &["key", "check"]);
        assert!(before == tree::files(&user.home().join(TRAIL)), "looking changed a file");
    }
}

#[test]
fn sealed_sessions_are_continued_with_the_same_key() {
    for version in versions() {
        let user = User::restore(&version, "ada");
        let path = user.home().join("codex.jsonl");
        let said = r#"{"timestamp": "2026-06-01T10:05:00.000Z", "type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "And they still pass."}]}}"#;
        let transcript = std::fs::read_to_string(&path).unwrap();
        let seal = |lines: &str| {
            std::fs::write(&path, format!("{transcript}{lines}")).unwrap();
            let at = ["--transcript", path.to_str().unwrap(), "--session", CODEX_SESSION];
            user.expect(
                0,
                &[&["trail", "seal", "--tool", "codex"][..], &at, &["--finalize", "--json"]].concat(),
            )
            .stdout
        };
        let records = |user: &User| {
            let shown =
                user.expect(0, &["trail", "inspect", &format!("codex/{CODEX_SESSION}"), "--json"]).json();
            shown["records"].as_array().unwrap().len()
        };
        let before = records(&user);
        seal("");
        assert_eq!(records(&user), before, "what is sealed is not sealed again");
        seal(&format!("{said}\n"));
        assert_eq!(records(&user), before + 1);
        user.expect(0, &["trail", "verify", "--signatures"]);
        let chain = user.home().join(TRAIL).join(format!("chains/codex/{CODEX_SESSION}.db"));
        let verified =
            user.expect(0, &["trail", "verify", "--signatures", "--json", chain.to_str().unwrap()]).json();
        let signers = verified["chains"][0]["signers"].as_array().unwrap();
        assert_eq!(signers.len(), 1, "{verified:#}");
        assert_eq!(signers[0]["standing"], "own", "{verified:#}");
        let meta = user.expect(0, &["trail", "verify-meta"]);
        assert!(meta.stdout.contains(&format!("codex/{CODEX_SESSION}: intact")), "{meta}");
    }
}

#[test]
fn a_redacted_value_is_still_proved() {
    for version in versions() {
        let user = User::restore(&version, "ada");
        let home = user.home();
        let proof = home.join("proof.json");
        let check = |chain: &str| {
            user.expect(0, &["trail", "disclose", chain, "--seq", "0", "--check", proof.to_str().unwrap()])
        };
        check(CLAUDE_SESSION);
        check(home.join(format!("bundle/claude-code-{CLAUDE_SESSION}.json")).to_str().unwrap());
        // A retired key made the commitment, and opens it again.
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let ask = ["trail", "disclose", CLAUDE_SESSION, "--seq", "0", "--value", "-", "--json"];
        let disclosed = user.program.run_with_input_in(&user.repo, &ask, &token);
        assert_status(0, &disclosed);
        assert_eq!(disclosed.json(), read_json(&proof));
        assert!(tree::files(&home.join(TRAIL)).iter().all(|(_, bytes)| !contains(bytes, token.as_bytes())));
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn a_bundle_is_verified_and_imported_by_somebody_else() {
    for version in versions() {
        let (ada, reader) = (User::restore(&version, "ada"), program());
        let bundle = ada.home().join("bundle");
        let run = |words: &[&str]| {
            let words = [&["trail"], words, &[bundle.to_str().unwrap()]].concat();
            let ran = reader.command(Path::new("/"), &words).output().unwrap();
            assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
        };
        run(&["verify", "--signatures"]);
        run(&["import"]);
        let imported = std::fs::read_dir(reader.home().join(TRAIL).join("imported")).unwrap();
        let chain = format!("claude-code/{CLAUDE_SESSION}.db");
        assert!(imported.map(|signer| signer.unwrap().path().join(&chain)).any(|chain| chain.exists()));
    }
}
