//! Writing the meta-chain.

use super::FILE;
use super::open_list::{OpenChain, open_chains};
use super::owner::{ChainOwner, own_names};
use super::traces::{ROTATION, rotation_key};
use crate::chain::{ChainReader, ChainWriter, FinalisedMark, PendingRecord, checkpoint_of};
use crate::{ActionRecord, Sealer};
use capsid_disk::{Lock, files};
use capsid_model::exact::{ExactFields, ExactJson};
use capsid_model::{Result, fields};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long one process waits for another that writes the meta-chain.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// A conversation at the moment it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The session.
    pub session: &'a str,
    /// The hash of its last record.
    pub head_hash: &'a str,
    /// How many records it has.
    pub count: u64,
    /// Where it is, unless it has a file of its own in the home.
    pub shared: Option<SharedChain<'a>>,
}

/// A chain in a database that holds several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedChain<'a> {
    /// The database.
    pub db: &'a Path,
    /// The chain's tenant.
    pub tenant: &'a str,
}

/// What came of recording a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaRecordOutcome {
    /// False when this very state of it was recorded before.
    pub recorded: bool,
    /// How many records the meta-chain has now.
    pub length: u64,
    /// The hash of its last one.
    pub head: Option<String>,
}

/// Records a conversation that is finished for now. One that grows later is recorded again.
///
/// `id` is a fresh UUID, and `signed_at` the present moment.
pub fn record_conversation(
    home: &Path,
    conversation: &Conversation<'_>,
    sealer: &Sealer,
    id: &str,
    signed_at: &str,
) -> Result<MetaRecordOutcome> {
    files::create_private_folder(home)?;
    // `agent-capsule` holds this lock too and knows no other.
    let _lock = Lock::acquire(&home.join("meta.lock"), "The meta-chain", PATIENCE)?;
    let path = home.join(FILE);
    let writer = ChainWriter::open(&path)?.with_key_of(key_of).signing_with(sealer.clone());
    let mut writer = writer.owned_by(ChainOwner::new(home, "meta", sealer));
    let Conversation { tool, session, head_hash, .. } = conversation;
    let own_key = key(tool, session, head_hash);
    let meta = writer.reader()?;
    let is_recorded = |key: &str| Ok(key == own_key || meta.place_of(None, key)?.is_some());
    let open = match meta.place_of(None, &own_key)?.is_some() {
        true => Vec::new(),
        false => open_chains(home, conversation.shared, &is_recorded, &own_names(home, &sealer.own_keys()))?,
    };
    let open: Vec<OpenChain> = open
        .into_iter()
        .filter(|one| (one.tool.as_str(), one.session.as_str()) != (*tool, *session))
        .collect();
    let item = PendingRecord { key: own_key.clone(), open: false, weight: 0, item: () };
    let seal = |(): &(), _, link: &_| sealer.prepare(&record(home, conversation, &open, id), link, signed_at);
    let appended = writer.append(None, [item], seal)?;
    writer.write_checkpoint(None, &checkpoint_of(&path))?;
    mark(home, conversation, &writer.reader()?, &own_key)?;
    Ok(MetaRecordOutcome { recorded: appended.appended > 0, length: appended.total, head: appended.head })
}

/// Notes in the chain's own database which meta record names this state of it. One that waits for its signature is
/// noted when the conversation is recorded again.
fn mark(home: &Path, conversation: &Conversation<'_>, meta: &ChainReader, key: &str) -> Result<()> {
    let Conversation { tool, session, head_hash, count, shared } = *conversation;
    let plain = |name: &str| crate::sources::is_plain(name);
    let (path, tenant) = match shared {
        Some(shared) => (shared.db.to_owned(), Some(shared.tenant)),
        None if plain(tool) && plain(session) => (chain_path(home, tool, session), None),
        None => return Ok(()),
    };
    let Some(sequence) = meta.place_of(None, key)? else { return Ok(()) };
    let records = meta.at(None, sequence)?;
    let Some(record) = records.first().filter(|_| path.is_file()) else { return Ok(()) };
    let mark = FinalisedMark {
        meta_sequence: sequence,
        meta_hash: record.seal.hash.clone(),
        count,
        head: head_hash.to_owned(),
    };
    if ChainReader::open(&path)?.finalised(tenant)?.contains(&mark) {
        return Ok(());
    }
    ChainWriter::open(&path)?.mark_finalised(tenant, &mark)
}

fn chain_path(home: &Path, tool: &str, session: &str) -> PathBuf {
    let chains = home.join("chains");
    let (own, older) =
        (chains.join(tool).join(format!("{session}.db")), chains.join(format!("{session}.db")));
    if !own.exists() && older.exists() { older } else { own }
}

pub(super) fn key(tool: &str, session: &str, head_hash: &str) -> String {
    format!("{tool}:{session}:{head_hash}")
}

/// The key of a record that `agent-capsule` wrote.
pub(super) fn key_of(content: &ExactJson) -> Option<String> {
    let result = content.at(&["outcome", "result"])?;
    if result.text("kind") == Some(ROTATION) {
        return Some(rotation_key(result.text("old_public_key")?, result.text("new_public_key")?));
    }
    Some(key(result.text("tool")?, result.text("session_id")?, result.text("head_hash")?))
}

fn record(home: &Path, conversation: &Conversation<'_>, open: &[OpenChain], id: &str) -> ActionRecord {
    let Conversation { tool, session, head_hash, count, .. } = *conversation;
    let short: String = head_hash.chars().take(12).collect();
    meta_record(
        id,
        &format!("conversation sealed: {tool}/{session}"),
        fields! { "tool": tool, "session_id": session },
        &format!("{tool}/{session}: {count} capsules, head {short}"),
        payload(home, conversation, open),
    )
}

/// A record of the meta-chain.
pub(super) fn meta_record(
    id: &str,
    request: &str,
    environment: ExactFields,
    summary: &str,
    result: ExactFields,
) -> ActionRecord {
    ActionRecord {
        id: id.to_owned(),
        kind: "system".to_owned(),
        domain: "meta".to_owned(),
        parent_id: None,
        trigger: fields! {
            "type": "user_request",
            "source": "meta",
            "request": request,
        },
        context: fields! {
            "agent_id": "agent-capsule",
            "session_id": "meta",
            "environment": environment,
        },
        reasoning: fields! { "analysis": "", "reasoning": "", "model": "" },
        authority: fields! { "type": "autonomous", "policy_reference": "" },
        execution: fields! {
            "tool_calls": Vec::<ExactJson>::new(),
            "duration_ms": 0_i64,
            "resources_used": ExactFields::new(),
        },
        outcome: fields! {
            "status": "success",
            "summary": summary,
            "side_effects": Vec::<ExactJson>::new(),
            "result": result,
        },
    }
}

fn payload(home: &Path, conversation: &Conversation<'_>, open: &[OpenChain]) -> ExactFields {
    let mut payload = fields! {
        "kind": "conversation_seal",
        "tool": conversation.tool,
        "session_id": conversation.session,
        "head_hash": conversation.head_hash,
        "capsule_count": conversation.count,
    };
    if let Some(shared) = conversation.shared {
        payload.insert("db".to_owned(), ExactJson::from(name_of(shared.db, home)));
        payload.insert("tenant_id".to_owned(), ExactJson::from(shared.tenant));
    }
    if !open.is_empty() {
        let open = open.iter().map(OpenChain::to_json).collect();
        payload.insert("open".to_owned(), ExactJson::Array(open));
    }
    payload
}

/// The database's path in the home, or its bare name: a path of this machine is nobody else's business, and what is
/// sealed cannot be redacted later.
fn name_of(db: &Path, home: &Path) -> String {
    let (real_db, real_home) = (db.canonicalize(), home.canonicalize());
    let inside = match (&real_db, &real_home) {
        (Ok(db), Ok(home)) => db.strip_prefix(home).ok(),
        _ => db.strip_prefix(home).ok(),
    };
    inside.or(db.file_name().map(Path::new)).unwrap_or(db).to_string_lossy().into_owned()
}
