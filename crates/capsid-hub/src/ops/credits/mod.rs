//! Credits: prices, statements, transfers and earnings.

pub mod billing;
pub mod credit;
pub mod statement;
