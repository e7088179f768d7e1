//! Publishing, exporting, ingesting and promoting, through the built program.
#![cfg(unix)]

mod capture;
mod files;
mod foreign;
mod leaks;
mod publish;
mod reuse_by_hand;

use capsid_model::Value;
use capsid_testkit::program::assert_status;
use capsid_testkit::program_repo::ProgramRepo;
use capsid_testkit::store;

fn desk() -> ProgramRepo {
    ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"))
}

/// A desk whose capsule worked twice in a row; gives the capsule's id.
fn proven() -> (ProgramRepo, String) {
    let desk = desk();
    for round in ["one", "two"] {
        let ran = desk.evolve(&["--force", "--json"], &format!("echo good {round} >> state.txt"));
        assert_status(0, &ran);
    }
    let id = eligible(&desk);
    (desk, id)
}

/// The capsule that may be shared.
#[track_caller]
fn eligible(desk: &ProgramRepo) -> String {
    let capsules = store::list(&desk.repo, "capsules");
    let proven = capsules.iter().find(|capsule| capsule["a2a"]["eligible_to_broadcast"] == true);
    proven.unwrap_or_else(|| panic!("{}", Value::from(capsules.clone())))["id"].as_str().unwrap().to_owned()
}
