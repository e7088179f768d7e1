//! Statistics, jobs, rate limits and stored responses.

pub mod figures;
pub mod jobs;
pub mod limits;
pub mod messages;
pub mod meta;
