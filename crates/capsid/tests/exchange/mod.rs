//! Publishing, exporting, ingesting and promoting, through the built program.
#![cfg(unix)]

mod capture;
mod files;
mod foreign;
mod leaks;
mod publish;
mod reuse_by_hand;
mod sharing;

use capsid_model::{Value, json};
use capsid_testkit::program::assert_status;
use capsid_testkit::program_repo::ProgramRepo;
use capsid_testkit::store;

fn desk() -> ProgramRepo {
    ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"))
}

/// A desk whose capsule is proven and worked twice in a row; gives the capsule's id.
fn proven() -> (ProgramRepo, String) {
    let desk = desk();
    write_capsule(&desk, 2);
    (desk, CAPSULE.to_owned())
}

const CAPSULE: &str = "capsule_1770477654236";

/// Writes a proven capsule that worked so often in a row.
fn write_capsule(desk: &ProgramRepo, successes: u64) {
    store::write_list(&desk.repo, "capsules", &[store::proven_capsule(CAPSULE, "gene_repair", successes)]);
    let events: Vec<_> = (0..successes)
        .map(|number| store::proven_success(&format!("evt_{number}"), "gene_repair", CAPSULE))
        .collect();
    store::append_events(&desk.repo, &events);
}
