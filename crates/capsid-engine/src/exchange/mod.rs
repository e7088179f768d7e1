//! What passes between this store and others: what may leave and in which form, what came and how it is taken in.

pub mod eligibility;
pub mod outgoing;
pub mod promote;
pub mod stage;
