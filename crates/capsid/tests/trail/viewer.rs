//! The local viewer of a home comes to the verdict of `capsid trail verify`.

use super::signing_service::attacks::cut;
use super::signing_service::desk::{SigningDesk, Who};
use super::viewer_page::{ViewerPage, essence};
use super::*;
use capsid_model::Value;
use capsid_testkit::served_program::ServedProgram;
use capsid_testkit::wait;
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;

const OTHER: &str = "6a1d2caf-8b63-4d2e-8e4f-3c8b2d5f9a12";

fn explore(user: &TrailUser) -> ServedProgram {
    ServedProgram::start(user.program.command(user.home(), &["trail", "explore", "--port", "0"]), "/explorer")
}

fn read(user: &TrailUser) -> ViewerPage {
    ViewerPage::read(&explore(user))
}

fn verify(user: &TrailUser, chain: &[&str]) -> Value {
    user.run(&[&["trail", "verify", "--json"], chain].concat()).json()
}

/// Both say the same of the home. Returns what.
#[track_caller]
fn assert_agreed(user: &TrailUser, what: &str) -> (String, Vec<String>) {
    let (page, command) = (read(user).verdict(None), verify(user, &[]));
    assert_eq!(essence(&page), essence(&command), "{what}: {page:#} {command:#}");
    essence(&page)
}

fn seal(user: &TrailUser, session: &str, turns: usize) {
    user.transcript(session, turns);
    user.expect(0, &["trail", "seal", "--tool", "claude-code", "--session", session, "--finalize"]);
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn the_home_viewer_has_the_keys_of_verify_after_a_rotation() {
    let user = sealed(1);
    let old = user.expect(0, &["key", "show", "--json"]).json()["public_key"].clone();
    std::fs::copy(user.trail().join("key"), user.home().join("stolen")).unwrap();
    user.expect(0, &["key", "rotate"]);
    seal(&user, SESSION, 2);
    let viewer = explore(&user);
    let keys = viewer.get("/local/trail/keys.json").json();
    let origin = |hex: &Value| {
        let listed = keys["keys"].as_array().unwrap().iter().find(|one| one[0] == *hex).unwrap();
        (listed[1].as_str().unwrap().to_owned(), listed[2].as_u64())
    };
    assert_eq!(origin(&old), ("retired".to_owned(), Some(0)));
    assert_eq!(origin(&keys["own"]), ("own".to_owned(), Some(1)));
    assert_eq!(assert_agreed(&user, "rotated").0, "valid");
    let chain = format!("claude-code-{SESSION}");
    assert_eq!(read(&user).verdict(Some(&chain))["level"], "valid");

    // Whoever has the old key cannot go on with it: the limit is the same.
    let new = std::fs::read(user.trail().join("key")).unwrap();
    std::fs::copy(user.home().join("stolen"), user.trail().join("key")).unwrap();
    let ring = std::fs::read(user.trail().join("keyring.json")).unwrap();
    std::fs::remove_file(user.trail().join("keyring.json")).unwrap();
    user.transcript(OTHER, 1);
    user.run(&["trail", "seal", "--tool", "claude-code", "--session", OTHER]);
    std::fs::write(user.trail().join("key"), new).unwrap();
    std::fs::write(user.trail().join("keyring.json"), ring).unwrap();
    let (level, found) = assert_agreed(&user, "a stolen key");
    assert_eq!(level, "invalid", "{found:?}");
    assert!(found.iter().any(|one| one.starts_with("retired_key invalid")), "{found:?}");
}

#[test]
fn the_home_viewer_gives_the_level_of_verify_for_whatever_was_lost() {
    let user = sealed(2);
    seal(&user, OTHER, 1);
    user.transcript("open-session", 1);
    user.expect(0, &["trail", "seal", "--tool", "claude-code", "--session", "open-session"]);
    assert_eq!(assert_agreed(&user, "nothing").0, "valid");
    let saved = user.home().join("saved");
    copy(&user.trail(), &saved);
    let sql = |file: &Path, text: &str| {
        Connection::open(file).unwrap().execute(text, []).unwrap();
    };
    type Loss<'a> = (&'a str, &'a str, Box<dyn Fn() + 'a>);
    let losses: Vec<Loss<'_>> = vec![
        (
            "the end of an open chain",
            "truncated",
            Box::new(|| {
                sql(&user.chain("open-session"), "DELETE FROM capsules WHERE sequence >= 1");
            }),
        ),
        (
            "the end of an open chain and its keys",
            "truncated",
            Box::new(|| {
                sql(&user.chain("open-session"), "DELETE FROM capsules WHERE sequence >= 1");
                sql(&user.chain("open-session"), "DELETE FROM capsid_keys WHERE sequence >= 1");
            }),
        ),
        ("the end of a finalised chain", "truncated", Box::new(|| cut(&user.chain(SESSION), 2))),
        ("a chain", "conversation_missing", Box::new(|| std::fs::remove_file(user.chain(OTHER)).unwrap())),
        ("all records of a chain", "truncated", Box::new(|| cut(&user.chain(OTHER), 0))),
        (
            "the meta-chain",
            "meta_missing",
            Box::new(|| std::fs::remove_file(user.trail().join("meta.db")).unwrap()),
        ),
        (
            "the end of the meta-chain",
            "meta_truncated",
            Box::new(|| {
                sql(&user.trail().join("meta.db"), "DELETE FROM capsules WHERE sequence >= 1");
            }),
        ),
        (
            "a file that was replaced",
            "unreadable",
            Box::new(|| {
                std::fs::write(user.chain(OTHER), "no database at all").unwrap();
            }),
        ),
        (
            "chains that were swapped",
            "contradiction",
            Box::new(|| {
                let spare = user.home().join("spare.db");
                std::fs::rename(user.chain(OTHER), &spare).unwrap();
                std::fs::rename(user.chain(SESSION), user.chain(OTHER)).unwrap();
                std::fs::rename(spare, user.chain(SESSION)).unwrap();
            }),
        ),
        (
            "a text that was changed",
            "hash",
            Box::new(|| {
                sql(
                    &user.chain(SESSION),
                    "UPDATE capsules SET canonical = replace(canonical, 'a', 'b') WHERE sequence = 1",
                );
            }),
        ),
    ];
    for (what, code, lose) in &losses {
        lose();
        let (level, found) = assert_agreed(&user, what);
        assert_ne!(level, "valid", "{what}");
        assert!(found.iter().any(|one| one.starts_with(code)), "{what}: {found:?}");
        std::fs::remove_dir_all(user.trail()).unwrap();
        copy(&saved, &user.trail());
    }
    // One chain by itself is judged with what the home knows of it.
    cut(&user.chain(SESSION), 2);
    let name = format!("claude-code/{SESSION}");
    let page = read(&user).verdict(Some(&format!("claude-code-{SESSION}")));
    assert_eq!(essence(&page), essence(&verify(&user, &[&name])));
    assert_eq!(page["level"], "incomplete");
    let page = read(&user).verdict(Some("claude-code-open-session"));
    assert_eq!(essence(&page), essence(&verify(&user, &["claude-code/open-session"])));
    assert_eq!(page["level"], "valid", "{page:#}");
}

#[test]
fn the_home_viewer_judges_imported_chains_as_verify_does() {
    let author = sealed(1);
    author.expect(0, &["trail", "export", "--out", "bundle"]);
    let key = author.expect(0, &["key", "show", "--json"]).json()["public_key"].as_str().unwrap().to_owned();
    let bundle = author.home().join("bundle");
    let user = sealed(1);
    user.expect(0, &["trail", "import", bundle.to_str().unwrap()]);
    let (level, found) = assert_agreed(&user, "imported");
    assert_eq!(level, "unverified", "{found:?}");
    user.expect(0, &["key", "pin", &key]);
    assert_eq!(assert_agreed(&user, "pinned").0, "valid");
    let imported = std::fs::read_dir(user.trail().join("imported")).unwrap().flatten().next().unwrap().path();
    cut(&imported.join(format!("claude-code/{SESSION}.db")), 1);
    let (level, found) = assert_agreed(&user, "an imported chain that was cut");
    assert_eq!(level, "incomplete", "{found:?}");
}

#[test]
fn the_home_viewer_hears_the_signing_service_and_sees_what_waits() {
    let Some(mut desk) = SigningDesk::open() else { return };
    desk.seal(SESSION, 1);
    desk.install();
    desk.serve();
    desk.expect(0, Who::User, &["signer", "adopt"]);
    desk.seal(SESSION, 2);
    let page = |desk: &SigningDesk| {
        let viewer = ServedProgram::start(desk.command(Who::Root, &["explore", "--port", "0"]), "/explorer");
        ViewerPage::read(&viewer).verdict(None)
    };
    let agreed = |desk: &SigningDesk, what: &str| {
        let (page, (_, _, command)) = (page(desk), desk.verify());
        assert_eq!(essence(&page), essence(&command), "{what}: {page:#} {command:#}");
        essence(&page)
    };
    assert_eq!(agreed(&desk, "adopted").0, "valid", "the keys of before count for what was handed over");
    let copy = desk.copy_home();
    cut(&desk.chain(SESSION), 4);
    std::fs::remove_file(desk.chain(SESSION).with_extension("checkpoint.json")).unwrap();
    assert_eq!(agreed(&desk, "cut, with its traces").0, "incomplete");
    desk.put_back(&copy);
    // The service writes its heads file a moment after it signed.
    let heads = desk.journal().with_file_name("heads");
    let chain = format!("{SESSION} 6 ");
    let has_all = |text: String| text.contains(&chain) && text.contains("chain meta meta 2 ");
    wait::until("the heads file has the chain", Duration::from_secs(10), || {
        std::fs::read_to_string(&heads).is_ok_and(has_all)
    });
    desk.stop();
    desk.hook(SESSION, 3);
    let (level, found) = agreed(&desk, "the service is down");
    assert_eq!(level, "unverified", "{found:?}");
    assert!(found.iter().any(|one| one.starts_with("pending")), "{found:?}");
    std::fs::remove_file(&heads).unwrap();
    let (level, found) = agreed(&desk, "no heads");
    assert_eq!(level, "incomplete", "{found:?}");
    assert!(found.iter().any(|one| one.starts_with("signer_unreachable")), "{found:?}");
}
