//! One cycle: from signals to a prompt, through the agent, to a recorded outcome; and many of them.

pub mod agent;
mod agent_profile;
mod agent_view;
mod build_prompt;
pub mod candidates;
pub mod choice;
mod draft;
pub mod evolve;
mod known_agents;
pub mod observation;
pub mod past_cycles;
pub mod recall;
pub mod record;
