//! A value that cannot be read is an error, never a default: each test damages one and reads it.

use capsid_model::problem::{Code, Problem, Result};
use capsid_model::time::Time;
use capsid_store::accounts::{self, AccountRole, NewUser};
use capsid_store::assets::id::AssetId;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::{assignments, decisions};
use capsid_store::system::{jobs, responses};
use capsid_store::work::{tasks, workers};
use capsid_store::{Store, StoreOptions, assets, graph, memory, nodes, skills};

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
];

/// A store with one row of each kind.
fn filled(folder: &std::path::Path) -> Store {
    let store = Store::open(&StoreOptions::new(folder, None), NOW).unwrap();
    let fill = |tx: &mut dyn Tx| {
        nodes::lock_or_register(tx, "node_a", 0, NOW)?;
        nodes::lock_or_register(tx, "node_b", 0, NOW)?;
        let user = NewUser {
            user_id: "user_a".to_owned(),
            email: "a@example.org".to_owned(),
            password_hash: "x".to_owned(),
            role: AccountRole::User,
            grant: 0,
        };
        accounts::create(tx, &user, "operator", NOW)?;
        ROWS.iter().try_for_each(|sql| tx.run(sql, &[]).map(|_| ()))?;
        responses::save_response(tx, &message(), 200, "{}", NOW)
    };
    assert!(store.write_now(fill).unwrap());
    store
}

fn message() -> responses::MessageKey {
    responses::MessageKey::new("node_a", "hello", "m", "{}")
}

/// Reads what is sound, damages it, and gives the error of the second time.
fn damage(change: &'static str, read: fn(&mut dyn Tx) -> Result<()>) -> Problem {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    store.write_now(read).unwrap_or_else(|problem| panic!("before {change}: {problem}"));
    assert!(store.write_now(move |tx| tx.run(change, &[])).unwrap() > 0, "{change}");
    let refused = store.write_now(read);
    refused.map(|()| panic!("{change} was not noticed")).unwrap_err()
}

fn is_damage(change: &'static str, named: [&str; 2], read: fn(&mut dyn Tx) -> Result<()>) {
    let problem = damage(change, read);
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
    is_damage("UPDATE messages SET status = 70000", ["status", "70000"], |tx| {
        responses::find_response(tx, &message(), NOW).map(drop)
    });
}

#[test]
fn a_version_that_is_no_number_cannot_be_counted_on() {
    is_damage("UPDATE skills SET version = 'one'", ["version", "one"], |tx| {
        let skill = skills::lock(tx, "skill_a")?.unwrap();
        let text = skills::SkillText { card: "{}".to_owned(), body: "{}".to_owned() };
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
    is_damage("UPDATE assets SET asset_type = 'Genome'", ["asset_type", "Genome"], |tx| {
        graph::rebuild(tx, &mut |_, _, _| {}).map(drop)
    });
}
