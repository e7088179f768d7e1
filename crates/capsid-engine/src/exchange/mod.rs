//! What passes between this store and others: what may leave and in which form, what came and how it is taken in.

pub mod bundle_runs;
pub mod companions;
pub mod consent;
pub mod control;
pub mod eligibility;
pub mod export;
pub mod history;
mod incoming;
pub mod origin;
pub mod outgoing;
pub mod pack_run;
pub mod promote;
pub mod publication_log;
pub mod publish;
mod redact;
pub mod reproduction;
pub mod reuse;
pub mod runner_folder;
mod scratch;
pub mod stage;
pub mod trial;
