//! The ledger moves credits and neither makes nor loses any, whatever is asked of it, and the databases themselves refuse
//! what does not add up.

use capsid_model::problem::{Code, Result};
use capsid_model::time::Time;
use capsid_rules::credits::CreditSource;
use capsid_store::db::tx::Tx;
use capsid_store::ledger::{self, MINT, Transfer, TransferOutcome};
use capsid_store::{Store, StoreOptions, fsck, params};
use capsid_testkit::postgres::TestPostgres;
use capsid_testkit::rounds::{rounds, seeded_rng};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

const NOW: Time = Time(1_767_225_600_000);

fn both(test: impl Fn(&Arc<Store>)) {
    let folder = tempfile::tempdir().unwrap();
    println!("on SQLite");
    test(&Arc::new(Store::open(&StoreOptions::new(folder.path(), None), NOW).unwrap()));
    let database = TestPostgres::database();
    println!("on PostgreSQL");
    test(&Arc::new(Store::open(&StoreOptions::new(folder.path(), Some(database.url.clone())), NOW).unwrap()));
}

/// A transfer that owns its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Order {
    reference: String,
    kind: &'static str,
    from: String,
    to: String,
    amount: i64,
    source: CreditSource,
}

impl Order {
    fn new(reference: &str, from: &str, to: &str, amount: i64) -> Self {
        let [reference, from, to] = [reference, from, to].map(str::to_owned);
        Self { reference, kind: "test", from, to, amount, source: CreditSource::GrantedFirst }
    }

    fn carry_out(&self, tx: &mut dyn Tx) -> Result<TransferOutcome> {
        let Self { reference, kind, from, to, amount, source } = self;
        ledger::transfer_from(tx, Transfer { reference, kind, from, to, amount: *amount }, *source, NOW)
    }

    fn send(&self, store: &Store) -> Result<TransferOutcome> {
        let order = self.clone();
        store.write_now(move |tx| order.carry_out(tx))
    }
}

/// The granted parts of all accounts.
fn granted(store: &Store) -> BTreeMap<String, i64> {
    let rows =
        store.read_now(|tx| tx.query_all::<(String, i64)>("SELECT account, granted FROM accounts", &[]));
    rows.unwrap().into_iter().filter(|(_, granted)| *granted != 0).collect()
}

fn balances(store: &Store) -> BTreeMap<String, i64> {
    let rows =
        store.read_now(|tx| tx.query_all::<(String, i64)>("SELECT account, balance FROM accounts", &[]));
    rows.unwrap().into_iter().filter(|(_, balance)| *balance != 0).collect()
}

#[track_caller]
fn assert_sound(store: &Store) {
    assert_eq!(store.read_now(ledger::sum).unwrap(), 0);
    assert_eq!(store.read_now(ledger::granted_sum).unwrap(), 0);
    let report = store.read_now(|tx| fsck::check(tx, &mut |_, _, _| {})).unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
}

#[test]
fn a_reference_stands_for_one_movement() {
    both(|store| {
        let first = Order::new("r", MINT, "node:a", 500);
        assert_eq!(first.send(store).unwrap(), TransferOutcome::Done);
        assert_eq!(first.send(store).unwrap(), TransferOutcome::AlreadyDone);
        let others = [
            Order { amount: 501, ..first.clone() },
            Order { to: "node:b".to_owned(), ..first.clone() },
            Order { from: "node:b".to_owned(), ..first.clone() },
            Order { kind: "grant", ..first },
            Order::new("r", "node:a", MINT, 500),
        ];
        for other in others {
            let refused = other.send(store).unwrap_err();
            assert_eq!(refused.code, Code::Internal, "{other:?}");
            assert!(refused.message.contains("used before"), "{refused}");
        }
        assert_eq!(balances(store), BTreeMap::from([("mint".to_owned(), -500), ("node:a".to_owned(), 500)]));
        assert_sound(store);
    });
}

#[test]
fn nobody_but_the_mint_owes() {
    both(|store| {
        assert_eq!(
            Order::new("a", "node:a", "node:b", 1).send(store).unwrap(),
            TransferOutcome::Insufficient { have: 0 }
        );
        Order::new("b", MINT, "node:a", 5).send(store).unwrap();
        assert_eq!(
            Order::new("c", "node:a", "node:b", 6).send(store).unwrap(),
            TransferOutcome::Insufficient { have: 5 }
        );
        assert_eq!(Order::new("c", "node:a", "node:b", 5).send(store).unwrap(), TransferOutcome::Done);
        for nothing in [Order::new("d", MINT, "node:a", 0), Order::new("d", MINT, "node:a", -5)] {
            assert!(nothing.send(store).is_err());
        }
        assert!(Order::new("e", "node:b", "node:b", 1).send(store).is_err());
        assert_sound(store);
    });
}

/// Changes that would make the ledger wrong. Each one has to fail, with all that was done beside it.
const TAMPERING: &[&[&str]] = &[
    &["UPDATE accounts SET balance = balance + 1 WHERE account = 'node:a'"],
    &["UPDATE accounts SET balance = -1 WHERE account = 'node:a'"],
    &["UPDATE accounts SET granted = granted + 1 WHERE account = 'node:a'"],
    &["UPDATE accounts SET granted = 501 WHERE account = 'node:a'"],
    &["UPDATE transfers SET granted = amount + 1"],
    &["INSERT INTO accounts (account, balance) VALUES ('node:thief', 7)"],
    &["UPDATE entries SET delta = delta + 1"],
    &["DELETE FROM entries"],
    &["DELETE FROM accounts WHERE account = 'node:a'"],
    &["DELETE FROM transfers"],
];

/// Those that only PostgreSQL sees at once, because it looks at every entry; `fsck` finds them on both.
const FALSE_ENTRIES: &[&[&str]] = &[
    &["INSERT INTO entries (transfer, account, delta, balance_after) VALUES (1, 'node:a', 5, 505)"],
    // Both sides are entered, but only one account is changed.
    &[
        "UPDATE accounts SET balance = balance + 5 WHERE account = 'node:a'",
        "INSERT INTO entries (transfer, account, delta, balance_after) VALUES (1, 'node:a', 5, 505)",
        "INSERT INTO entries (transfer, account, delta, balance_after) VALUES (1, 'mint', -5, -500)",
    ],
    &[
        "INSERT INTO entries (transfer, account, delta, balance_after) VALUES (1, 'node:a', 5, 505)",
        "INSERT INTO entries (transfer, account, delta, balance_after) VALUES (1, 'mint', -5, -505)",
    ],
];

#[test]
fn the_database_refuses_what_does_not_add_up() {
    both(|store| {
        Order::new("r", MINT, "node:a", 500).send(store).unwrap();
        let before = balances(store);
        let on_postgres = store.dialect() == capsid_store::db::tx::Dialect::Postgres;
        let more = if on_postgres { FALSE_ENTRIES } else { &[] };
        for (n, &changes) in TAMPERING.iter().chain(more).enumerate() {
            let tampered: Result<()> = store.write_now(move |tx| {
                tx.run("INSERT INTO meta (key, value) VALUES ('beside', 'x')", &[])?;
                changes.iter().try_for_each(|sql| tx.run(sql, &[]).map(|_| ()))
            });
            assert!(tampered.is_err(), "{changes:?}");
            let beside = store.read_now(|tx| tx.count("SELECT COUNT(*) FROM meta WHERE key = 'beside'", &[]));
            assert_eq!(beside.unwrap(), 0, "{changes:?}");
            assert_eq!(balances(store), before, "{changes:?}");
            // What comes after it is taken.
            assert_eq!(
                Order::new(&format!("next {n}"), MINT, "node:b", 1).send(store).unwrap(),
                TransferOutcome::Done
            );
            Order::new(&format!("back {n}"), "node:b", MINT, 1).send(store).unwrap();
        }
        assert_sound(store);
    });
}

#[test]
fn one_that_does_not_add_up_takes_no_other_down() {
    both(|store| {
        // Many at once, so that they share a commit where writes are grouped; every fifth one is wrong.
        let threads: Vec<_> = (0..100)
            .map(|n: i64| {
                let store = Arc::clone(store);
                std::thread::spawn(move || {
                    let order = Order::new(&format!("r{n}"), MINT, &format!("node:{}", n % 7), 10);
                    let outcome: Result<()> = store.write_now(move |tx| {
                        order.carry_out(tx)?;
                        if n % 5 == 0 {
                            tx.run(
                                "UPDATE accounts SET balance = balance + 1 WHERE account = $1",
                                params![&order.to],
                            )?;
                        }
                        Ok(())
                    });
                    (n, outcome.is_ok())
                })
            })
            .collect();
        for thread in threads {
            let (n, kept) = thread.join().unwrap();
            assert_eq!(kept, n % 5 != 0, "{n}");
        }
        let held: i64 =
            balances(store).into_iter().filter(|(name, _)| name != MINT).map(|(_, held)| held).sum();
        assert_eq!(held, 800);
        assert_sound(store);
    });
}

/// The ledger in a few lines.
#[derive(Default)]
struct Model {
    made: HashMap<String, Order>,
    balances: BTreeMap<String, i64>,
    granted: BTreeMap<String, i64>,
}

impl Model {
    /// What the ledger should say: nothing for an error.
    fn carry_out(&mut self, order: &Order) -> Option<TransferOutcome> {
        if order.amount <= 0 || order.from == order.to {
            return None;
        }
        if let Some(made) = self.made.get(&order.reference) {
            let same = Order { source: made.source, ..order.clone() };
            return (*made == same).then_some(TransferOutcome::AlreadyDone);
        }
        let held = |of: &BTreeMap<String, i64>| of.get(&order.from).copied().unwrap_or_default();
        let (total, granted) = (held(&self.balances), held(&self.granted));
        let (have, part) = match order.source {
            CreditSource::GrantedFirst => (total, granted.min(order.amount)),
            CreditSource::Granted => (granted, order.amount),
            CreditSource::Earned => (total - granted, 0),
        };
        if order.from != MINT && have < order.amount {
            return Some(TransferOutcome::Insufficient { have });
        }
        let is_gift = order.source == CreditSource::Granted;
        let part = if order.from != MINT {
            part
        } else if is_gift {
            order.amount
        } else {
            0
        };
        *self.granted.entry(order.from.clone()).or_default() -= part;
        *self.granted.entry(order.to.clone()).or_default() += part;
        *self.balances.entry(order.from.clone()).or_default() -= order.amount;
        *self.balances.entry(order.to.clone()).or_default() += order.amount;
        self.made.insert(order.reference.clone(), order.clone());
        Some(TransferOutcome::Done)
    }
}

fn any_order(chance: &mut fastrand::Rng, sent: &[Order]) -> Order {
    let accounts = ["mint", "hub", "node:a", "node:b", "user:c", "hold:stake:a", "hold:bounty:1"];
    let mut order = match sent.len() {
        n if n > 0 && chance.u8(..4) == 0 => sent[chance.usize(..n)].clone(),
        n => {
            let [from, to] = [(); 2].map(|()| accounts[chance.usize(..accounts.len())]);
            // The mint pays often enough for the others to have something.
            let from = if chance.bool() { from } else { MINT };
            let sources = [CreditSource::GrantedFirst, CreditSource::Granted, CreditSource::Earned];
            let source = sources[chance.usize(..3)];
            Order { source, ..Order::new(&format!("r{n}"), from, to, chance.i64(0..1000)) }
        }
    };
    if chance.u8(..20) == 0 {
        order.amount += 1;
    }
    order
}

#[test]
fn whatever_is_moved_the_ledger_is_as_the_model_says() {
    let mut seeds = seeded_rng();
    let seed = seeds.u64(..);
    both(|store| {
        let (mut chance, mut model, mut sent) =
            (fastrand::Rng::with_seed(seed), Model::default(), Vec::new());
        for step in 0..rounds(600, 20_000) {
            let order = any_order(&mut chance, &sent);
            let expected = model.carry_out(&order);
            let moved = order.send(store).ok();
            assert_eq!(moved, expected, "step {step}: {order:?}");
            assert_eq!(store.read_now(ledger::sum).unwrap(), 0, "step {step}: {order:?}");
            assert_eq!(store.read_now(ledger::granted_sum).unwrap(), 0, "step {step}: {order:?}");
            sent.push(order);
        }
        model.balances.retain(|_, balance| *balance != 0);
        model.granted.retain(|_, granted| *granted != 0);
        assert_eq!((balances(store), granted(store)), (model.balances, model.granted));
        let findings = store.read_now(|tx| fsck::check(tx, &mut |_, _, _| {})).unwrap().findings;
        let wrong: Vec<_> = findings.iter().filter(|finding| finding.code.contains("granted")).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        let uneven = store.read_now(|tx| {
            tx.count("SELECT COUNT(*) FROM (SELECT transfer FROM entries GROUP BY transfer HAVING SUM(delta) <> 0) x", &[])
        });
        assert_eq!(uneven.unwrap(), 0);
    });
}
