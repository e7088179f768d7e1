//! The files of `~/.evomap`: who may read them, whose secret goes where, and what happens to bad ones.
#![cfg(unix)]

use crate::common::snapshot;
use capsid_client::Identity;
use capsid_client::identity::KnownHub;
use capsid_model::{Code, Problem};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

const ONE: &str = "https://one.example";
const TWO: &str = "https://two.example";

fn open(home: &Path, env: &[(&str, &str)]) -> Result<Identity, Problem> {
    let env = |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    Identity::open(home, &env)
}

fn secret(digit: char) -> String {
    digit.to_string().repeat(64)
}

fn with_secret(digit: char, version: u64) -> KnownHub {
    KnownHub { secret: Some(secret(digit)), secret_version: Some(version), ..KnownHub::default() }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A file as another tool would write it.
fn put(home: &Path, name: &str, content: &[u8], mode: u32) {
    let folder = home.join(".evomap");
    if !folder.exists() {
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    std::fs::write(folder.join(name), content).unwrap();
    std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn an_identity_is_made_once_and_is_its_owners_alone() {
    let home = tempfile::tempdir().unwrap();
    let node = open(home.path(), &[]).unwrap();
    assert!(node.node_id.starts_with("node_") && node.node_id.len() == 21, "{}", node.node_id);
    let device = node.device_id().unwrap();
    assert!((16..=64).contains(&device.len()) && device.bytes().all(|b| b.is_ascii_hexdigit()));
    node.save_hub(ONE, &with_secret('a', 1)).unwrap();
    let again = open(home.path(), &[]).unwrap();
    assert_eq!((&again.node_id, again.device_id().unwrap()), (&node.node_id, device));
    assert_eq!(again.hub(ONE).unwrap(), with_secret('a', 1));
    assert_eq!(again.hub(TWO).unwrap(), KnownHub::default());
    let folder = home.path().join(".evomap");
    assert_eq!(mode(&folder), 0o700);
    for name in ["node_id", "node_secret", "device_id", "hubs.json"] {
        assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
    }
    assert_eq!(std::fs::read_to_string(folder.join("node_secret")).unwrap(), secret('a'));
    assert!(!format!("{node:?}{:?}", again.hub(ONE).unwrap()).contains("aaaa"));
}

#[test]
fn the_environment_wins_and_is_checked() {
    let home = tempfile::tempdir().unwrap();
    let own = open(home.path(), &[]).unwrap();
    own.save_hub(ONE, &with_secret('a', 3)).unwrap();
    let device = "0123456789abcdef";
    let env = [
        ("A2A_NODE_ID", "my-agent-001"),
        ("A2A_NODE_SECRET", &*secret('e')),
        ("A2A_HUB_URL", ONE),
        ("EVOMAP_DEVICE_ID", device),
    ];
    let given = open(home.path(), &env).unwrap();
    assert_eq!(given.node_id, "my-agent-001");
    assert_eq!(given.device_id().unwrap(), device);
    assert_eq!(given.hub(ONE).unwrap().secret, Some(secret('e')));
    let elsewhere = given.hub("https://named-by-a-repository.example").unwrap_err();
    assert_eq!(elsewhere.code, Code::IdentityInvalid, "what the environment gives is for the hub it names");
    let before = snapshot(home.path());
    for (name, value) in [
        ("A2A_NODE_ID", "hub_1"),
        ("A2A_NODE_ID", "a b"),
        ("A2A_NODE_SECRET", "geheim"),
        ("A2A_NODE_SECRET", "aaaa\r\nx: y"),
        ("EVOMAP_DEVICE_ID", "ABCDEF0123456789"),
    ] {
        let problem = open(home.path(), &[(name, value)]).unwrap_err();
        assert_eq!(problem.code, Code::IdentityInvalid, "{name}");
        assert!(problem.message.contains(name) && !problem.message.contains("geheim"), "{problem:?}");
    }
    assert_eq!(snapshot(home.path()), before);
}

#[test]
fn two_nodes_of_one_user_keep_their_secrets_apart() {
    let home = tempfile::tempdir().unwrap();
    let first = open(home.path(), &[]).unwrap();
    let second = open(home.path(), &[("A2A_NODE_ID", "node_second")]).unwrap();
    first.save_hub(ONE, &with_secret('a', 1)).unwrap();
    second.save_hub(ONE, &with_secret('b', 1)).unwrap();
    assert_eq!(first.hub(ONE).unwrap().secret, Some(secret('a')));
    assert_eq!(second.hub(ONE).unwrap().secret, Some(secret('b')));
    let shared = std::fs::read_to_string(home.path().join(".evomap/node_secret")).unwrap();
    assert_eq!(shared, secret('a'), "other tools have the first name");
}

#[test]
fn a_secret_of_another_tool_goes_to_the_hub_it_is_for_and_is_not_lost() {
    let home = tempfile::tempdir().unwrap();
    put(home.path(), "node_id", b"node_evolver01\n", 0o600);
    put(home.path(), "node_secret", format!("{}\n", secret('f')).as_bytes(), 0o600);
    let nowhere = open(home.path(), &[]).unwrap();
    assert_eq!(nowhere.hub(ONE).unwrap().secret, None, "nobody said whose it is");
    let env = [("A2A_HUB_URL", "https://one.example/")];
    let named = open(home.path(), &env).unwrap();
    assert_eq!(named.node_id, "node_evolver01");
    assert_eq!(named.hub(ONE).unwrap().secret, Some(secret('f')));
    assert_eq!(named.hub(TWO).unwrap().secret, None);
    let other = open(home.path(), &[env[0], ("A2A_NODE_ID", "node_other")]).unwrap();
    assert_eq!(other.hub(ONE).unwrap().secret, None, "it is another node's");
    // Another hub does not overwrite what that tool needs.
    for node in [&named, &nowhere, &other] {
        node.save_hub(TWO, &with_secret('2', 1)).unwrap();
    }
    let path = home.path().join(".evomap/node_secret");
    assert_eq!(std::fs::read_to_string(&path).unwrap().trim(), secret('f'));
    assert_eq!(named.hub(ONE).unwrap().secret, Some(secret('f')));
    // Its own hub gives a new one, which that tool then finds.
    named.save_hub(ONE, &with_secret('1', 2)).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), secret('1'));
    assert_eq!(named.hub(TWO).unwrap().secret, Some(secret('2')));
}

#[test]
fn what_one_hub_gave_is_never_another_hubs() {
    let home = tempfile::tempdir().unwrap();
    open(home.path(), &[]).unwrap().save_hub(ONE, &with_secret('a', 1)).unwrap();
    // The file holds the secret of the first hub, and the environment names the second.
    let named = open(home.path(), &[("EVOMAP_HUB_URL", TWO)]).unwrap();
    assert_eq!(named.hub(TWO).unwrap().secret, None);
    named.forget(ONE).unwrap();
    assert_eq!(named.hub(TWO).unwrap().secret, None, "a forgotten hub's secret is nobody's");
    assert!(!home.path().join(".evomap/node_secret").exists());
}

#[test]
fn an_older_secret_does_not_replace_a_newer_one() {
    let home = tempfile::tempdir().unwrap();
    let node = open(home.path(), &[]).unwrap();
    node.save_hub(ONE, &with_secret('b', 2)).unwrap();
    node.save_hub(ONE, &with_secret('a', 1)).unwrap();
    assert_eq!(node.hub(ONE).unwrap(), with_secret('b', 2));
    node.save_hub(ONE, &KnownHub { hub_node_id: Some("hub_1".to_owned()), ..KnownHub::default() }).unwrap();
    assert_eq!(node.hub(ONE).unwrap().secret, Some(secret('b')), "what is not said stays");
}

#[test]
fn processes_do_not_lose_each_others_writes() {
    let home = tempfile::tempdir().unwrap();
    let names: Vec<String> = std::thread::scope(|scope| {
        let one = |n: usize| {
            let home = home.path();
            scope.spawn(move || {
                let node = open(home, &[]).unwrap();
                for hub in 0..5 {
                    node.save_hub(&format!("https://{n}-{hub}.example"), &with_secret('c', 1)).unwrap();
                }
                node.node_id
            })
        };
        let threads: Vec<_> = (0..8).map(one).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(names.iter().all(|name| *name == names[0]), "{names:?}");
    let node = open(home.path(), &[]).unwrap();
    for n in 0..8 {
        for hub in 0..5 {
            assert_eq!(node.hub(&format!("https://{n}-{hub}.example")).unwrap().secret, Some(secret('c')));
        }
    }
}

/// Everything that a node does with its files.
fn use_all(home: &Path) -> Result<(), Problem> {
    let node = open(home, &[("A2A_HUB_URL", ONE)])?;
    node.device_id()?;
    node.hub(ONE)?;
    node.save_hub(ONE, &with_secret('a', 1))
}

#[track_caller]
fn refuses(home: &Path, name: &str) {
    let path = home.join(".evomap").join(name);
    let before = std::fs::symlink_metadata(&path).unwrap();
    let content = before.is_file().then(|| std::fs::read(&path).unwrap());
    let problem = use_all(home).unwrap_err();
    assert_eq!(problem.code, Code::IdentityInvalid, "{problem:?}");
    assert!(problem.message.contains(name) && problem.fix.is_some(), "{problem:?}");
    let after = std::fs::symlink_metadata(&path).unwrap();
    assert_eq!(after.file_type(), before.file_type());
    assert_eq!(content, after.is_file().then(|| std::fs::read(&path).unwrap()));
}

const FILES: [&str; 4] = ["node_id", "device_id", "node_secret", "hubs.json"];

#[test]
fn garbage_is_told_and_left() {
    for name in FILES {
        let large = vec![b'a'; 2 << 20];
        for garbage in [&b""[..], b"\xff\xfe\x00", b"{\"no\": ", b"two words", b"[]", &large] {
            let home = tempfile::tempdir().unwrap();
            put(home.path(), name, garbage, 0o600);
            refuses(home.path(), name);
        }
    }
}

#[test]
fn what_others_can_read_or_change_is_told_and_left() {
    let good =
        [b"node_1234".to_vec(), b"0123456789abcdef".to_vec(), secret('a').into_bytes(), b"{}".to_vec()];
    for (name, content) in FILES.iter().zip(&good) {
        let home = tempfile::tempdir().unwrap();
        put(home.path(), name, content, 0o666);
        refuses(home.path(), name);
        let home = tempfile::tempdir().unwrap();
        put(home.path(), name, content, 0o644);
        let is_secret = ["node_secret", "hubs.json"].contains(name);
        assert_eq!(use_all(home.path()).is_err(), is_secret, "{name}");
    }
    let home = tempfile::tempdir().unwrap();
    put(home.path(), "node_id", b"node_1234", 0o600);
    let folder = home.path().join(".evomap");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(use_all(home.path()).unwrap_err().code, Code::IdentityInvalid);
}

#[test]
fn devices_links_pipes_and_folders_are_told_and_left() {
    for name in FILES {
        let home = tempfile::tempdir().unwrap();
        put(home.path(), "x", b"node_1234", 0o600);
        let path = home.path().join(".evomap").join(name);
        for target in ["/dev/zero", "/dev/null", "x", "missing"] {
            symlink(target, &path).unwrap();
            refuses(home.path(), name);
            std::fs::remove_file(&path).unwrap();
        }
        std::fs::create_dir(&path).unwrap();
        refuses(home.path(), name);
    }
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join(".evomap"), "a file").unwrap();
    assert_eq!(use_all(home.path()).unwrap_err().code, Code::IdentityInvalid);
}
