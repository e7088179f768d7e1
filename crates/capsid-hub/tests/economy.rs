//! Random commands of users and nodes, many of them sent twice, against a small model: the hub's balances are the
//! model's after every one of them, all accounts together are zero, and nothing stays put aside for ever.
//!
//! `CAPSID_SEED=n` repeats a run, `CAPSID_ROUNDS=n` sets its length, `CAPSID_SOAK=1` makes it longer.

use crate::common::{Bundle, On, START, TestHub};
use capsid_hub::config::HubConfig;
use capsid_store::accounts::admin;
use capsid_store::accounts::admin::AdminAction;
use capsid_store::{accounts, fsck, ledger};
use capsid_testkit::economy::{
    EconomyModel, NODES, StoryActor, StoryActors, StoryCommand, USERS, means_done_before, owner,
};
use capsid_testkit::rounds::{rounds, seeded_rng};
use serde_json::json;

const DAY_MS: i64 = 24 * 3_600_000;

#[test]
fn balances_are_the_models_on_sqlite() {
    run(On::Sqlite);
}

#[test]
fn balances_are_the_models_on_postgresql() {
    run(On::Postgres);
}

fn run(on: On) {
    let (rounds, mut chance) = (rounds(600, 20_000), seeded_rng());
    let hub = TestHub::start(on, without_limits);
    let mut trial =
        Trial { cast: cast(&hub), hub: Some(hub), model: EconomyModel::default(), number: 0, done: 0 };
    trial.assert_equal("at the beginning");
    for _ in 0..rounds {
        let command = trial.model.think(&mut chance);
        trial.act(&command, chance.u8(..4) == 0);
        if chance.u8(..200) == 0 {
            trial.wait_long();
        }
        if chance.u8(..100) == 0 {
            trial.hub = trial.hub.take().map(TestHub::restart);
        }
    }
    trial.come_to_an_end();
    println!(
        "{} of {} commands were carried out, {} bounties",
        trial.done,
        trial.number,
        trial.model.bounties()
    );
    assert!(trial.done > rounds / 10, "nearly nothing was done");
}

fn without_limits(config: &mut HubConfig) {
    let most = capsid_rules::rate_limit::RateLimit { count: 1_000_000, window_ms: 1_000 };
    config.limits.other = most;
    config.limits.messages = most;
    // Promotions would pay, and the model knows nothing of them.
    config.promotion.interval_ms = 0;
}

/// Accounts and nodes with what they need: tokens, secrets, a capsule each.
fn cast(hub: &TestHub) -> StoryActors {
    let mut cast = StoryActors::default();
    for n in 0..USERS {
        let body = json!({"email": format!("{}@example.org", StoryActor::User(n).name()), "password": "a long password"});
        let made = hub.post("/auth/register", &body).expect(201);
        cast.tokens.push(made["token"].as_str().unwrap().to_owned());
    }
    for n in 0..NODES {
        let node = StoryActor::Node(n).name();
        let hello = hub.message(&node, "hello", json!({})).expect(200);
        let bundle = Bundle::new(n as u64);
        let secret = hello["node_secret"].as_str().unwrap().to_owned();
        hub.message_as(&node, &secret, "publish", bundle.payload()).expect(200);
        if let Some(owner) = owner(n) {
            let code = hello["claim_code"].as_str().unwrap();
            hub.post_as(&cast.tokens[owner], &format!("/claim/{code}"), &json!({})).expect(200);
        }
        cast.secrets.push(secret);
        cast.capsules.push(bundle.capsule_id().to_owned());
    }
    let best = StoryActor::Node(NODES - 1).name();
    let by = AdminAction { actor: "operator", reason: Some("it merges"), now: START };
    hub.hub.store.write_now(move |tx| admin::set_reputation(tx, &best, Some(80.0), by)).unwrap();
    cast
}

fn account(n: usize) -> serde_json::Value {
    json!({"email": format!("{}@example.org", StoryActor::User(n).name()), "password": "a long password"})
}

fn log_in(hub: &TestHub, n: usize) -> String {
    hub.post("/auth/login", &account(n)).expect(200)["token"].as_str().unwrap().to_owned()
}

struct Trial {
    hub: Option<TestHub>,
    model: EconomyModel,
    cast: StoryActors,
    number: usize,
    done: usize,
}

impl Trial {
    fn hub(&self) -> &TestHub {
        self.hub.as_ref().unwrap()
    }

    fn act(&mut self, command: &StoryCommand, twice: bool) {
        let asked = self.cast.request(&self.model, command, self.number);
        self.number += 1;
        self.hub().clock.advance(1000);
        let before = self.model.clone();
        let expected = self.model.apply(command);
        let answer = self.hub().post_as(&asked.bearer, &asked.path, &asked.body);
        let done = (200..300).contains(&answer.status);
        assert_eq!(done, expected, "{command:?}\n{answer}\n{before:#?}");
        assert!(done || (400..500).contains(&answer.status), "{command:?}\n{answer}");
        if done {
            self.done += 1;
            self.cast.answered(command, &answer.json());
        } else {
            answer.explains();
        }
        if twice && done {
            let again = self.hub().post_as(&asked.bearer, &asked.path, &asked.body);
            let same = (200..300).contains(&again.status);
            assert!(
                same || means_done_before(command, again.status, &again.json()),
                "again {command:?}\n{again}"
            );
        }
        self.assert_equal(&format!("after {command:?}"));
    }

    #[track_caller]
    fn assert_equal(&self, when: &str) {
        let (balances, sum, held) = self
            .hub()
            .hub
            .store
            .read_now(|tx| {
                let mut balances = std::collections::BTreeMap::new();
                for n in 0..USERS {
                    let email = format!("{}@example.org", StoryActor::User(n).name());
                    let (user, _) = accounts::by_email(tx, &email)?.unwrap();
                    let account = ledger::user_account(&user.user_id);
                    balances.insert(StoryActor::User(n), ledger::balance(tx, &account)?);
                }
                for n in 0..NODES {
                    let account = ledger::node_account(&StoryActor::Node(n).name());
                    balances.insert(StoryActor::Node(n), ledger::balance(tx, &account)?);
                }
                let held = tx.count(
                    "SELECT CAST(COALESCE(SUM(balance), 0) AS BIGINT) FROM accounts WHERE account LIKE 'hold:%'",
                    &[],
                )?;
                Ok((balances, ledger::sum(tx)?, held))
            })
            .unwrap();
        assert_eq!(&balances, self.model.balances(), "{when}");
        assert_eq!(sum, 0, "{when}");
        assert_eq!(held, self.model.held(), "{when}");
    }

    /// More time passes than anything may wait for.
    fn wait_long(&mut self) {
        let hub = self.hub();
        hub.clock.advance(11 * DAY_MS);
        hub.runtime.block_on(capsid_hub::jobs::run_now(&hub.hub)).unwrap();
        self.model.wait_long();
        self.assert_equal("after a long time");
        let tokens: Vec<String> = (0..USERS).map(|n| log_in(self.hub(), n)).collect();
        self.cast.tokens = tokens;
    }

    fn come_to_an_end(&mut self) {
        for n in 0..NODES {
            self.act(&StoryCommand::Unstake(n), false);
        }
        self.wait_long();
        assert_eq!(self.model.held(), 0);
        let report = self.hub().hub.store.read_now(|tx| fsck::check(tx, &mut |_, _, _| {})).unwrap();
        assert!(report.is_clean(), "{:#?}", report.findings);
    }
}
