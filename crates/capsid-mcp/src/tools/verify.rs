//! `verify`: whether records are what they say they are.

use super::field;
use crate::arguments::{ToolArguments, required};
use crate::context::ServerContext;
use crate::tool_context::ToolContext;
use capsid_engine::sealed_log::proof::prove;
use capsid_engine::workspace::Workspace;
use capsid_model::asset::{self, IdVerdict};
use capsid_model::{Code, Object, Problem, Result, Value, json};
use capsid_seal::TrailHome;
use capsid_seal::evidence::CollectOptions;
use capsid_seal::sources::open_any;
use capsid_seal::verdict::VerdictLevel;
use capsid_signer::home_evidence::{JudgedTrail, judge_elsewhere, judge_home};
use capsid_signer::layout::SignerLayout;

/// What can be verified.
pub const WHAT: [&str; 4] = ["events", "store", "asset", "trail"];

/// The most chains that are listed one by one.
const TOLD: usize = 50;

/// Does it.
pub fn run(server: &ServerContext, job: &ToolContext, arguments: &ToolArguments) -> Result<Value> {
    match arguments.word("what", &WHAT)? {
        "asset" => one_asset(server, arguments),
        "store" => {
            job.step("hashing every asset")?;
            verify_store(&server.store()?)
        }
        "trail" => {
            job.step("verifying the trail")?;
            trail(server, arguments.name("path")?)
        }
        _ => {
            job.step("comparing the log with its chain")?;
            events(&server.store()?)
        }
    }
}

fn one_asset(server: &ServerContext, arguments: &ToolArguments) -> Result<Value> {
    if let Some(asset) = arguments.object("asset")? {
        return Ok(verdict(asset));
    }
    let id = required(arguments.name("id")?, "id")?;
    let workspace = server.store()?;
    let store = &workspace.store;
    let stored = [&store.genes, &store.capsules, &store.failed];
    let mut document = None;
    for collection in stored {
        document = document.or(collection.find(id)?);
    }
    let document = match document {
        None => store.events.find(id)?,
        document => document,
    };
    let document = document.ok_or_else(|| {
        Problem::new(Code::NotFound, format!("No record is named `{id}`.")).fix("`status` lists them all.")
    })?;
    Ok(verdict(&document))
}

fn verdict(document: &Object) -> Value {
    let checked = asset::verify(document);
    let mut value =
        json!({"valid": checked.holds(), "id": field(document, "id"), "type": field(document, "type")});
    match checked {
        IdVerdict::Verified => value["asset_id"] = field(document, "asset_id").into(),
        IdVerdict::VerifiedLegacy => {
            value["asset_id"] = field(document, "asset_id").into();
            value["note"] = "Hashed with a member that was never written, as an older engine did.".into();
        }
        IdVerdict::Mismatch { stored, computed } => {
            value["code"] = Code::AssetIdMismatch.as_str().into();
            value["stored"] = stored.into();
            value["computed"] = computed.into();
        }
        IdVerdict::Missing { computed } => {
            value["code"] = Code::AssetIdMissing.as_str().into();
            value["computed"] = computed.into();
        }
        IdVerdict::NotAnObject => value["code"] = Code::InputInvalid.as_str().into(),
    }
    value
}

fn verify_store(workspace: &Workspace) -> Result<Value> {
    let store = &workspace.store;
    let (mut total, mut bad) = (0_u64, Vec::new());
    for collection in [&store.genes, &store.capsules, &store.failed] {
        for document in collection.documents()? {
            total += 1;
            let response = verdict(&document);
            if response["valid"] != true {
                bad.push(response);
            }
        }
    }
    Ok(json!({"valid": bad.is_empty(), "total": total, "verified": total - bad.len() as u64, "bad": bad}))
}

fn events(workspace: &Workspace) -> Result<Value> {
    let proof = prove(workspace)?;
    let difference = proof.log.as_ref().and_then(|log| log.difference.as_ref());
    let failure = proof.chain.as_ref().and_then(|chain| chain.failure.as_ref());
    Ok(json!({
        "valid": proof.holds(),
        "verified": proof.log.as_ref().map_or(0, |log| log.intact),
        "unsealed": proof.log.as_ref().map_or(0, |log| log.unsealed),
        "broken_at": difference.map(|difference| difference.line),
        "change": proof.loss.as_ref().map(|loss| loss.kind.name()).or(difference.map(|difference| difference.kind.name())),
        "error": failure.map(|failure| failure.message.clone()),
        "accepted": proof.accepted.len(),
        "sealed": proof.chain.is_some(),
        "chain": {"session": proof.session, "length": proof.chain.as_ref().map(|chain| chain.length), "head": proof.chain.as_ref().and_then(|chain| chain.head.clone())},
    }))
}

fn trail(server: &ServerContext, named: Option<&str>) -> Result<Value> {
    let home = TrailHome::find(None, &*server.env)?;
    let (trust, options) = (SignerLayout::system().trust, CollectOptions::default());
    let judged = match named {
        Some(named) => {
            let sources = open_any(&server.path(&server.workspace()?, named)?)?;
            judge_elsewhere(&trust, &home, &sources, &options)?
        }
        None => judge_home(&trust, &home, &options)?,
    };
    Ok(to_json(&judged))
}

fn to_json(JudgedTrail { found, verdict }: &JudgedTrail) -> Value {
    let (mut chains, mut records) = (Vec::new(), 0);
    for chain in &found.chains {
        let verified = chain.records.as_ref().map_or(0, |one| one.verified);
        records += verified;
        let judged = verdict.chains.iter().find(|one| one.name == chain.name);
        let is_valid = judged.is_some_and(|one| one.level.is_good());
        let worst =
            judged.and_then(|one| verdict.findings_about(&chain.name).find(|found| found.level == one.level));
        if chains.len() < TOLD || !is_valid {
            chains.push(json!({
                "chain": chain.source.label, "valid": is_valid, "verified": verified,
                "level": judged.map(|one| one.level.as_str()),
                "broken_at": judged.and_then(|one| one.broken_at),
                "error": worst.filter(|_| !is_valid).map(|one| one.message.clone()),
                "head": chain.records.as_ref().and_then(|one| one.head.clone()),
            }));
        }
    }
    let findings: Vec<Value> = verdict
        .findings
        .iter()
        .filter(|one| one.level != VerdictLevel::Valid)
        .take(TOLD)
        .map(|one| json!(one))
        .collect();
    json!({
        "valid": verdict.level.is_good(), "level": verdict.level.as_str(), "records": records, "chains": chains,
        "findings": findings,
    })
}
