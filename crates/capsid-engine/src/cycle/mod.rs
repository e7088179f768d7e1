//! One cycle: from signals to a prompt, through the agent, to a recorded outcome; and many of them.

pub mod agent;
mod agent_profile;
mod agent_view;
pub mod build_prompt;
pub mod candidates;
pub mod choice;
mod draft;
pub mod evolve;
mod known_agents;
pub mod observation;
pub mod offers;
pub mod past_cycles;
mod patch_trial;
mod problem_check;
mod prompt_request;
mod prompt_solution;
mod prompt_source;
pub mod recall;
pub mod record;
pub mod solve;
