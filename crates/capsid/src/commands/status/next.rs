//! What to do next: a pure function of what is known.

use super::facts::StatusFacts;

/// The most that is suggested at once.
const MAX_STEPS: usize = 3;

/// A command that is worth running, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NextStep {
    pub(super) command: String,
    pub(super) reason: String,
}

/// Looks at the conditions in the order of what matters; each gives at most one step.
pub(super) fn suggest_steps(facts: &StatusFacts) -> Vec<NextStep> {
    let conditions = [seal_sessions, review_run, make_store, set_up_agent, back_up_key, publish_capsules];
    let mut steps: Vec<NextStep> = conditions.iter().filter_map(|condition| condition(facts)).collect();
    steps.truncate(MAX_STEPS);
    if steps.is_empty() {
        steps.extend(step("capsid demo", "watch a whole story in a scratch repository"));
    }
    steps
}

fn step(command: &str, reason: impl Into<String>) -> Option<NextStep> {
    Some(NextStep { command: command.to_owned(), reason: reason.into() })
}

fn seal_sessions(facts: &StatusFacts) -> Option<NextStep> {
    match facts.agents.iter().map(|agent| agent.unsealed).sum() {
        0 => None,
        1 => step("capsid trail seal --all", "seal the session on this machine that is not sealed yet"),
        count => {
            step("capsid trail seal --all", format!("seal the {count} sessions that are not sealed yet"))
        }
    }
}

fn review_run(facts: &StatusFacts) -> Option<NextStep> {
    facts.repository.as_ref().filter(|repository| repository.pending > 0)?;
    step("capsid review", "see the change that waits for you")
}

fn make_store(facts: &StatusFacts) -> Option<NextStep> {
    facts.repository.as_ref().filter(|repository| !repository.has_store)?;
    step("capsid init", "set up this repository")
}

fn set_up_agent(facts: &StatusFacts) -> Option<NextStep> {
    facts.repository.as_ref().filter(|repository| repository.has_store)?;
    if facts.agents.iter().any(|agent| agent.is_set_up) {
        return None;
    }
    // The agent that is used most; of those that are used equally, the first.
    let agent = facts.agents.iter().rev().max_by_key(|agent| agent.sessions)?;
    let command = format!("capsid init --agent {}", agent.tool.name());
    step(&command, format!("tell {} what was proven here", agent.name))
}

fn back_up_key(facts: &StatusFacts) -> Option<NextStep> {
    facts
        .key_lacks_backup
        .then(|| step("capsid key backup FILE", "copy the key that seals to a safe place"))?
}

fn publish_capsules(facts: &StatusFacts) -> Option<NextStep> {
    facts.hub_url.as_ref()?;
    match facts.repository.as_ref()?.shareable {
        0 => None,
        1 => step("capsid node publish", "share the capsule that the hub does not have"),
        count => step("capsid node publish --all-eligible", format!("share {count} capsules with the hub")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::facts::{AgentFacts, RepositoryFacts};
    use super::*;
    use capsid_transcript::Tool;

    fn agent(tool: Tool, sessions: usize, unsealed: usize) -> AgentFacts {
        AgentFacts { tool, name: "An agent", sessions, unsealed, is_set_up: false }
    }

    fn repository() -> RepositoryFacts {
        RepositoryFacts { name: "shop".to_owned(), has_store: true, ..RepositoryFacts::default() }
    }

    fn commands(facts: &StatusFacts) -> Vec<String> {
        suggest_steps(facts).into_iter().map(|step| step.command).collect()
    }

    #[test]
    fn sessions_that_are_not_sealed_are_to_be_sealed() {
        let agents = vec![agent(Tool::ClaudeCode, 41, 41), agent(Tool::Codex, 3, 0)];
        let facts = StatusFacts { agents, ..StatusFacts::default() };
        assert_eq!(commands(&facts), ["capsid trail seal --all"]);
        assert!(suggest_steps(&facts)[0].reason.contains("41 sessions"));
    }

    #[test]
    fn a_run_that_waits_is_to_be_reviewed() {
        let repository = Some(RepositoryFacts { pending: 1, ..repository() });
        assert_eq!(commands(&StatusFacts { repository, ..StatusFacts::default() }), ["capsid review"]);
    }

    #[test]
    fn a_repository_without_a_store_is_to_be_set_up_and_no_agent_before_it() {
        let repository = Some(RepositoryFacts { has_store: false, ..repository() });
        let agents = vec![agent(Tool::Codex, 1, 0)];
        assert_eq!(commands(&StatusFacts { repository, agents, ..StatusFacts::default() }), ["capsid init"]);
    }

    #[test]
    fn the_agent_that_is_used_most_is_to_be_set_up_unless_one_is() {
        let agents = vec![agent(Tool::ClaudeCode, 2, 0), agent(Tool::Codex, 7, 0), agent(Tool::Cursor, 7, 0)];
        let mut facts = StatusFacts { repository: Some(repository()), agents, ..StatusFacts::default() };
        assert_eq!(commands(&facts), ["capsid init --agent codex"]);
        facts.agents[0].is_set_up = true;
        assert_eq!(commands(&facts), ["capsid demo"]);
    }

    #[test]
    fn a_key_without_a_backup_is_to_be_copied() {
        let facts = StatusFacts { key_lacks_backup: true, ..StatusFacts::default() };
        assert_eq!(commands(&facts), ["capsid key backup FILE"]);
    }

    #[test]
    fn capsules_are_to_be_published_where_a_hub_is_configured() {
        let repository = |shareable| Some(RepositoryFacts { shareable, ..repository() });
        let hub_url = || Some("http://127.0.0.1:4000".to_owned());
        let facts = StatusFacts { repository: repository(1), ..StatusFacts::default() };
        assert_eq!(commands(&facts), ["capsid demo"], "nothing is shared without a hub");
        let facts = StatusFacts { hub_url: hub_url(), ..facts };
        assert_eq!(commands(&facts), ["capsid node publish"]);
        let facts = StatusFacts { repository: repository(2), ..facts };
        assert_eq!(commands(&facts), ["capsid node publish --all-eligible"]);
    }

    #[test]
    fn where_nothing_is_to_be_done_there_is_the_demo() {
        assert_eq!(commands(&StatusFacts::default()), ["capsid demo"]);
    }

    #[test]
    fn at_most_three_steps_are_suggested_in_the_order_of_what_matters() {
        let facts = StatusFacts {
            agents: vec![agent(Tool::Cline, 1, 1)],
            key_lacks_backup: true,
            repository: Some(RepositoryFacts { pending: 2, shareable: 1, ..repository() }),
            hub_url: Some("http://127.0.0.1:4000".to_owned()),
        };
        assert_eq!(
            commands(&facts),
            ["capsid trail seal --all", "capsid review", "capsid init --agent cline"]
        );
    }
}
