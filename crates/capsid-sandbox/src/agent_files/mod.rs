//! The files of the user's agent: what it may reach, the home that it works with, and what it wrote there.

mod file_stamps;
mod home_copy;
pub mod private_home;
pub mod profile;
pub mod writes;
