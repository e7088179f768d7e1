//! The names that existing set-ups call, with their arguments, over the same functions.

use crate::arguments::{ToolArguments, required, wrong};
use crate::context::ServerContext;
use crate::tool_context::ToolContext;
use crate::tool_entry::{ToolEffect, ToolEntry, ToolFn};
use crate::tools::publish::{PublishDraft, preview};
use crate::tools::status::{self, ListPage};
use crate::tools::{evolve, field, outcome, recall, search};
use capsid_client::envelope;
use capsid_client::node::encoded;
use capsid_engine::archive::{self, ExistingFile, ManifestInput};
use capsid_engine::exchange::{self, consent, origin, stage};
use capsid_engine::workspace::Workspace;
use capsid_model::asset::stamp;
use capsid_model::redact::{RedactProfile, redact_value};
use capsid_model::text::inert_line;
use capsid_model::{Code, Object, Problem, Result, SCHEMA_VERSION, Value, gate, json, schema};

const INTENTS: [&str; 3] = ["repair", "optimize", "innovate"];

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn object(description: &str) -> Value {
    json!({"type": "object", "description": description})
}

fn texts() -> Value {
    json!({"type": "array", "items": {"type": "string"}})
}

fn entry(
    name: &'static str,
    description: &'static str,
    effect: ToolEffect,
    properties: Value,
    work: ToolFn,
) -> ToolEntry {
    ToolEntry { name, description, effect, properties, required: &[], work }
}

/// All of them.
pub(crate) fn entries() -> Vec<ToolEntry> {
    let number = json!({"type": "number"});
    let dry_run = json!({"type": "boolean", "description": "Show what would be sent and send nothing."});
    let mut entries = vec![
        entry(
            "gep_evolve",
            "Begin a cycle from a context: same as evolve.",
            ToolEffect::Changes,
            json!({
                "context": text("Errors, logs or a request."), "intent": {"type": "string", "enum": INTENTS},
            }),
            gep_evolve,
        ),
        entry(
            "gep_recall",
            "What worked before: same as recall.",
            ToolEffect::Asks,
            json!({
                "query": text("What to look for."), "signals": texts(), "limit": number,
                "max_cost_tokens": number, "max_cost_usd": number,
            }),
            gep_recall,
        ),
        entry(
            "gep_record_outcome",
            "Record how an attempt ended: same as record_outcome.",
            ToolEffect::Adds,
            json!({
                "geneId": text("The gene, or ad_hoc."), "signals": texts(),
                "status": {"type": "string", "enum": outcome::STATUS}, "score": number, "summary": text("What was done."),
            }),
            gep_record_outcome,
        ),
        entry(
            "gep_list_genes",
            "Genes of this repository.",
            ToolEffect::Reads,
            json!({
                "category": {"type": "string", "enum": INTENTS},
            }),
            gep_list_genes,
        ),
        entry(
            "gep_install_gene",
            "Put a gene into this repository's store. One with new commands, or of somebody else, is staged for the owner.",
            ToolEffect::Adds,
            json!({
                "gene": object("The gene."),
            }),
            gep_install_gene,
        ),
        entry(
            "gep_export",
            "Write everything learned here into one archive.",
            ToolEffect::Adds,
            json!({
                "outputPath": text("Where; a file that exists is kept."), "agentName": text("Noted in the archive."),
            }),
            gep_export,
        ),
        entry(
            "gep_status",
            "Counts and the newest event: same as status.",
            ToolEffect::Reads,
            json!({}),
            gep_status,
        ),
        entry(
            "gep_protocol_info",
            "Versions of protocol and schema.",
            ToolEffect::Reads,
            json!({}),
            gep_protocol_info,
        ),
        entry(
            "gep_search_community",
            "Assets on the hub by words: same as search.",
            ToolEffect::Asks,
            json!({
                "query": text("In words."), "type": {"type": "string", "enum": ["Gene", "Capsule"]},
                "outcome": {"type": "string", "enum": outcome::STATUS}, "limit": number,
            }),
            gep_search_community,
        ),
        entry(
            "gep_publish_bundle",
            "Publish a gene and a capsule; redacted and stamped here.",
            ToolEffect::Sends,
            json!({
                "gene": object("The gene."), "capsule": object("The capsule."), "event": object("The event."),
                "chainId": text("Groups publications."), "modelName": text("Noted on each asset."), "dry_run": dry_run,
            }),
            gep_publish_bundle,
        ),
        entry(
            "gep_publish_skill",
            "Publish a gene as a skill.",
            ToolEffect::Sends,
            json!({
                "gene": object("The gene."), "category": text("Of the skill."), "tags": texts(),
                "changelog": text("With an update."), "dry_run": dry_run,
            }),
            gep_publish_skill,
        ),
        entry(
            "gep_submit_validation_report",
            "Report to the hub how a validation went here.",
            ToolEffect::Sends,
            json!({
                "report": object("A finished report, or:"), "commands": texts(),
                "results": {"type": "array", "items": {"type": "object"}}, "geneId": text("The local gene."),
                "targetAssetId": text("The asset."), "targetLocalId": text("Or its local id."), "dry_run": dry_run,
            }),
            gep_submit_validation_report,
        ),
        entry(
            "gep_revoke",
            "Withdraw an own asset or skill.",
            ToolEffect::Sends,
            json!({
                "assetId": text("sha256:..."), "localId": text("Of a skill."), "reason": text("Why."), "dry_run": dry_run,
            }),
            gep_revoke,
        ),
        entry(
            "gep_identity",
            "What the hub knows of a node.",
            ToolEffect::Asks,
            json!({
                "nodeId": text("Default: this one."), "includeAttestation": {"type": "boolean"},
            }),
            gep_identity,
        ),
        entry(
            "gep_audit",
            "What a node did, as the hub recorded it.",
            ToolEffect::Asks,
            json!({
                "nodeId": text("Default: this one."), "limit": number, "offset": number, "action": text("Only these."),
                "since": text("ISO time."), "until": text("ISO time."),
            }),
            gep_audit,
        ),
    ];
    for (name, required) in [
        ("gep_evolve", &["context"][..]),
        ("gep_recall", &["query"]),
        ("gep_record_outcome", &["geneId", "signals", "status", "score"]),
        ("gep_install_gene", &["gene"]),
        ("gep_export", &["outputPath"]),
        ("gep_search_community", &["query"]),
        ("gep_publish_bundle", &["gene", "capsule"]),
        ("gep_publish_skill", &["gene"]),
    ] {
        if let Some(entry) = entries.iter_mut().find(|entry| entry.name == name) {
            entry.required = required;
        }
    }
    entries
}

/// The arguments of one of our own tools.
fn arguments(value: Value) -> ToolArguments {
    let members = match value {
        Value::Object(members) => members,
        _ => Object::new(),
    };
    ToolArguments(members.into_iter().filter(|(_, value)| !value.is_null()).collect())
}

fn gep_evolve(server: &ServerContext, job: &ToolContext, input: &ToolArguments) -> Result<Value> {
    let context = required(input.text("context")?, "context")?;
    let strategy = match input.name("intent")? {
        None => None,
        Some(_) => Some(match input.word("intent", &INTENTS)? {
            "repair" => "repair-only",
            "innovate" => "innovate",
            _ => "harden",
        }),
    };
    evolve::run(server, job, &arguments(json!({"text": context, "strategy": strategy})))
}

fn gep_recall(server: &ServerContext, job: &ToolContext, input: &ToolArguments) -> Result<Value> {
    required(input.text("query")?, "query")?;
    let mut input = input.clone();
    // What a solution cost is not recorded here, and what is not known does not rule it out.
    input.0.retain(|name, _| !name.starts_with("max_cost"));
    input.0.entry("limit").or_insert_with(|| 10.into());
    recall::run(server, job, &input)
}

fn gep_record_outcome(server: &ServerContext, job: &ToolContext, input: &ToolArguments) -> Result<Value> {
    required(input.name("geneId")?, "geneId")?;
    let mut input = input.clone();
    if let Some(gene) = input.0.shift_remove("geneId") {
        input.0.insert("gene".to_owned(), gene);
    }
    outcome::run(server, job, &input)
}

fn gep_list_genes(server: &ServerContext, job: &ToolContext, input: &ToolArguments) -> Result<Value> {
    let category = match input.name("category")? {
        Some(_) => Some(input.word("category", &INTENTS)?),
        None => None,
    };
    job.step("reading the store")?;
    status::genes(&server.store()?, category, ListPage { limit: 200, offset: 0 })
}

/// A gene of the agent's own choice. It is checked as one that comes from elsewhere: its commands must pass the gate, and
/// where it is somebody else's or brings a command that the owner never named, it is staged for the owner to promote.
fn gep_install_gene(server: &ServerContext, job: &ToolContext, input: &ToolArguments) -> Result<Value> {
    let mut gene = required(input.object("gene")?, "gene")?.clone();
    gene.entry("type").or_insert_with(|| "Gene".into());
    gene.entry("schema_version").or_insert_with(|| SCHEMA_VERSION.into());
    let workspace = server.store()?;
    let id = field(&gene, "id").to_owned();
    if field(&gene, "type") != "Gene" || id.trim().is_empty() {
        return Err(wrong("gene", "a Gene with an `id`", "something else"));
    }
    let is_foreign = origin::source(&gene).is_some() || is_staged(&workspace, field(&gene, "asset_id"))?;
    stamp(&mut gene);
    let findings = schema::check(&gene.clone().into());
    if let Some(error) = findings.iter().find(|finding| finding.severity == schema::SchemaSeverity::Error) {
        return Err(Problem::new(
            Code::SchemaViolation,
            format!("The gene breaks the schema: {}.", inert_line(&error.to_string())),
        ));
    }
    let policy = workspace.config.gate();
    for command in
        gene.get("validation").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    {
        if let Err(reason) = gate::check(command, &policy) {
            return Err(Problem::new(
                Code::CommandRefused,
                format!("`{}` may not run here: {reason}", inert_line(command)),
            )
            .fix("Use node, npm or npx on a file, or allow the program in capsid.toml."));
        }
    }
    job.step("storing the gene")?;
    if is_foreign || !consent::unknown_commands(&workspace, &gene)?.is_empty() {
        return stage_gene(&workspace, &gene);
    }
    let _lock = workspace.lock()?;
    if workspace.store.genes.find(&id)?.is_some() {
        return Err(Problem::new(
            Code::ChangeRefused,
            format!("A gene named `{}` is there already.", inert_line(&id)),
        )
        .fix("Give it another id."));
    }
    workspace.store.genes.upsert(&gene)?;
    Ok(json!({"ok": true, "id": id, "asset_id": gene.get("asset_id")}))
}

fn is_staged(workspace: &Workspace, asset_id: &str) -> Result<bool> {
    let came_as = |asset: &Object| {
        field(asset, "asset_id") == asset_id || origin::a2a(asset, "received_asset_id") == Some(asset_id)
    };
    Ok(!asset_id.is_empty() && stage::staged(workspace)?.iter().any(came_as))
}

fn stage_gene(workspace: &Workspace, gene: &Object) -> Result<Value> {
    let outcome = stage::stage_texts(workspace, &[Value::from(gene.clone()).to_string()], "agent")?;
    if let Some(problem) = outcome.refused.into_iter().next() {
        return Err(problem);
    }
    Ok(json!({
        "ok": true, "staged": true, "id": gene.get("id"), "asset_id": gene.get("asset_id"),
        "next": "It is not used yet. The owner of the repository looks at it and runs `capsid node promote`.",
    }))
}

fn gep_export(server: &ServerContext, job: &ToolContext, input: &ToolArguments) -> Result<Value> {
    let workspace = server.store()?;
    let path = server.path(&workspace, required(input.name("outputPath")?, "outputPath")?)?;
    let manifest = ManifestInput {
        agent_id: String::new(),
        agent_name: input.name("agentName")?.unwrap_or_default().to_owned(),
        platform: "capsid".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        now: workspace.now(),
    };
    job.step("writing the archive")?;
    drop(workspace.lock()?);
    let paths = &workspace.paths;
    let report = archive::export(
        &workspace.store,
        &paths.evolution,
        &paths.memory,
        &path,
        &manifest,
        ExistingFile::Keep,
    )?;
    Ok(
        json!({"ok": true, "path": report.path.display().to_string(), "files": report.files, "manifest": report.manifest}),
    )
}

fn gep_status(server: &ServerContext, job: &ToolContext, input: &ToolArguments) -> Result<Value> {
    status::run(server, job, input)
}

fn gep_protocol_info(_place: &ServerContext, _job: &ToolContext, _given: &ToolArguments) -> Result<Value> {
    Ok(json!({
        "protocol": envelope::PROTOCOL, "protocol_version": envelope::VERSION, "schema_version": SCHEMA_VERSION,
        "message_types": envelope::KINDS, "server": {"name": "capsid", "version": env!("CARGO_PKG_VERSION")},
    }))
}

fn gep_search_community(server: &ServerContext, job: &ToolContext, input: &ToolArguments) -> Result<Value> {
    let query = required(input.text("query")?, "query")?.trim();
    if query.chars().count() < 2 {
        return Err(wrong("query", "at least two characters", "less"));
    }
    let kind = input.name("type")?.map(|_| input.word("type", &["Gene", "Capsule"])).transpose()?;
    let ended = input.name("outcome")?.map(|_| input.word("outcome", &outcome::STATUS)).transpose()?;
    let limit = input.count("limit", 10, 50)?.to_string();
    let node = server.node()?;
    job.step("asking the hub")?;
    search::by_words(&node, query, &[("type", kind), ("outcome", ended)], &limit)
}

/// An asset as it may leave: redacted, complete, stamped over what is left.
fn ready(asset: &Object, kind: &str, input: &ToolArguments) -> Result<Object> {
    let mut value = Value::Object(asset.clone());
    redact_value(&mut value, RedactProfile::Publish);
    let Value::Object(mut asset) = value else { return Ok(Object::new()) };
    asset.entry("type").or_insert_with(|| kind.into());
    asset.entry("schema_version").or_insert_with(|| SCHEMA_VERSION.into());
    for (from, to) in [("modelName", "model_name"), ("chainId", "chain_id")] {
        if let Some(name) = input.name(from)? {
            asset.entry(to).or_insert_with(|| name.into());
        }
    }
    if field(&asset, "type") != kind {
        return Err(wrong(&kind.to_lowercase(), &format!("an asset of type {kind}"), "of another type"));
    }
    stamp(&mut asset);
    Ok(asset)
}

fn gep_publish_bundle(server: &ServerContext, job: &ToolContext, input: &ToolArguments) -> Result<Value> {
    let mut assets = vec![
        ready(required(input.object("gene")?, "gene")?, "Gene", input)?,
        ready(required(input.object("capsule")?, "capsule")?, "Capsule", input)?,
    ];
    if let Some(event) = input.object("event")? {
        assets.push(ready(event, "EvolutionEvent", input)?);
    }
    let node = server.node()?;
    if is_preview(server, input)? {
        return Ok(json!({"dry_run": true, "hub": node.hub_url(), "would_send": assets,
            "next": "Call it again with dry_run false to send this."}));
    }
    job.step("publishing")?;
    Ok(json!({"ok": true, "answer": exchange::publish::send(&node, &assets)?}))
}

/// Publishing is the owner's choice: if `[hub] publish` does not allow it, the call must request it.
fn is_preview(server: &ServerContext, input: &ToolArguments) -> Result<bool> {
    let allowed = server.workspace().is_ok_and(|workspace| workspace.config.hub.publish);
    Ok(input.choice("dry_run")?.unwrap_or(!allowed))
}

/// Sends a draft, or shows it.
fn sent(
    server: &ServerContext,
    job: &ToolContext,
    input: &ToolArguments,
    draft: PublishDraft,
) -> Result<Value> {
    let node = server.node()?;
    if input.flag("dry_run")? {
        return Ok(preview(&node, &draft));
    }
    job.step("asking the hub")?;
    Ok(json!({"ok": true, "answer": draft.send(&node)?}))
}

fn gep_publish_skill(server: &ServerContext, job: &ToolContext, input: &ToolArguments) -> Result<Value> {
    let gene = required(input.object("gene")?, "gene")?;
    let tags = match input.list("tags")? {
        tags if tags.is_empty() => gene.get("signals_match").cloned().unwrap_or_else(|| json!([])),
        tags => tags.into(),
    };
    let node_id = server.node()?.id().to_owned();
    let body = json!({
        "node_id": node_id, "skill_id": skill_id(gene), "content": skill_text(gene),
        "category": input.name("category")?.unwrap_or(field(gene, "category")), "tags": tags,
        "changelog": input.text("changelog")?,
    });
    let draft = PublishDraft::call("/a2a/skill/store/publish", body);
    if is_preview(server, input)? {
        return Ok(preview(&server.node()?, &draft));
    }
    sent(server, job, input, draft)
}

fn skill_id(gene: &Object) -> String {
    let plain: String = field(gene, "id")
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '-' })
        .collect();
    format!("skill_{}", plain.trim_start_matches("gene_"))
}

/// A gene as a page that an agent can follow.
fn skill_text(gene: &Object) -> String {
    let list = |name: &str| -> Vec<String> {
        let items = gene.get(name).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).map(|item| format!("- {}", inert_line(item))).collect()
    };
    let summary = inert_line(field(gene, "summary"));
    let name = skill_id(gene);
    let mut text = format!(
        "---\nname: {name}\ndescription: {}\n---\n\n# {name}\n",
        serde_json::to_string(&summary).unwrap_or_default()
    );
    for (title, member) in [("When", "signals_match"), ("Steps", "strategy"), ("Validation", "validation")] {
        let lines = list(member);
        if !lines.is_empty() {
            text.push_str(&format!("\n## {title}\n\n{}\n", lines.join("\n")));
        }
    }
    text
}

fn gep_submit_validation_report(
    server: &ServerContext,
    job: &ToolContext,
    input: &ToolArguments,
) -> Result<Value> {
    let report = match input.object("report")? {
        Some(report) => report.clone().into(),
        None => report_of(input)?,
    };
    let target = input.name("targetAssetId")?;
    let local = input.name("targetLocalId")?;
    if target.is_none() && local.is_none() {
        required::<()>(None, "targetAssetId")?;
    }
    if let Some(target) = target.filter(|_| !input.flag("dry_run").unwrap_or_default()) {
        job.step("asking the hub")?;
        return Ok(json!({"ok": true, "answer": server.node()?.report_tried(target, &report)?}));
    }
    let body = json!({"target_asset_id": target, "target_local_id": local, "validation_report": report});
    sent(server, job, input, PublishDraft::message("report", body))
}

fn report_of(input: &ToolArguments) -> Result<Value> {
    let commands = input.list("commands")?;
    let results = input.0.get("results").and_then(Value::as_array).cloned().unwrap_or_default();
    if commands.is_empty() || results.len() != commands.len() {
        return Err(wrong(
            "results",
            "one result for each of `commands`",
            &format!("{} for {}", results.len(), commands.len()),
        ));
    }
    let ok = results.iter().all(|result| result.get("ok") == Some(&Value::Bool(true)));
    let lines: Vec<Value> = commands
        .iter()
        .zip(&results)
        .map(|(command, result)| {
            let mut line = result.as_object().cloned().unwrap_or_default();
            line.insert("command".to_owned(), command.as_str().into());
            line.into()
        })
        .collect();
    Ok(json!({
        "type": "ValidationReport", "schema_version": SCHEMA_VERSION, "gene_id": input.name("geneId")?,
        "commands": lines, "overall_ok": ok,
    }))
}

fn gep_revoke(server: &ServerContext, job: &ToolContext, input: &ToolArguments) -> Result<Value> {
    let (asset, local, reason) = (input.name("assetId")?, input.name("localId")?, input.text("reason")?);
    let draft = match (asset, local) {
        (Some(asset), _) => {
            PublishDraft::message("revoke", json!({"target_asset_id": asset, "reason": reason}))
        }
        (None, Some(skill)) if skill.starts_with("skill_") => {
            let node_id = server.node()?.id().to_owned();
            PublishDraft::call(
                "/a2a/skill/store/delete",
                json!({"node_id": node_id, "skill_id": skill, "reason": reason}),
            )
        }
        (None, Some(local)) => {
            PublishDraft::message("revoke", json!({"target_local_id": local, "reason": reason}))
        }
        (None, None) => return required(None, "assetId"),
    };
    sent(server, job, input, draft)
}

fn gep_identity(server: &ServerContext, job: &ToolContext, input: &ToolArguments) -> Result<Value> {
    input.flag("includeAttestation")?;
    let node = server.node()?;
    let id = input.name("nodeId")?.unwrap_or(node.id());
    job.step("asking the hub")?;
    node.get(&format!("/a2a/nodes/{}", encoded(id)), &[])
}

fn gep_audit(server: &ServerContext, job: &ToolContext, input: &ToolArguments) -> Result<Value> {
    let node = server.node()?;
    let id = input.name("nodeId")?.unwrap_or(node.id());
    let numbers = [("limit", input.count("limit", 50, 100)?), ("offset", input.count("offset", 0, 100_000)?)];
    let numbers = numbers.map(|(name, number)| (name, number.to_string()));
    let mut query: Vec<(&str, &str)> =
        numbers.iter().map(|(name, number)| (*name, number.as_str())).collect();
    for name in ["action", "since", "until"] {
        query.extend(input.name(name)?.map(|value| (name, value)));
    }
    job.step("asking the hub")?;
    node.get(&format!("/a2a/nodes/{}/activity", encoded(id)), &query)
}
