//! The endpoints, one file for each verb or noun.

pub mod hello;
