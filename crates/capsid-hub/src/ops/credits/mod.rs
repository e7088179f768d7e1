//! Credits: prices, statements, transfers and earnings.

pub mod earnings;
pub mod economics;
pub mod estimate;
pub mod price;
pub mod statement;
pub mod transfer;
