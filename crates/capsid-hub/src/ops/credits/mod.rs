//! Credits: prices, statements, transfers and earnings.

pub mod earnings;
pub mod price;
pub mod statement;
