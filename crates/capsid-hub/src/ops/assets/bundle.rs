//! Reading a bundle: which assets there are, whether their ids hold, and what each has to be.

use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::object_reader::{ObjectReader, kind_of};
use capsid_model::asset;
use capsid_model::gate::{self, CommandPolicy};
use capsid_model::{Object, Value};
use capsid_rules::assets::admission::{initial_status, quality_faults};
use capsid_rules::assets::bundle::bundle_id;
use capsid_rules::assets::fill_ids::fill_ids;
use capsid_rules::assets::reproduction::{CapsuleReproduction, ReproductionRefusal};
use capsid_rules::assets::safety::{SafetyScan, SafetyVerdict, scan_asset};
use capsid_rules::assets::similarity::{sketch, text_of};
use capsid_rules::assets::sizes::{Oversize, oversize};
use capsid_rules::assets::traits;
use capsid_rules::assets::traits::{CATEGORIES, SUMMARY_LIMIT, id_holds, strings, text};
use capsid_rules::evaluation::proof;
use capsid_rules::evaluation::proof::{CommandProof, ProofLevel};
use capsid_rules::lifecycle::AssetType;
use capsid_store::assets::id::AssetId;
use capsid_store::assets::new::NewAsset;
use capsid_store::registry::publish::NewBundle;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use utoipa::ToSchema;

/// What an evolution event may be meant for.
pub const INTENTS: [&str; 4] = ["repair", "optimize", "innovate", "explore"];
/// The longest content or diff, in characters.
const CONTENT_LIMIT: usize = 8000;
/// The most signals of an asset.
const SIGNALS_LIMIT: usize = 50;
/// The most steps of a strategy and the most validation commands.
const STEPS_LIMIT: usize = 100;

/// The payload of a publish or a validate.
#[derive(Debug, Deserialize)]
pub struct PublishRequest<'a> {
    #[serde(borrow)]
    assets: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    asset: Option<&'a RawValue>,
    /// Over the ids of gene and capsule, made with the node's secret.
    pub signature: Option<String>,
    /// Over the same, made with the node's public key.
    pub public_key_signature: Option<String>,
    chain_id: Option<String>,
}

/// A bundle that was read, and what there is to say about it.
#[derive(Debug, Clone)]
pub struct CheckedBundle {
    /// What is to be kept.
    pub bundle: NewBundle,
    /// What the publisher should know.
    pub warnings: Vec<PublishWarning>,
    /// Why the quality gate does not let it pass.
    pub faults: Vec<String>,
}

/// What a publisher should know about a bundle that is taken all the same.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PublishWarning {
    pub code: Cow<'static, str>,
    /// The text that it is about, such as `payload.assets[0].summary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub place: Option<String>,
    /// The asset that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub similar_to: Option<AssetId>,
    /// How much it is like that asset, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = f64, required = false)]
    pub likeness: Option<f64>,
    pub text: String,
}

/// The code of a warning about a text that looks dangerous.
pub const SAFETY_WARNING: &str = "content_safety_warning";

impl PublishWarning {
    pub fn new(code: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        Self { code: code.into(), place: None, similar_to: None, likeness: None, text: text.into() }
    }
}

/// One asset of a bundle, with its id verified.
struct BundlePart<'a> {
    asset_type: AssetType,
    object: Object,
    id: AssetId,
    /// As it was sent, or as it was hashed where its client left out a part of that.
    body: Cow<'a, str>,
    path: String,
}

/// How the id that an asset claims compares with its content.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AssetIdCheck {
    #[serde(rename = "type")]
    asset_type: String,
    /// The id of its content.
    computed_asset_id: String,
    /// The id that it claims.
    #[schema(required)]
    claimed_asset_id: Option<String>,
    /// Whether they are the same, in one of the forms in use.
    #[serde(rename = "match")]
    matches: bool,
}

/// Compares the ids of all assets in a payload, for a dry run.
pub fn check_ids(payload: &PublishRequest<'_>) -> ApiResult<Vec<AssetIdCheck>> {
    raw_assets(payload)?
        .iter()
        .enumerate()
        .map(|(at, raw)| {
            let object = object(raw, at)?;
            let claimed = object.get(asset::ASSET_ID).and_then(Value::as_str).map(str::to_owned);
            let matches = claimed.as_deref().is_some_and(|claimed| id_holds(raw.get(), &object, claimed));
            let asset_type = object.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
            Ok(AssetIdCheck {
                asset_type,
                computed_asset_id: asset::asset_id(&object),
                claimed_asset_id: claimed,
                matches,
            })
        })
        .collect()
}

/// The assets of a payload with their ids and links filled in; nothing where every id is right already.
pub fn filled_assets(
    payload: &PublishRequest<'_>,
    checks: &[AssetIdCheck],
) -> ApiResult<Option<Vec<Object>>> {
    if checks.iter().all(|check| check.matches) {
        return Ok(None);
    }
    let objects = raw_assets(payload)?.iter().enumerate().map(|(at, raw)| object(raw, at));
    let mut objects = objects.collect::<ApiResult<Vec<Object>>>()?;
    fill_ids(&mut objects);
    Ok(Some(objects))
}

impl AssetIdCheck {
    /// Whether the asset has an id at all.
    pub fn has_claim(&self) -> bool {
        self.claimed_asset_id.is_some()
    }

    /// The same for an asset that came without an id, which the hub filled in.
    pub fn without_claim(self) -> Self {
        Self { claimed_asset_id: None, matches: false, ..self }
    }
}

/// Reads a bundle and checks all that can be checked without the database.
pub fn check_bundle(
    payload: &PublishRequest<'_>,
    policy: &CommandPolicy,
    asset_bytes: i64,
    receipt_id: String,
) -> ApiResult<CheckedBundle> {
    let [gene, capsule, event] = sort(payload, asset_bytes)?;
    let (gene, capsule) = (gene.ok_or_else(bundle_required)?, capsule.ok_or_else(bundle_required)?);
    check_gene(&gene, policy)?;
    check_capsule(&capsule)?;
    check_reproduction(&capsule, policy)?;
    if let Some(event) = &event {
        check_event(event)?;
    }
    check_links(&gene, &capsule, event.as_ref())?;
    let chain = payload.chain_id.clone().or_else(|| text(&capsule.object, "chain_id"));
    let parts: Vec<&BundlePart<'_>> =
        [Some(&gene), Some(&capsule), event.as_ref()].into_iter().flatten().collect();
    let found: Vec<SafetyScan> = parts.iter().map(|part| scan_asset(&part.object)).collect();
    let verdicts = found.iter().map(SafetyScan::verdict).collect::<Vec<_>>();
    let verdict = |at: usize| verdicts.get(at).copied().unwrap_or(SafetyVerdict::Clean);
    let faults = quality_faults(&capsule.object);
    let (status, reason) = initial_status(&gene.object, &faults, &found);
    let (evidence, findings) = proof::proof(&strings(&gene.object, "validation"));
    let paths: Vec<&str> = parts.iter().map(|part| part.path.as_str()).collect();
    let warnings = warn(&found, &paths, evidence, &findings, event.is_some());
    let bundle = NewBundle {
        bundle_id: bundle_id(&gene.id.to_string(), &capsule.id.to_string()),
        sketch: sketch(&text_of(
            &text(&capsule.object, "summary").unwrap_or_default(),
            &content(&capsule.object),
            &strings(&gene.object, "strategy"),
        )),
        gene: new_asset(&gene, None, evidence, event.is_some(), None, verdict(0)),
        capsule: new_asset(&capsule, Some(&gene), evidence, event.is_some(), chain.clone(), verdict(1)),
        event: event.as_ref().map(|part| new_asset(part, None, ProofLevel::Absent, true, chain, verdict(2))),
        status,
        reason: reason.map(str::to_owned),
        gene_held: verdict(0) == SafetyVerdict::Quarantine,
        receipt_id,
    };
    Ok(CheckedBundle { bundle, warnings, faults })
}

/// What the publisher should know about texts, validation and parts of a bundle.
fn warn(
    scans: &[SafetyScan],
    paths: &[&str],
    evidence: ProofLevel,
    findings: &[CommandProof],
    has_event: bool,
) -> Vec<PublishWarning> {
    let found = scans.iter().zip(paths).flat_map(|(scan, path)| {
        scan.findings.iter().map(move |finding| PublishWarning {
            place: Some(format!("{path}.{}", finding.place)),
            ..PublishWarning::new(SAFETY_WARNING, finding.text.clone())
        })
    });
    let mut warnings: Vec<PublishWarning> = found.collect();
    if evidence != ProofLevel::Real {
        let text = match findings.first() {
            Some(finding) => format!("{}: {}", finding.command, finding.why),
            None => "The gene has no validation, so nothing shows that it works.".to_owned(),
        };
        warnings.push(PublishWarning::new(format!("validation_{}", evidence.as_str()), text));
    }
    if !has_event {
        let text = "A bundle with an EvolutionEvent scores higher.";
        warnings.push(PublishWarning::new("evolution_event_missing", text));
    }
    warnings
}

fn raw_assets<'p>(payload: &'p PublishRequest<'_>) -> ApiResult<&'p [&'p RawValue]> {
    match &payload.assets {
        Some(assets) if assets.len() <= 3 && payload.asset.is_none() => Ok(assets),
        _ => Err(bundle_required()),
    }
}

fn bundle_required() -> ApiError {
    ApiError::new(
        HubCode::BundleRequired,
        "Gene and Capsule have to be published together: `payload.assets` must hold exactly one of each, and at most \
         one EvolutionEvent.",
        "Send `payload.assets = [Gene, Capsule]` or `[Gene, Capsule, EvolutionEvent]` instead of `payload.asset`.",
    )
}

fn object(raw: &RawValue, at: usize) -> ApiResult<Object> {
    crate::http::json::read(raw.get(), &format!("payload.assets[{at}]"))
}

/// Finds gene, capsule and event, in whatever order they came, and verifies their ids.
fn sort<'p>(payload: &'p PublishRequest<'_>, asset_bytes: i64) -> ApiResult<[Option<BundlePart<'p>>; 3]> {
    let mut sorted = [None, None, None];
    for (at, raw) in raw_assets(payload)?.iter().enumerate() {
        let object = object(raw, at)?;
        let path = format!("payload.assets[{at}]");
        let kind = ObjectReader::new(&object, &path).required_text("type", 1, 40)?;
        let asset_type = AssetType::parse(kind).ok_or_else(|| {
            ApiError::field(format!("{path}.type"), "`Gene`, `Capsule` or `EvolutionEvent`", "another word")
        })?;
        let slot = match asset_type {
            AssetType::Gene => &mut sorted[0],
            AssetType::Capsule => &mut sorted[1],
            AssetType::EvolutionEvent => &mut sorted[2],
        };
        if slot.is_some() {
            return Err(bundle_required());
        }
        let id = verify(raw.get(), &object, &path)?;
        check_sizes(&path, raw.get(), &object, asset_bytes)?;
        let body = asset::restored(raw.get()).map_or(Cow::Borrowed(raw.get()), Cow::Owned);
        *slot = Some(BundlePart { asset_type, object, id, body, path });
    }
    Ok(sorted)
}

/// Refuses an asset that is larger than this hub takes.
fn check_sizes(path: &str, body: &str, object: &Object, most: i64) -> ApiResult<()> {
    let Some(Oversize { what, bytes, limit }) = oversize(body, object, most) else { return Ok(()) };
    Err(ApiError::new(
        HubCode::PayloadTooLarge,
        format!("`{path}` is too large: {what} may have {limit} bytes here, and has {bytes}."),
        "Leave out what others do not need, or split the change.",
    )
    .with("path", path)
    .with("limit_bytes", limit)
    .with("bytes", bytes))
}

fn verify(text: &str, object: &Object, path: &str) -> ApiResult<AssetId> {
    let claimed = object.get(asset::ASSET_ID).and_then(Value::as_str).unwrap_or_default();
    let id = AssetId::parse(claimed);
    match id {
        Some(id) if id_holds(text, object, claimed) => Ok(id),
        _ => Err(ApiError::new(
            HubCode::AssetIdMismatch,
            format!("asset_id mismatch: the id in `{path}.asset_id` is not the hash of the asset."),
            "Compute it for each asset as sha256(canonical_json(asset without asset_id)), with keys sorted at every \
             level, and write it as `sha256:` and 64 lower-case hexadecimal digits. Numbers are hashed as JavaScript \
             writes them: `1.0` as `1`, `1e3` as `1000`. POST /a2a/validate answers with the ids filled in.",
        )
        .with("path", format!("{path}.asset_id"))
        .with("claimed_asset_id", capsid_model::text::cut(claimed, 100))
        .with("computed_asset_id", asset::asset_id(object))),
    }
}

fn check_gene(gene: &BundlePart<'_>, policy: &CommandPolicy) -> ApiResult<()> {
    let fields = ObjectReader::new(&gene.object, &gene.path);
    fields.required_word("category", &CATEGORIES)?;
    fields.signals("signals_match", SIGNALS_LIMIT)?;
    fields.text("id", 0, 200)?;
    let strategy = fields.texts("strategy", STEPS_LIMIT, SUMMARY_LIMIT)?;
    // A gene that today's clients distil has no summary; its name and its steps tell as much.
    if gene.object.contains_key("summary") || strategy.is_empty() || !gene.object.contains_key("id") {
        fields.required_text("summary", 10, SUMMARY_LIMIT)?;
    }
    for (at, command) in fields.texts("validation", STEPS_LIMIT, 4096)?.iter().enumerate() {
        let refused = |why: &str, rule: &str| {
            ApiError::new(
                HubCode::ValidationCommandRejected,
                format!("{}.validation[{at}] is refused: {why}", gene.path),
                "Use a plain `node`, `npm` or `npx` command; GET /a2a/policy tells what this hub allows.",
            )
            .with("rule", rule)
        };
        let argv = gate::check(command, policy)
            .map_err(|refusal| refused(&refusal.message, refusal.code.as_str()))?;
        if is_outside_repository(&argv) {
            return Err(refused("The script lies outside the repository.", "path_outside"));
        }
    }
    common(&fields)
}

/// Whether the script of a command is named by an absolute path or by one that climbs up.
fn is_outside_repository(argv: &[String]) -> bool {
    let script = argv.iter().skip(1).find(|word| !word.starts_with('-'));
    script.is_some_and(|script| script.starts_with('/') || script.split(['/', '\\']).any(|part| part == ".."))
}

/// A reproduction that comes with a capsule must be one that validators can use.
fn check_reproduction(capsule: &BundlePart<'_>, policy: &CommandPolicy) -> ApiResult<()> {
    let Some(value) = capsule.object.get("reproduction").filter(|value| !value.is_null()) else {
        return Ok(());
    };
    let path = format!("{}.reproduction", capsule.path);
    let reproduction = CapsuleReproduction::parse(value).map_err(|refusal| {
        let received = match &refusal {
            ReproductionRefusal::Shape => kind_of(value).to_owned(),
            ReproductionRefusal::Path(path) => format!("`{path}`"),
            ReproductionRefusal::TooManyFiles(count) => format!("{count} files"),
            ReproductionRefusal::TooLarge(bytes) => format!("{bytes} bytes"),
        };
        ApiError::field(path.clone(), refusal.to_string(), received)
    })?;
    gate::check(&reproduction.command, policy).map(drop).map_err(|refusal| {
        ApiError::new(
            HubCode::ValidationCommandRejected,
            format!("The command of the reproduction is refused: {}", refusal.message),
            "Use a command that the hub's policy allows.",
        )
    })
}

fn check_capsule(capsule: &BundlePart<'_>) -> ApiResult<()> {
    let fields = ObjectReader::new(&capsule.object, &capsule.path);
    fields.signals("trigger", SIGNALS_LIMIT)?;
    fields.required_text("summary", 20, SUMMARY_LIMIT)?;
    fields.required_number("confidence", 0.0, 1.0)?;
    let blast = fields.required_object("blast_radius")?;
    blast.required_number("files", 0.0, 1e9)?;
    blast.required_number("lines", 0.0, 1e9)?;
    outcome(&fields)?;
    fields.required_object("env_fingerprint")?;
    fields.number("success_streak", 0.0, 1e9)?;
    for key in ["content", "diff", "code_snippet"] {
        fields.text(key, 0, CONTENT_LIMIT)?;
    }
    fields.text("gene", 0, 200)?;
    fields.text("id", 0, 200)?;
    fields.text("chain_id", 0, 200)?;
    common(&fields)
}

fn check_event(event: &BundlePart<'_>) -> ApiResult<()> {
    let fields = ObjectReader::new(&event.object, &event.path);
    fields.required_word("intent", &INTENTS)?;
    outcome(&fields)?;
    fields.text("id", 0, 200)?;
    fields.text("capsule_id", 0, 200)?;
    fields.texts("genes_used", 100, 200)?;
    fields.number("mutations_tried", 0.0, 1e9)?;
    fields.number("total_cycles", 0.0, 1e9)?;
    common(&fields)
}

fn outcome(fields: &ObjectReader<'_>) -> ApiResult<()> {
    let outcome = fields.required_object("outcome")?;
    outcome.required_word("status", &["success", "failed", "failure"])?;
    outcome.required_number("score", 0.0, 1.0)?;
    Ok(())
}

fn common(fields: &ObjectReader<'_>) -> ApiResult<()> {
    fields.text("schema_version", 0, 40)?;
    fields.text("model_name", 0, 200)?;
    Ok(())
}

/// A capsule that names its gene names the one beside it, by either of its ids; and so does the event.
fn check_links(
    gene: &BundlePart<'_>,
    capsule: &BundlePart<'_>,
    event: Option<&BundlePart<'_>>,
) -> ApiResult<()> {
    if let Some(named) = text(&capsule.object, "gene").filter(|named| !names(gene, named)) {
        return Err(ApiError::field(
            format!("{}.gene", capsule.path),
            format!("`{}`, the gene beside it", gene.id),
            cut(&named),
        ));
    }
    let Some(event) = event else { return Ok(()) };
    if let Some(named) = text(&event.object, "capsule_id")
        .filter(|named| named.starts_with("sha256:") && !names(capsule, named))
    {
        return Err(ApiError::field(
            format!("{}.capsule_id", event.path),
            format!("`{}`, the capsule beside it", capsule.id),
            cut(&named),
        ));
    }
    Ok(())
}

fn names(part: &BundlePart<'_>, id: &str) -> bool {
    id == part.id.to_string() || part.object.get("id").and_then(Value::as_str) == Some(id)
}

fn cut(text: &str) -> String {
    capsid_model::text::inert_line(capsid_model::text::cut(text, 100))
}

fn content(capsule: &Object) -> String {
    ["content", "diff", "code_snippet"]
        .iter()
        .filter_map(|key| text(capsule, key))
        .collect::<Vec<_>>()
        .join("\n")
}

fn new_asset(
    part: &BundlePart<'_>,
    gene: Option<&BundlePart<'_>>,
    proof: ProofLevel,
    has_event: bool,
    chain_id: Option<String>,
    scanned: SafetyVerdict,
) -> NewAsset {
    let gene = gene.map(|gene| &gene.object);
    NewAsset {
        asset_id: part.id,
        asset_type: part.asset_type,
        card: traits::card(&part.object, part.asset_type, &part.id.to_string()),
        body: part.body.clone().into_owned(),
        traits: traits::traits(&part.object, part.asset_type, gene, proof, has_event, chain_id),
        environment: traits::environment(&part.object),
        scanned,
    }
}
