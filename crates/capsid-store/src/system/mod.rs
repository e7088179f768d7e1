//! Statistics, jobs, rate limits and stored responses.

pub mod backlog;
pub mod jobs;
pub mod meta;
pub mod rate_limits;
pub mod responses;
pub mod stats;
