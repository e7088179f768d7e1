//! One cycle: from signals to a prompt, through the agent, to a settled run; and many of them.

pub mod agent;
mod ask;
pub mod choice;
mod custody;
mod draft;
pub mod evolve;
pub mod learning;
pub mod looping;
pub mod recall;
pub mod record;
pub mod run;
pub mod sight;
