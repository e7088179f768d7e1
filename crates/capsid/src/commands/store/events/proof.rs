//! `capsid events verify` and `capsid events seal`: the log and its chain.

use crate::output::{self, BAD, DIM, GOOD, NAME, WARN, paint};
use capsid_engine::sealed_log::MERGED;
use capsid_engine::sealed_log::compare::{LogComparison, LogDifference};
use capsid_engine::sealed_log::loss::{ChainLoss, LossKind};
use capsid_engine::sealed_log::proof::{LogAcceptance, LogProof, prove, seal};
use capsid_engine::workspace::Workspace;
use capsid_model::text::inert_line;
use capsid_model::{Result, Value, json};

/// Proves that the log was neither edited, cut nor reordered, or says where it was.
pub(crate) fn verify(workspace: &Workspace, as_json: bool) -> Result<u8> {
    let proof = prove(workspace)?;
    if as_json {
        output::document(&document(&proof));
    } else {
        print(&proof);
    }
    Ok(u8::from(!proof.holds()))
}

/// Seals what is not sealed yet.
pub(crate) fn seal_now(workspace: &Workspace, accept: bool, as_json: bool) -> Result<u8> {
    let sealed = seal(workspace, accept)?;
    if as_json {
        output::document(&json!({"appended": sealed.appended, "total": sealed.total, "head": sealed.head}));
    } else if sealed.appended == 0 {
        output::line("everything was sealed already");
    } else {
        output::line(format_args!("{} {} record(s)", paint(GOOD, "sealed"), sealed.appended));
    }
    Ok(0)
}

fn print(proof: &LogProof) {
    let name = paint(NAME, inert_line(&proof.session));
    let failure = proof.chain.as_ref().and_then(|chain| Some((chain, chain.failure.as_ref()?)));
    if let Some((chain, failure)) = failure {
        output::line(format_args!(
            "{} the chain {name} itself is broken at seq {}: {}",
            paint(BAD, "[BROKEN]"),
            chain.broken_at.unwrap_or_default(),
            inert_line(&failure.message)
        ));
        return;
    }
    if let Some(loss) = &proof.loss {
        output::line(format_args!("{} {}", paint(BAD, "[BROKEN]"), lost(loss)));
    }
    match (&proof.log, &proof.chain) {
        (Some(log), Some(_)) => print_log(log, proof),
        _ if proof.loss.is_some() => {}
        _ => print_unsealed(proof),
    }
    for text in describe_accepted(proof) {
        output::line(format_args!("  {text}"));
    }
    let Some(chain) = &proof.chain else { return };
    for (fingerprint, signer) in &chain.signers {
        output::line(format_args!("  signed by {} ({})", inert_line(fingerprint), signer.trust_label()));
    }
    output::talk(format_args!("{} {}/{}", paint(DIM, "chain"), "capsid", inert_line(&proof.session)));
}

fn print_unsealed(proof: &LogProof) {
    output::line(format_args!("{} nothing of this log was sealed yet", paint(WARN, "[UNSEALED]")));
    if proof.is_started {
        let name = inert_line(&proof.session);
        output::talk(format_args!("Sealing was begun as {name}, but this home knows no such chain."));
    }
    output::talk("Every cycle seals what it records; `capsid events seal` does it now.");
}

/// How the log compares with the chain. A log that fits a chain which lost its end is not reported as intact.
fn print_log(log: &LogComparison, proof: &LogProof) {
    let is_cut = proof.loss.is_some();
    match &log.difference {
        Some(difference) => {
            output::line(format_args!("{} {}", paint(BAD, "[BROKEN]"), describe_difference(difference)));
        }
        None if proof.is_merge => {
            output::line(format_args!(
                "{} {}: {} line(s) are as they were sealed, {} of another clone are not sealed here yet",
                paint(WARN, "[MERGED]"),
                describe_merge(proof),
                log.intact,
                log.unsealed
            ));
            output::talk("The next cycle seals them; `capsid events seal` does it now.");
            return;
        }
        None if log.unsealed > 0 => {
            output::line(format_args!(
                "{} {} line(s) are as they were sealed, {} after them were never sealed",
                paint(WARN, "[UNSEALED]"),
                log.intact,
                log.unsealed
            ));
            output::talk("If you know where they come from, `capsid events seal` seals them.");
        }
        None if is_cut => {}
        None => output::line(format_args!(
            "{} {} line(s) are as they were sealed",
            paint(GOOD, "[OK]"),
            log.intact
        )),
    }
    if log.difference.is_none() && proof.heads.len() > 1 {
        output::line(format_args!("  {}; the next event joins them", describe_merge(proof)));
    }
}

/// The heads of a merged log by their ids, the first few of them.
fn describe_merge(proof: &LogProof) -> String {
    const SHOWN: usize = 4;
    let heads: Vec<String> = proof.heads.iter().take(SHOWN).map(|id| inert_line(id)).collect();
    let more = if proof.heads.len() > SHOWN { ", ..." } else { "" };
    match proof.heads.len() {
        0 | 1 => "merge of two clones".to_owned(),
        count => format!("merge of {count} heads ({}{more})", heads.join(", ")),
    }
}

fn lost(loss: &ChainLoss) -> String {
    let ChainLoss { kind, recorded, present } = loss;
    match kind {
        LossKind::Missing => format!("the chain is missing: {recorded} record(s) of it were sealed"),
        LossKind::Cut => {
            format!("the chain was cut: {recorded} record(s) were sealed, and {present} are there")
        }
        LossKind::Altered => format!("the chain was altered: record {recorded} is another one"),
    }
}

/// How often the log was taken as it was although it had been changed, or was merged, and what had been done to it.
fn describe_accepted(proof: &LogProof) -> Vec<String> {
    let is_merged =
        |accepted: &LogAcceptance| accepted.what.as_ref().is_some_and(|what| what.change == MERGED);
    let (merged, accepted): (Vec<_>, Vec<_>) =
        proof.accepted.iter().partition(|accepted| is_merged(accepted));
    let mut lines = Vec::new();
    for (word, list) in [("accepted", accepted), ("merged", merged)] {
        let each: Vec<String> = list.into_iter().map(describe_acceptance).collect();
        let times = if each.len() == 1 { "time" } else { "times" };
        if !each.is_empty() {
            lines.push(format!("{word} {} {times}: {}", each.len(), each.join("; ")));
        }
    }
    lines
}

fn describe_acceptance(accepted: &LogAcceptance) -> String {
    let what = accepted.what.as_ref().map_or_else(
        || format!("the log had {} line(s)", accepted.lines),
        |what| words(&what.change, what.line),
    );
    format!("{} ({})", inert_line(&what), inert_line(accepted.at.as_deref().unwrap_or("time unknown")))
}

fn describe_difference(difference: &LogDifference) -> String {
    let what = words(difference.kind.name(), difference.line);
    match difference.id.as_str() {
        "" => what,
        id => format!("{what} (sealed there: {})", inert_line(id)),
    }
}

/// What the name of a change means.
fn words(change: &str, line: u64) -> String {
    match change {
        "edited" => format!("line {line} was edited"),
        "removed" => format!("line {line} was removed"),
        "cut" => format!("the log was cut: line {line} and what followed are gone"),
        "reordered" => format!("the order was changed: another line stands at {line}"),
        "inserted" => format!("a line that was never sealed was inserted before line {line}"),
        MERGED => format!("lines of another clone were merged in before line {line}"),
        "changed" => format!("something in the first {line} lines was changed; they were sealed as one"),
        "chain_missing" => "the chain was missing".to_owned(),
        "chain_cut" => format!("the chain was cut: what was sealed from line {line} on is gone"),
        "chain_altered" => "the chain was altered".to_owned(),
        other => format!("{other} at line {line}"),
    }
}

fn document(proof: &LogProof) -> Value {
    let chain = proof.chain.as_ref();
    let log = proof.log.as_ref();
    let difference = log.and_then(|log| log.difference.as_ref());
    let loss = proof.loss.as_ref();
    let chain_error = chain.and_then(|chain| chain.failure.as_ref()).map(|failure| failure.message.clone());
    let accepted: Vec<Value> = proof.accepted.iter().map(acceptance).collect();
    json!({
        "valid": proof.holds(),
        "verified": log.map_or(0, |log| log.intact),
        "total": log.map_or(0, |log| log.intact + log.unsealed),
        "unsealed": log.map_or(0, |log| log.unsealed),
        "broken_at": difference.map(|difference| difference.line),
        "change": loss
            .map(|loss| loss.kind.name())
            .or(difference.map(|difference| difference.kind.name()))
            .or(proof.is_merge.then_some(MERGED)),
        "heads": proof.heads,
        "id": difference.map(|difference| difference.id.clone()),
        "error": chain_error.or(loss.map(lost)).or(difference.map(describe_difference)),
        "accepted": accepted,
        "chain": {
            "session": proof.session,
            "valid": chain.map(|chain| chain.valid && loss.is_none()),
            "length": chain.map(|chain| chain.length),
            "recorded": loss.map(|loss| loss.recorded),
            "head": chain.and_then(|chain| chain.head.clone()),
        },
    })
}

fn acceptance(accepted: &LogAcceptance) -> Value {
    let what = accepted.what.as_ref();
    json!({
        "at": accepted.at,
        "lines": accepted.lines,
        "change": what.map(|what| what.change.clone()),
        "line": what.map(|what| what.line),
        "id": what.map(|what| what.id.clone()),
    })
}
