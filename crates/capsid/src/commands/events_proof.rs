//! `capsid events verify` and `capsid events seal`: the log and its chain.

use crate::output::{self, BAD, DIM, GOOD, NAME, WARN, paint};
use capsid_engine::sealed_log::compare::{Change, Difference};
use capsid_engine::sealed_log::proof::{Proof, prove, seal};
use capsid_engine::workspace::Workspace;
use capsid_model::text::inert_line;
use capsid_model::{Result, Value, json};

/// Proves that the log was neither edited, cut nor reordered, or says where it was.
pub(super) fn verify(workspace: &Workspace, as_json: bool) -> Result<u8> {
    let proof = prove(workspace)?;
    if as_json {
        output::document(&document(&proof));
    } else {
        print(&proof);
    }
    Ok(u8::from(!proof.holds()))
}

/// Seals what is not sealed yet.
pub(super) fn seal_now(workspace: &Workspace, accept: bool, as_json: bool) -> Result<u8> {
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

fn print(proof: &Proof) {
    let Some(chain) = &proof.chain else {
        output::line(format_args!("{} nothing of this log was sealed yet", paint(WARN, "[UNSEALED]")));
        output::talk("Every cycle seals what it records; `capsid events seal` does it now.");
        return;
    };
    let name = paint(NAME, inert_line(&proof.session));
    if let Some(failure) = &chain.failure {
        output::line(format_args!(
            "{} the chain {name} itself is broken at seq {}: {}",
            paint(BAD, "[BROKEN]"),
            chain.broken_at.unwrap_or_default(),
            inert_line(&failure.message)
        ));
        return;
    }
    let Some(log) = &proof.log else { return };
    match &log.difference {
        Some(difference) => output::line(format_args!("{} {}", paint(BAD, "[BROKEN]"), told(difference))),
        None if log.unsealed > 0 => {
            output::line(format_args!(
                "{} {} line(s) are as they were sealed, {} after them were never sealed",
                paint(WARN, "[UNSEALED]"),
                log.intact,
                log.unsealed
            ));
            output::talk("If you know where they come from, `capsid events seal` seals them.");
        }
        None => output::line(format_args!(
            "{} {} line(s) are as they were sealed",
            paint(GOOD, "[OK]"),
            log.intact
        )),
    }
    for (fingerprint, signer) in &chain.signers {
        output::line(format_args!("  signed by {} ({})", inert_line(fingerprint), signer.standing()));
    }
    output::talk(format_args!("{} {}/{}", paint(DIM, "chain"), "capsid", inert_line(&proof.session)));
}

fn told(difference: &Difference) -> String {
    let line = difference.line;
    let what = match difference.kind {
        Change::Edited => format!("line {line} was edited"),
        Change::Removed => format!("line {line} was removed"),
        Change::Cut => format!("the log was cut: line {line} and what followed are gone"),
        Change::Reordered => format!("the order was changed: another line stands at {line}"),
        Change::Inserted => format!("a line that was never sealed was inserted before line {line}"),
        Change::Baseline => {
            format!("something in the first {line} lines was changed; they were sealed as one")
        }
    };
    match difference.id.as_str() {
        "" => what,
        id => format!("{what} (sealed there: {})", inert_line(id)),
    }
}

fn document(proof: &Proof) -> Value {
    let chain = proof.chain.as_ref();
    let log = proof.log.as_ref();
    let difference = log.and_then(|log| log.difference.as_ref());
    let chain_error = chain.and_then(|chain| chain.failure.as_ref()).map(|failure| failure.message.clone());
    json!({
        "valid": proof.holds(),
        "verified": log.map_or(0, |log| log.intact),
        "total": log.map_or(0, |log| log.intact + log.unsealed),
        "unsealed": log.map_or(0, |log| log.unsealed),
        "broken_at": difference.map(|difference| difference.line),
        "change": difference.map(|difference| difference.kind.name()),
        "id": difference.map(|difference| difference.id.clone()),
        "error": difference.map(told).or(chain_error),
        "chain": {
            "session": proof.session,
            "valid": chain.map(|chain| chain.valid),
            "length": chain.map(|chain| chain.length),
            "head": chain.and_then(|chain| chain.head.clone()),
        },
    })
}
