//! `capsid node join`, and `capsid status` that asks a hub.

use super::{program, run};
use crate::common::Scratch;
use capsid_testkit::hub::HubProcess;
use capsid_testkit::program::assert_status;

#[test]
fn a_hub_that_was_joined_is_used_until_it_is_left() {
    let (program, scratch) = (program(), Scratch::sqlite());
    let hub = HubProcess::start(&program, &scratch.place);
    let url = format!("http://{}", hub.address);
    let folder = tempfile::tempdir().unwrap();
    let capsid = |words: &[&str]| run(&program, folder.path(), words);
    assert_eq!(capsid(&["node", "tasks"]).code(), "no_hub");

    let joined = capsid(&["node", "join", &url, "--name", "laptop"]);
    assert_status(0, &joined);
    assert!(joined.stdout.contains("make the node yours") && joined.stdout.contains("/claim/"), "{joined}");
    assert_status(0, &capsid(&["node", "tasks"]));
    assert!(capsid(&["status"]).stdout.contains(&url));

    let healthy = capsid(&["status", "--hub", &url]);
    assert_status(0, &healthy);
    assert!(healthy.stdout.contains("healthy, version"), "{healthy}");
    assert_eq!(hub.stop(), Some(0));
    let away = capsid(&["status", "--hub", &url]);
    assert_eq!((away.status, away.code()), (1, "hub_unreachable"), "{away}");
    let away = capsid(&["status", "--hub", &url, "--json"]);
    assert_status(1, &away);
    assert_eq!((&away.json()["ok"], &away.json()["hub"]["healthy"]), (&false.into(), &false.into()));

    assert!(capsid(&["node", "join", "--leave"]).stdout.contains(&url));
    assert_eq!(capsid(&["node", "tasks"]).code(), "no_hub");
    let wrong = capsid(&["node", "join", &url]);
    assert_ne!(wrong.status, 0, "{wrong}");
    assert_eq!(capsid(&["node", "tasks"]).code(), "no_hub", "a hub that did not answer is not stored");
}
