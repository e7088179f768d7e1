//! What users and agents do, from the question to the payment.

use super::client::{Agent, User, expect, send};
use super::receiver::Receiver;
use super::{on_postgres, on_sqlite};
use crate::common::{Scratch, program};
use capsid_model::{Value, json};
use capsid_testkit::hub::{HubProcess, TestHubLocation};
use capsid_testkit::program::assert_status;

#[test]
fn an_agent_earns_a_bounty_on_sqlite() {
    earn(&on_sqlite());
}

#[test]
fn an_agent_earns_a_bounty_on_postgresql() {
    earn(&on_postgres());
}

#[test]
fn a_swarm_shares_a_bounty_on_sqlite() {
    share(&on_sqlite());
}

#[test]
fn a_swarm_shares_a_bounty_on_postgresql() {
    share(&on_postgres());
}

/// Offers a bounty and gives its id and that of its task.
fn offer(hub: &HubProcess, user: &User, amount: f64) -> (String, String) {
    let body = json!({"title": "Requests time out under load", "signals": "TimeoutError,ECONNREFUSED",
        "amount": amount, "body": "They did not yesterday."});
    let made = expect(201, user.post(hub, "/bounty/create", &body));
    let text = |key: &str| made[key].as_str().unwrap().to_owned();
    (text("bounty_id"), text("task_id"))
}

/// What an account holds.
fn holds(hub: &HubProcess, user: &User) -> f64 {
    user.get(hub, "/account/me")["credit_balance"].as_f64().unwrap()
}

fn end(hub: HubProcess, place: &TestHubLocation) {
    assert_eq!(hub.stop(), Some(0));
    assert_status(0, &place.run(&program(), &["fsck"]));
}

fn earn(scratch: &Scratch) {
    let hub = HubProcess::start(&program(), &scratch.place);
    let receiver = Receiver::start();
    let user = User::register(&hub, "ann");
    let agent = Agent::join(&hub, "node_e5f6a7b8c9d0e1f2", Some(&receiver.url));
    let signing = agent.hello["payload"]["webhook_secret"].as_str().unwrap().to_owned();
    assert_eq!((holds(&hub, &user), agent.credits(&hub)), (200.0, 500.0));

    // Nodes are told of what pays well where they say that they take such work.
    let worker = json!({"sender_id": agent.node_id, "enabled": true, "domains": ["timeouterror"]});
    expect(200, agent.post(&hub, "/a2a/worker/register", &worker));
    let (bounty, task) = offer(&hub, &user, 12.345);
    assert_eq!(holds(&hub, &user), 187.655);
    receiver.wait_for("high_value_task", &task).assert_signed(&signing);
    let seen = agent.tasks(&hub);
    let seen = seen.iter().find(|seen| seen["task_id"] == task.as_str()).unwrap();
    assert_eq!((&seen["status"], &seen["bounty_id"]), (&json!("open"), &json!(bounty)));

    expect(200, agent.claim(&hub, &task));
    let call = receiver.wait_for("task_assigned", &task);
    call.assert_signed(&signing);
    assert_eq!(call.body["signals"], "TimeoutError,ECONNREFUSED");
    assert_eq!((&call.body["title"], &call.body["bounty_id"]), (&seen["title"], &json!(bounty)));

    let capsule = agent.publish(&hub, 1);
    let completed = expect(200, agent.complete(&hub, &task, &capsule));
    assert_eq!((&completed["status"], &completed["bounty_matched"]), (&json!("completed"), &json!(true)));
    assert_eq!(agent.credits(&hub), 500.0);
    let matched = expect(200, send(&hub, "", "GET", &format!("/bounty/{bounty}"), None));
    assert_eq!((&matched["status"], &matched["matched_asset_id"]), (&json!("matched"), &json!(capsule)));

    expect(200, user.post(&hub, &format!("/bounty/{bounty}/accept"), &json!({})));
    assert_eq!((holds(&hub, &user), agent.credits(&hub)), (187.655, 512.345));
    end(hub, &scratch.place);
}

fn share(scratch: &Scratch) {
    let hub = HubProcess::start(&program(), &scratch.place);
    let user = User::register(&hub, "ann");
    let proposer = Agent::join(&hub, "node_proposer", None);
    let receivers: Vec<Receiver> = (0..3).map(|_| Receiver::start()).collect();
    let solvers: Vec<Agent> = receivers
        .iter()
        .enumerate()
        .map(|(n, receiver)| Agent::join(&hub, &format!("node_solver_{n}"), Some(&receiver.url)))
        .collect();
    let merging = Receiver::start();
    let aggregator = Agent::join(&hub, "node_aggregator", Some(&merging.url));
    let raised = ["admin", "set-reputation", "node_aggregator", "75", "--reason", "known to us"];
    assert_status(0, &scratch.place.run(&program(), &raised));

    let (bounty, task) = offer(&hub, &user, 100.001);
    expect(200, proposer.claim(&hub, &task));
    let weights = [0.35, 0.30, 0.20];
    let parts: Vec<Value> = weights
        .iter()
        .map(|weight| json!({"title": format!("The part of {weight}"), "weight": weight}))
        .collect();
    let body = json!({"task_id": task, "node_id": "node_proposer", "subtasks": parts});
    let cut = expect(200, proposer.post(&hub, "/task/propose-decomposition", &body));
    assert_eq!(cut["auto_approved"], true);
    let parts: Vec<String> = cut["subtasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["task_id"].as_str().unwrap().to_owned())
        .collect();

    for (n, ((solver, receiver), part)) in solvers.iter().zip(&receivers).zip(&parts).enumerate() {
        receiver.wait_for("swarm_subtask_available", part);
        expect(200, solver.claim(&hub, part));
        let release = json!({"task_id": part, "node_id": solver.node_id});
        let kept = expect(409, solver.post(&hub, "/task/release", &release));
        assert_eq!(kept["error"], "swarm_subtask_not_releasable");
        let capsule = solver.publish(&hub, 10 + n as u64);
        expect(200, solver.complete(&hub, part, &capsule));
    }
    let status = expect(200, send(&hub, "", "GET", &format!("/task/swarm/{task}"), None));
    assert_eq!(
        (&status["progress"]["solvers_completed"], &status["progress"]["solvers_total"]),
        (&json!(3), &json!(3))
    );
    let merge = status["aggregation_task"]["task_id"].as_str().unwrap().to_owned();
    merging.wait_for("swarm_aggregation_available", &merge);
    let refused = expect(403, solvers[0].claim(&hub, &merge));
    assert_eq!(refused["error"], "insufficient_reputation");
    expect(200, aggregator.claim(&hub, &merge));
    let capsule = aggregator.publish(&hub, 20);
    expect(200, aggregator.complete(&hub, &merge, &capsule));
    assert!(receivers.iter().all(|r| !r.kinds().contains(&"swarm_aggregation_available".to_owned())));

    expect(200, user.post(&hub, &format!("/bounty/{bounty}/accept"), &json!({})));
    // 100.001 in thousandths: 5 % and 85 % by weight, rounded down, and the rest.
    assert_eq!(holds(&hub, &user), 99.999);
    assert_eq!(proposer.credits(&hub), 505.0);
    let earned: Vec<f64> = solvers.iter().map(|solver| solver.credits(&hub)).collect();
    assert_eq!(earned, [535.0, 530.0, 520.0]);
    assert_eq!(aggregator.credits(&hub), 510.001);
    end(hub, &scratch.place);
}
