//! Random commands while the hub is killed again and again. A command that was not answered is sent again to the hub
//! that was started after it; whatever happened before, it has been done once, and the balances are the model's.

use super::client::{Agent, User, expect};
use super::{on_postgres, on_sqlite};
use crate::common::{Scratch, program};
use capsid_model::{Clock, SystemClock, Value, json};
use capsid_store::{Store, StoreOptions, accounts, ledger};
use capsid_testkit::economy::{
    EconomyModel, NODES, StoryActor, StoryActors, StoryCommand, StoryRequest, USERS, means_done_before, owner,
};
use capsid_testkit::hub::{HubProcess, TestHubLocation, ask_as};
use capsid_testkit::program::assert_status;
use capsid_testkit::rounds::{rounds, seeded_rng};
use std::collections::BTreeMap;
use std::time::Duration;

/// How many bounties a run has at least.
const ENOUGH: usize = 5;

#[test]
fn killed_again_and_again_balances_are_the_models_on_sqlite() {
    run(&on_sqlite());
}

#[test]
fn killed_again_and_again_balances_are_the_models_on_postgresql() {
    run(&on_postgres());
}

fn run(scratch: &Scratch) {
    let (kills, mut chance) = (rounds(8, 100), seeded_rng());
    let hub = HubProcess::start(&program(), &scratch.place);
    let cast = cast(&hub, &scratch.place);
    let mut trial =
        Trial { place: &scratch.place, hub, cast, model: EconomyModel::default(), number: 0, unsure: 0 };
    for _ in 0..kills {
        let killer = trial.kill_after(Duration::from_millis(chance.u64(20..600)));
        let before = trial.unsure;
        while trial.unsure == before {
            let command = trial.model.think(&mut chance);
            trial.act(&command);
        }
        killer.join().unwrap();
    }
    // On a slow machine few commands fit between two kills; the end is to be looked at with some bounties under way.
    while trial.model.bounties() <= ENOUGH {
        let command = trial.model.think(&mut chance);
        trial.act(&command);
    }
    trial.come_to_an_end();
    println!(
        "{kills} kills, {} commands, {} sent again, {} bounties",
        trial.number,
        trial.unsure,
        trial.model.bounties()
    );
}

/// Accounts and nodes with what they need.
fn cast(hub: &HubProcess, place: &TestHubLocation) -> StoryActors {
    let mut cast = StoryActors::default();
    for n in 0..USERS {
        cast.tokens.push(User::register(hub, &StoryActor::User(n).name()).token);
    }
    for n in 0..NODES {
        let agent = Agent::join(hub, &StoryActor::Node(n).name(), None);
        cast.capsules.push(agent.publish(hub, n as u64));
        if let Some(owner) = owner(n) {
            let code = agent.hello["payload"]["claim_code"].as_str().unwrap();
            let owner = User { token: cast.tokens[owner].clone() };
            expect(200, owner.post(hub, &format!("/claim/{code}"), &json!({})));
        }
        cast.secrets.push(agent.secret);
    }
    let best = StoryActor::Node(NODES - 1).name();
    let raised = ["admin", "set-reputation", &best, "80", "--reason", "it merges"];
    assert_status(0, &place.run(&program(), &raised));
    cast
}

struct Trial<'p> {
    place: &'p TestHubLocation,
    hub: HubProcess,
    cast: StoryActors,
    model: EconomyModel,
    number: usize,
    /// How many commands were not answered.
    unsure: usize,
}

impl Trial<'_> {
    /// Kills the present hub a little later.
    fn kill_after(&self, pause: Duration) -> std::thread::JoinHandle<()> {
        let id = self.hub.id();
        std::thread::spawn(move || {
            std::thread::sleep(pause);
            let id = rustix::process::Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
            rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
        })
    }

    fn act(&mut self, command: &StoryCommand) {
        let asked = self.cast.request(&self.model, command, self.number);
        self.number += 1;
        let before = self.model.clone();
        let expected = self.model.apply(command);
        let mut sent_before = false;
        let (status, body) = loop {
            if let Some(answer) = self.send(&asked) {
                break answer;
            }
            sent_before = true;
            self.unsure += 1;
            self.start_again();
        };
        // What could not be done before cannot have been done.
        let before_that = expected && sent_before && means_done_before(command, status, &body);
        let done = (200..300).contains(&status) || before_that;
        assert_eq!(done, expected, "{command:?} {status} {body:#}\n{before:#?}");
        assert!(done || (400..500).contains(&status), "{command:?} {status} {body:#}");
        if done {
            self.cast.answered(command, &body);
        }
    }

    fn send(&self, asked: &StoryRequest) -> Option<(u16, Value)> {
        let text = asked.body.to_string();
        let (status, body) = ask_as(&self.hub.address, &asked.bearer, "POST", &asked.path, Some(&text))?;
        Some((status, serde_json::from_str(&body).unwrap()))
    }

    /// Looks at what the dead hub left, and starts another one.
    fn start_again(&mut self) {
        assert_eq!(self.sum(), 0);
        self.hub = HubProcess::start(&program(), self.place);
    }

    fn store(&self) -> Store {
        Store::open(
            &StoreOptions::new(&self.place.data, self.place.database.clone()).shared(),
            SystemClock.now(),
        )
        .unwrap()
    }

    fn sum(&self) -> i64 {
        self.store().read_now(ledger::sum).unwrap()
    }

    fn come_to_an_end(&mut self) {
        self.assert_equal();
        for bounty in 0..self.model.bounties() {
            while let Some(step) = self.model.next_step(bounty) {
                self.act(&step);
            }
        }
        for node in 0..NODES {
            self.act(&StoryCommand::Unstake(node));
        }
        assert_eq!(self.model.held(), 0);
        self.assert_equal();
        assert_status(0, &self.place.run(&program(), &["fsck"]));
    }

    #[track_caller]
    fn assert_equal(&self) {
        let balances = self
            .store()
            .read_now(|tx| {
                let mut balances = BTreeMap::new();
                for n in 0..USERS {
                    let (user, _) = accounts::by_email(tx, &format!("user_{n}@example.org"))?.unwrap();
                    balances.insert(
                        StoryActor::User(n),
                        ledger::balance(tx, &ledger::user_account(&user.user_id))?,
                    );
                }
                for n in 0..NODES {
                    let account = ledger::node_account(&StoryActor::Node(n).name());
                    balances.insert(StoryActor::Node(n), ledger::balance(tx, &account)?);
                }
                Ok(balances)
            })
            .unwrap();
        assert_eq!(&balances, self.model.balances());
        assert_eq!(self.sum(), 0);
    }
}
