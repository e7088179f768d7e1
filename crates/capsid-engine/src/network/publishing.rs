//! Publishing what became eligible, where the owner allows it. What could not be sent is tried again later.

use super::sent_bundle;
use crate::exchange::outgoing;
use crate::workspace::Workspace;
use capsid_client::NodeClient;
use capsid_model::backoff::BackoffPolicy;
use capsid_model::{Object, Problem, Result, Time, Value, json};

/// The most bundles that one round sends.
const MAX: usize = 10;
/// How long a bundle rests that the hub refused.
const BACKOFF: BackoffPolicy = BackoffPolicy::doubling(3_600_000, 7 * 24 * 3_600_000);

/// What a round of publishing did.
#[derive(Debug, Clone, Default)]
pub struct PublishRound {
    /// What the hub took: the local id and the id it was published under.
    pub sent: Vec<(String, String)>,
    pub waiting: Vec<(String, String)>,
}

/// The capsules that may be offered to a hub and were not yet, by their local ids.
pub fn eligible(workspace: &Workspace, hub: &str) -> Result<Vec<String>> {
    let offers = outgoing::offers(workspace)?;
    let fresh = offers.iter().filter(|offer| offer.is_new_for(hub) && !offer.id().is_empty());
    Ok(fresh.map(|offer| offer.id().to_owned()).collect())
}

/// Sends what is eligible. `refused` remembers what the hub refused, so that it is not asked all the time. What it
/// rejected for what it is, is eligible no more.
pub fn publish(workspace: &Workspace, node: &NodeClient, refused: &mut Object) -> Result<PublishRound> {
    let now = workspace.now();
    let mut done = PublishRound::default();
    let hub = node.hub_url();
    let eligible = eligible(workspace, hub)?;
    // A refusal by another hub does not count for this one.
    refused.retain(|id, entry| eligible.contains(id) && entry.get("hub").is_none_or(|named| named == hub));
    for id in eligible {
        if done.sent.len() >= MAX {
            done.waiting.push((id, "the next sync sends it".to_owned()));
        } else if let Some(until) = is_backing_off(refused, &id, now) {
            done.waiting.push((id, format!("the hub refused it; it is tried again after {}", until.iso())));
        } else {
            match sent_bundle::send(workspace, node, &id, false) {
                Ok(sent) => {
                    refused.shift_remove(&id);
                    done.sent.push((sent.capsule_id, sent.asset_id));
                }
                Err(problem) if sent_bundle::may_pass(&problem) => {
                    done.waiting.push((id, problem.message));
                    break;
                }
                Err(problem) => {
                    next_pause(refused, &id, hub, now, &problem);
                    done.waiting.push((id, problem.message));
                }
            }
        }
    }
    Ok(done)
}

/// Until when a refused bundle is left alone.
fn is_backing_off(refused: &Object, id: &str, now: Time) -> Option<Time> {
    let until = refused.get(id)?.get("until").and_then(Value::as_str).and_then(Time::parse)?;
    (until > now).then_some(until)
}

fn next_pause(refused: &mut Object, id: &str, hub: &str, now: Time, problem: &Problem) {
    let times =
        refused.get(id).and_then(|known| known.get("times")).and_then(Value::as_u64).unwrap_or_default() + 1;
    let until = Time(now.0.saturating_add(BACKOFF.pause(times).as_millis() as i64));
    let reason = problem.hub_code.as_deref().unwrap_or(problem.code.as_str());
    let entry = json!({"hub": hub, "times": times, "until": until.iso(), "why": reason});
    refused.insert(id.to_owned(), entry);
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::Code;

    #[test]
    fn a_refused_bundle_rests_longer_each_time() {
        let now = Time(1_770_000_000_000);
        let mut refused = Object::new();
        let problem = Problem::new(Code::HubRefused, "no");
        assert_eq!(is_backing_off(&refused, "a", now), None);
        let mut hours = Vec::new();
        for _ in 0..10 {
            next_pause(&mut refused, "a", "http://hub", now, &problem);
            hours.push((is_backing_off(&refused, "a", now).unwrap().0 - now.0) / 3_600_000);
        }
        assert_eq!(hours, [1, 2, 4, 8, 16, 32, 64, 128, 168, 168]);
        assert_eq!(is_backing_off(&refused, "a", Time(now.0 + 169 * 3_600_000)), None);
    }
}
