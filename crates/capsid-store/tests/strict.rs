//! A value that cannot be read is an error, never a default: each test damages one and reads it.

use capsid_model::problem::{Code, Result};
use capsid_model::time::Time;
use capsid_rules::work::swarm::{AggregatorFallback, AggregatorTerms};
use capsid_store::accounts::{self, AccountRole, NewUser};
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::{assignments, decisions, penalties, scoring, stakes};
use capsid_store::ledger::{self, Transfer};
use capsid_store::nodes::NodeRow;
use capsid_store::notifications::events;
use capsid_store::search::embeddings::{self, EmbeddingSpace};
use capsid_store::system::{jobs, meta, responses};
use capsid_store::work::bounties::settle::{self, SettlementTerms};
use capsid_store::work::tasks::claim;
use capsid_store::work::tasks::complete::{self, CompletionTerms, SubmittedResult};
use capsid_store::work::{bounties, pending_earnings, tasks, workers};
use capsid_store::{Store, StoreOptions, assets, memory, nodes, skills};

const NOW: Time = Time(1_767_225_600_000);
const ID: AssetId = AssetId([7; 32]);

const ROWS: &[&str] = &[
    "INSERT INTO assets (asset_id, asset_type, status, node_id, bundle_id, created_at, last_activity_at, card, body)
     VALUES (x'0707070707070707070707070707070707070707070707070707070707070707', 'Capsule', 'candidate', 'node_a',
        'bundle_a', 1, 1, '', '{}')",
    "INSERT INTO bundles (bundle_id, gene_id, capsule_id, node_id, receipt_id, created_at) SELECT 'bundle_a', asset_id,
        asset_id, 'node_a', 'receipt', 1 FROM assets",
    "INSERT INTO tasks (task_id, asker, title, body, signals, status, amount, min_reputation, allowed_models, swarm_role,
        created_at, expires_at)
     VALUES ('task_a', 'user:a', 't', 'b', 's', 'open', 0, 0, '[]', 'solver', 1, 2)",
    "INSERT INTO workers (node_id, enabled, domains, max_load, subscribed, updated_at)
     VALUES ('node_a', 1, '[]', 1, 0, 1)",
    "INSERT INTO memories (dedupe, node_id, signals, body, count_so_far, bytes_so_far, created_at)
     VALUES (x'00', 'node_a', '[]', '{}', 1, 1, 1)",
    "INSERT INTO skills (skill_id, node_id, version, card, body, created_at, updated_at)
     VALUES ('skill_a', 'node_a', '1', '{}', '{}', 1, 1)",
    "INSERT INTO jobs (name, due_at, last_outcome) VALUES ('job_a', 0, '{\"place\":\"p\",\"done\":0}')",
    "INSERT INTO decisions (asset_id, actor, decision, weight, created_at)
     SELECT asset_id, 'node:node_b', 'accept', 1.0, 1 FROM assets",
    "INSERT INTO tasks (task_id, asker, title, body, signals, status, bounty_id, amount, min_reputation, claimed_by,
        claimed_at, swarm_role, parent_task_id, weight, decomposed_at, created_at, expires_at)
     VALUES ('task_open', 'user:a', 't', 'b', 's', 'open', 'bounty_open', 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1,
            1767312000000),
        ('task_claimed', 'user:a', 't', 'b', 's', 'claimed', NULL, 0, 0, 'node_a', 1, NULL, NULL, NULL, NULL, 1,
            1767312000000),
        ('task_whole', 'user:a', 't', 'b', 's', 'claimed', 'bounty_whole', 0, 0, 'node_b', 1, NULL, NULL, NULL, 1, 1,
            1767312000000),
        ('task_part', 'user:a', 't', 'b', 's', 'claimed', 'bounty_whole', 0, 0, 'node_a', 1, 'solver', 'task_whole',
            850000000, NULL, 1, 1767312000000)",
    "INSERT INTO bounties (bounty_id, task_id, creator, source, amount, status, created_at, expires_at)
     VALUES ('bounty_open', 'task_open', 'user:a', 'bounty', 0, 'open', 1, 1767312000000),
        ('bounty_whole', 'task_whole', 'user:a', 'bounty', 1000, 'matched', 1, 1767312000000)",
    "INSERT INTO embeddings (asset_id, model, dims, made_at, signs, vector)
     SELECT asset_id, 'm', 2, 1, x'0100000000000000', x'0000803f00000000' FROM assets",
    r#"INSERT INTO meta (key, value) VALUES ('embeddings', '{"model":"m","dims":2,"reached":1,"begun_at":1}')"#,
];

/// A store with one row of each kind.
fn filled(folder: &std::path::Path) -> Store {
    let store = Store::open(&StoreOptions::new(folder, None), NOW).unwrap();
    let fill = |tx: &mut dyn Tx| {
        for node_id in ["node_a", "node_b", "node_c"] {
            nodes::lock_or_register(tx, node_id, 0, NOW)?;
        }
        let user = NewUser {
            user_id: "user_a".to_owned(),
            email: "a@example.org".to_owned(),
            password_hash: "x".to_owned(),
            role: AccountRole::User,
            grant: 0,
        };
        accounts::create(tx, &user, "operator", NOW)?;
        ROWS.iter().try_for_each(|sql| tx.run(sql, &[]).map(|_| ()))?;
        responses::save_response(tx, &message(), 200, &responses::StoredResponse::Body("{}".to_owned()), NOW)
    };
    assert!(store.write_now(fill).unwrap());
    store
}

fn message() -> responses::MessageKey {
    responses::MessageKey::new("node_a", "hello", "m", "{}")
}

/// What an operation gives in a store that was changed before.
fn outcome(change: Option<&'static str>, operation: fn(&mut dyn Tx) -> Result<()>) -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    if let Some(change) = change {
        let changed = store.write_now(move |tx| tx.run(change, &[])).unwrap();
        assert!(changed > 0 || change.starts_with("CREATE TRIGGER"), "{change}");
    }
    store.write_now(operation)
}

/// Runs an operation on what is sound, and where it is damaged, and expects an error that names these.
fn is_damage(change: &'static str, named: [&str; 2], operation: fn(&mut dyn Tx) -> Result<()>) {
    outcome(None, operation).unwrap_or_else(|problem| panic!("before {change}: {problem}"));
    let Err(problem) = outcome(Some(change), operation) else { panic!("{change} was not noticed") };
    assert_eq!(problem.code, Code::StoreDamaged, "{change}: {problem}");
    for part in named {
        assert!(problem.message.contains(part), "{change}: {problem}");
    }
}

#[test]
fn a_node_with_an_unknown_secret_state_cannot_be_read() {
    is_damage("UPDATE nodes SET secret_state = 'bond'", ["secret_state", "bond"], |tx| {
        nodes::get(tx, "node_a").map(drop)
    });
}

#[test]
fn an_account_with_an_unknown_role_cannot_be_read() {
    is_damage("UPDATE users SET role = 'root'", ["role", "root"], |tx| accounts::get(tx, "user_a").map(drop));
}

#[test]
fn an_asset_with_an_unknown_word_cannot_be_read() {
    let get: fn(&mut dyn Tx) -> Result<()> = |tx| assets::get(tx, &ID).map(drop);
    is_damage("UPDATE assets SET asset_type = 'Genome'", ["asset_type", "Genome"], get);
    is_damage("UPDATE assets SET status = 'lost'", ["status", "lost"], get);
    is_damage("UPDATE assets SET proof = 'maybe'", ["proof", "maybe"], get);
    is_damage("UPDATE assets SET similar_to = x'01'", ["similar_to", "1"], get);
}

#[test]
fn a_task_with_an_unknown_word_or_list_cannot_be_read() {
    let get: fn(&mut dyn Tx) -> Result<()> = |tx| tasks::get(tx, "task_a").map(drop);
    is_damage("UPDATE tasks SET status = 'lost'", ["status", "lost"], get);
    is_damage("UPDATE tasks SET swarm_role = 'boss'", ["swarm_role", "boss"], get);
    is_damage("UPDATE tasks SET allowed_models = 'm'", ["allowed_models", "m"], get);
}

#[test]
fn stored_json_that_cannot_be_read_is_no_empty_list() {
    is_damage("UPDATE workers SET domains = 'css'", ["domains", "css"], |tx| {
        workers::get(tx, "node_a").map(drop)
    });
    is_damage("UPDATE memories SET signals = '7'", ["signals", "7"], |tx| {
        memory::newest(tx, "node_a", 1).map(drop)
    });
    is_damage("UPDATE jobs SET last_outcome = 'none'", ["last_outcome", "none"], |tx| {
        jobs::place(tx, "job_a").map(drop)
    });
    is_damage("UPDATE assets SET body = 'x'", ["body", "x"], |tx| {
        assignments::validation_of(tx, &ID).map(drop)
    });
}

#[test]
fn a_stored_answer_with_an_impossible_status_cannot_be_read() {
    is_damage("UPDATE responses SET status = 70000", ["status", "70000"], |tx| {
        responses::find_response(tx, &message(), NOW).map(drop)
    });
}

#[test]
fn a_version_that_is_no_number_cannot_be_counted_on() {
    is_damage("UPDATE skills SET version = 'one'", ["version", "one"], |tx| {
        let skill = skills::lock(tx, "skill_a")?.unwrap();
        let text = skills::SkillText { card: "{}".to_owned(), body: "{}".to_owned(), ..Default::default() };
        skills::change(tx, &skill, &text, NOW).map(drop)
    });
}

#[test]
fn an_unknown_decision_is_no_refusal() {
    is_damage("UPDATE decisions SET decision = 'perhaps'", ["decision", "perhaps"], |tx| {
        decisions::votes(tx, &ID).map(drop)
    });
}

#[test]
fn the_graph_leaves_out_nothing_that_it_cannot_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    store.write_now(|tx| tx.run("UPDATE assets SET asset_type = 'Genome'", &[])).unwrap();
    let problem = store.follow_all(NOW).unwrap_err();
    assert_eq!(problem.code, Code::StoreDamaged);
    assert!(problem.message.contains("asset_type") && problem.message.contains("Genome"), "{problem}");
}

fn space() -> EmbeddingSpace {
    EmbeddingSpace { model: "m".to_owned(), dims: 2 }
}

#[test]
fn embeddings_without_their_length_are_not_begun_again() {
    is_damage(
        r#"UPDATE meta SET value = '{"model":"m"}' WHERE key = 'embeddings'"#,
        ["value", "model"],
        |tx| embeddings::progress(tx).map(drop),
    );
}

#[test]
fn an_embedding_of_another_length_is_not_left_out() {
    let page: fn(&mut dyn Tx) -> Result<()> = |tx| {
        assert_eq!(embeddings::page(tx, &space(), 0, 10)?.len(), 1);
        Ok(())
    };
    is_damage("UPDATE embeddings SET signs = x'01'", ["signs", "8"], page);
    let vectors: fn(&mut dyn Tx) -> Result<()> = |tx| {
        assert_eq!(embeddings::vectors(tx, &space(), &[1])?, [(ID, vec![1.0, 0.0])]);
        Ok(())
    };
    is_damage("UPDATE embeddings SET vector = x'0000803f'", ["embedding", "4 bytes"], vectors);
    is_damage("UPDATE embeddings SET vector = NULL", ["vector", "empty"], vectors);
}

#[test]
fn a_body_that_is_no_object_has_no_embedding() {
    is_damage("UPDATE assets SET body = '[]'", ["body", "object"], |tx| {
        let other = EmbeddingSpace { model: "other".to_owned(), dims: 2 };
        embeddings::lacking(tx, &other, 0, 10, NOW).map(drop)
    });
}

fn node(tx: &mut dyn Tx, node_id: &str) -> Result<NodeRow> {
    Ok(nodes::lock(tx, node_id)?.unwrap())
}

const COMPLETION: CompletionTerms = CompletionTerms {
    decide_ms: 1,
    aggregator: AggregatorTerms { min_reputation: 60.0, fallback: AggregatorFallback::Proposer },
};

const TERMS: SettlementTerms = SettlementTerms {
    commission_milli: 0,
    service_commission_milli: 0,
    reduces: true,
    undecided: capsid_rules::work::bounties::UndecidedOutcome::Refund,
    preview: false,
    dispute_ms: 0,
    keyless: capsid_store::evaluation::rewards::held_rewards::KeylessPay::AtOnce,
};

#[test]
fn a_part_without_a_weight_is_not_one_that_weighs_nothing() {
    let change = "UPDATE tasks SET weight = NULL WHERE task_id = 'task_part'";
    is_damage(change, ["weight", "empty"], |tx| {
        let node = node(tx, "node_a")?;
        pending_earnings::sum_pending(tx, &node, &TERMS).map(drop)
    });
    is_damage(change, ["weight", "task_part"], |tx| {
        let (bounty, whole) = bounties::lock(tx, "bounty_whole")?.unwrap();
        settle::expected_payouts(tx, &bounty, &whole, &TERMS).map(drop)
    });
    is_damage(change, ["weight", "task_part"], |tx| {
        let node = node(tx, "node_a")?;
        complete::complete(tx, &node, "task_part", SubmittedResult::Asset(&ID), &COMPLETION, NOW).map(drop)
    });
}

#[test]
fn a_node_that_is_not_there_has_no_record() {
    let change = "DELETE FROM nodes WHERE node_id = 'node_c'";
    is_damage(change, ["not there", "nodes"], |tx| scoring::record(tx, "node_c", NOW).map(drop));
    is_damage(change, ["not there", "node_c"], |tx| penalties::penalise(tx, "node_c", 1.0, "a", "r", NOW));
}

#[test]
fn a_row_that_vanished_after_its_change_is_not_the_old_one() {
    let lost_stake = "CREATE TRIGGER lose AFTER INSERT ON stakes BEGIN DELETE FROM stakes; END";
    is_damage(lost_stake, ["stake", "node_a"], |tx| {
        stakes::stake(tx, "node_a", 0, capsid_rules::credits::StakeSource::Any, "r", NOW).map(drop)
    });
    let lost_task = "CREATE TRIGGER lose AFTER UPDATE ON tasks BEGIN
        DELETE FROM tasks WHERE task_id = NEW.task_id; END";
    is_damage(lost_task, ["task", "task_claimed"], |tx| {
        let node = node(tx, "node_a")?;
        claim::commit(tx, &node, "task_claimed", NOW.0 + 3_600_000, NOW).map(drop)
    });
    is_damage(lost_task, ["task", "task_claimed"], |tx| {
        let node = node(tx, "node_a")?;
        claim::release(tx, &node, "task_claimed", NOW).map(drop)
    });
    let lost_bounty = "CREATE TRIGGER lose AFTER UPDATE ON bounties BEGIN
        DELETE FROM bounties WHERE bounty_id = NEW.bounty_id; END";
    is_damage(lost_bounty, ["bounty", "bounty_open"], |tx| {
        settle::cancel(tx, "bounty_open", "user:a", "o", NOW).map(drop)
    });
    let lost_node = "CREATE TRIGGER lose AFTER UPDATE ON nodes BEGIN
        DELETE FROM nodes WHERE node_id = NEW.node_id; END";
    is_damage(lost_node, ["node", "node_c"], |tx| scoring::reassess(tx, "node_c", NOW).map(drop));
}

#[test]
fn a_value_that_a_statement_does_not_return_is_no_default() {
    let transfer: fn(&mut dyn Tx) -> Result<()> = |tx| {
        let paid = Transfer { reference: "r", kind: "k", from: ledger::MINT, to: "node:node_a", amount: 1 };
        ledger::transfer(tx, paid, NOW).map(drop)
    };
    let no_entry = "CREATE TRIGGER lose BEFORE UPDATE ON accounts BEGIN SELECT RAISE(IGNORE); END";
    is_damage(no_entry, ["not there", "balance"], transfer);
    let no_transfer = "CREATE TRIGGER lose BEFORE INSERT ON transfers BEGIN SELECT RAISE(IGNORE); END";
    is_damage(no_transfer, ["transfer", "`r`"], transfer);
    let no_event = "CREATE TRIGGER lose BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END";
    is_damage(no_event, ["not there", "events"], |tx| {
        events::insert_event(tx, "node_a", "k", "{}", NOW).map(drop)
    });
    let no_value = "CREATE TRIGGER lose BEFORE INSERT ON meta BEGIN SELECT RAISE(IGNORE); END";
    is_damage(no_value, ["not there", "meta"], |tx| meta::get_or_set(tx, "k", "v").map(drop));
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    let no_thing = "CREATE TRIGGER lose BEFORE INSERT ON entities BEGIN SELECT RAISE(IGNORE); END";
    store.write_index(|tx| tx.run(no_thing, &[])).unwrap();
    let problem = store.follow_all(NOW).unwrap_err();
    assert_eq!(problem.code, Code::StoreDamaged);
    assert!(problem.message.contains("thing") && problem.message.contains("counted"), "{problem}");
}
