//! The stored solutions of the same problem: the own ones first, then that of a hub.

use crate::exchange::reuse::ReuseHit;
use crate::rules::problem_ids::{StoredProblemIds, capsule_ids_beside};
use crate::run::offer::CapsuleOffer;
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::capsule::Capsule;
use capsid_model::env::{self, is_compatible};
use capsid_model::id::stamp_of;
use capsid_model::{Object, Result, Time, Value, asset};
use capsid_rules::diagnosis::ProblemRecord;
use capsid_rules::learning::capsule_text::old_asset::find_old_title;
use capsid_rules::learning::match_level::{CapsuleRank, MAX_PATCHES, MatchLevel};
use capsid_rules::learning::proof::ProofGrade;
use capsid_rules::learning::reuse_outcome::PatchTrial;
use std::collections::HashSet;
use std::path::Path;

/// What marks a diff that is not whole.
const TRUNCATED: &str = "[TRUNCATED]";

/// The solutions that match a problem, best first. `is_reproduced` says that a command can decide whether one works.
pub fn find_offers(
    workspace: &Workspace,
    problem: &ProblemRecord,
    signals: &[String],
    is_reproduced: bool,
    hit: Option<&ReuseHit>,
) -> Result<Vec<CapsuleOffer>> {
    let documents = workspace.store.capsules.documents()?;
    let matching: Vec<(&Object, MatchLevel)> = documents
        .iter()
        .filter_map(|document| Some((document, find_level(problem, signals, document)?)))
        .filter(|(document, _)| is_usable(document))
        .collect();
    let names: HashSet<String> = matching.iter().map(|(document, _)| text(document, "id")).collect();
    let streaks = workspace.store.events.capsule_streaks(&names)?;
    let mut ranked: Vec<(CapsuleRank, CapsuleOffer)> = Vec::new();
    for (document, level) in matching {
        let id = text(document, "id");
        let claimed = document.get("success_streak").and_then(Value::as_u64).unwrap_or_default();
        let streak = streaks.get(&id).copied().unwrap_or_else(|| claimed.min(1));
        let patch = stored_patch(workspace, document)?;
        let offer = to_offer(workspace, document, level, streak, patch, is_reproduced);
        let created_at = stamp_of(&id).map(Time).unwrap_or_default();
        let rank = CapsuleRank {
            level,
            grade: offer.grade,
            streak: streak.min(u64::from(u32::MAX)) as u32,
            created_at,
        };
        ranked.push((rank, offer));
    }
    ranked.sort_by_key(|(rank, _)| rank.sort_key());
    let mut offers: Vec<CapsuleOffer> = ranked.into_iter().map(|(_, offer)| offer).collect();
    keep_best(&mut offers);
    offers.extend(hit.and_then(|hit| foreign_offer(workspace, problem, signals, hit, is_reproduced)));
    Ok(offers)
}

/// The best level at which a capsule solved the same problem. `signals` are those that the problem is seen by.
pub fn find_level(problem: &ProblemRecord, signals: &[String], capsule: &Object) -> Option<MatchLevel> {
    let stored = capsule_ids_beside(capsule, signals, problem)?;
    MatchLevel::find(&StoredProblemIds::from(problem).as_ids(), &stored.as_ids())
}

/// Patches to try, and one solution to show: more would only make the prompt longer.
fn keep_best(offers: &mut Vec<CapsuleOffer>) {
    let mut patches = 0;
    let mut at = 0;
    offers.retain(|offer| {
        patches += usize::from(offer.can_try);
        at += 1;
        at == 1 || (offer.can_try && patches <= MAX_PATCHES)
    });
}

/// Whether a stored capsule is a success of this platform that is what its id says.
fn is_usable(document: &Object) -> bool {
    let capsule = Capsule::read(document);
    !capsule.id.is_empty()
        && capsule.outcome.is_success()
        && is_compatible(&capsule.env_fingerprint, env::platform())
        && asset::verify(document).holds()
}

fn to_offer(
    workspace: &Workspace,
    document: &Object,
    level: MatchLevel,
    streak: u64,
    patch: String,
    is_reproduced: bool,
) -> CapsuleOffer {
    let exist = files_exist(&workspace.repository.root, &patch);
    let (can_try, reason) = match () {
        () if patch.is_empty() => (false, "its change was not stored as a whole".to_owned()),
        () if !level.can_try_patch(exist) => (
            false,
            if exist { format!("same {} only", level.as_str()) } else { "its files are not here".to_owned() },
        ),
        () if !is_reproduced => (false, "no command shows whether it solves the problem".to_owned()),
        () => (true, String::new()),
    };
    CapsuleOffer {
        capsule_id: text(document, "id"),
        asset_id: text(document, "asset_id"),
        level,
        grade: grade_of(document),
        streak,
        title: title_of(document),
        is_foreign: false,
        can_try,
        reason,
        trial: PatchTrial::NotTried,
        patch,
    }
}

/// What a hub found, if it is about the same problem. It is tried only if others have shown that it works.
fn foreign_offer(
    workspace: &Workspace,
    problem: &ProblemRecord,
    signals: &[String],
    hit: &ReuseHit,
    is_reproduced: bool,
) -> Option<CapsuleOffer> {
    let level = find_level(problem, signals, &hit.capsule)?;
    let diff = text(&hit.capsule, "diff");
    let patch = if diff.contains(TRUNCATED) { String::new() } else { diff };
    let streak = hit.capsule.get("success_streak").and_then(Value::as_u64).unwrap_or_default();
    let mut offer = to_offer(workspace, &hit.capsule, level, streak, patch, is_reproduced);
    offer.asset_id.clone_from(&hit.asset_id);
    offer.is_foreign = true;
    if let (true, Err(refusal)) = (offer.can_try, &hit.can_try) {
        offer.can_try = false;
        offer.reason = refusal.to_string().trim_end_matches('.').to_owned();
    }
    Some(offer)
}

/// The change of a capsule: the whole patch where it is stored, else its diff if that is whole.
fn stored_patch(workspace: &Workspace, document: &Object) -> Result<String> {
    let hash = text(document, "patch_sha256");
    if hash.len() == 64
        && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
        && let Some(patch) = files::read_optional(&workspace.paths.patch(&hash))?
        && capsid_model::hash::sha256_hex(patch.as_bytes()) == hash
    {
        return Ok(patch);
    }
    let diff = text(document, "diff");
    Ok(if diff.contains(TRUNCATED) { String::new() } else { diff })
}

/// Whether every file that a patch changes is in the tree.
fn files_exist(root: &Path, patch: &str) -> bool {
    let mut changed = patch.lines().filter_map(|line| line.strip_prefix("--- a/"));
    changed.all(|path| {
        let path = Path::new(path.trim_end());
        let is_inside = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        is_inside && root.join(path).is_file()
    })
}

fn grade_of(document: &Object) -> ProofGrade {
    let grade = document.get("proof").and_then(|proof| proof.get("grade")).and_then(Value::as_str);
    grade.and_then(ProofGrade::parse).unwrap_or_default()
}

/// What a capsule is called.
pub fn title_of(document: &Object) -> String {
    let title = text(document, "title");
    if !title.is_empty() {
        return title;
    }
    let triggers = document.get("trigger").and_then(Value::as_array).into_iter().flatten();
    let triggers: Vec<&str> = triggers.filter_map(Value::as_str).collect();
    find_old_title(&text(document, "summary"), &triggers)
}

fn text(document: &Object, name: &str) -> String {
    document.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}
