//! The proxy of the real client lists the tasks that the hub tells it of: each comes by the event stream and by the
//! mailbox, and the two must not be taken for one message.

use super::evolver::{Evolver, wait_for};
use super::hub::{self, Hub};
use super::loopback;
use crate::common::program;
use serde_json::json;

const NAME: &str = "proxy_tasks::the_proxy_of_the_real_client_lists_a_task";

#[test]
fn the_proxy_of_the_real_client_lists_a_task() {
    match loopback::inside() {
        Some(_) => story(),
        None => loopback::run_inside(NAME, ""),
    }
}

fn story() {
    let program = program();
    let folder = tempfile::tempdir().unwrap();
    let hub = Hub::start(&program, folder.path(), &["--data", "data"]);
    let worker = Evolver::new("worker", hub::ADDRESS);
    worker.register();
    let serving = worker.serve();
    wait_for("the event stream", || serving.log().contains("[SSE] Event stream connected").then_some(()));
    serving.subscribe_to_tasks();
    wait_for("the subscription", || hub.answered("POST", "/a2a/mailbox/outbound", 200).then_some(()));
    let login = json!({"email": "ann@example.org", "password": "correct horse"});
    let session = hub.post("/auth/register", None, &login)["token"].as_str().unwrap().to_owned();
    let wanted =
        json!({"title": "Orders time out and are lost", "signals": ["timeout_error"], "amount": 37.125});
    let task = hub.post("/bounty/create", Some(&session), &wanted)["task_id"].clone();
    let listed = wait_for("the task in the list of the proxy", || serving.tasks().pop());
    assert_eq!(
        (&listed["type"], &listed["payload"]["task_id"]),
        (&json!("task_available"), &task),
        "{listed}"
    );
    drop(serving);
    hub.stop();
}
