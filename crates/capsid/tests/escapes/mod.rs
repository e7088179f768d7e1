//! Attacks on the sandbox, through the built program: whoever runs in it reaches nothing of the machine.
//!
//! The attacks are Python functions in `attacks/`, a file for each family, each with a canary that is checked outside and a
//! control: the same code, unconfined, has to reach the canary. `attacks/drive.py` runs them as one user at one level and
//! prints a row for each. An escape, an attack that did not run and a control that does not reach its canary fail the test.
//!
//! | level | how it is forced |
//! |---|---|
//! | `overlay` | the default |
//! | `copy` | `[cycle] view = "copy"` |
//! | `landlock` | the same, under a seccomp filter that denies namespaces |
#![cfg(target_os = "linux")]

mod findings;
pub mod table;

use capsid_testkit::rounds::is_soak;
use table::{Level, User, run_families};

/// Families 5 to 10; one cycle tries them all.
const MACHINE: &[&str] = &["files", "processes", "network", "kernel", "namespaces", "descriptors"];

/// Families 1 to 4.
const CYCLE: &[&str] = &["tree", "git", "engine_state", "planted"];

/// Processes that outlive their engine, limits, the gate.
const ENGINE: &[&str] = &["survival", "limits", "gate"];

/// The attacks of some families at a level. A soak alone has the levels below `overlay` with families 5 to 12, and with
/// families 1 to 4 for the other user.
macro_rules! attacks {
    ($($name:ident: $user:ident, $level:ident, $families:ident;)*) => {$(
        #[test]
        fn $name() {
            run_families(User::$user, Level::$level, $families);
        }
    )*};
}

attacks! {
    root_reaches_nothing_of_the_machine: Root, Overlay, MACHINE;
    an_ordinary_user_reaches_nothing_of_the_machine: Ordinary, Overlay, MACHINE;
    root_changes_nothing_around_the_cycle: Root, Overlay, CYCLE;
    an_ordinary_user_changes_nothing_around_the_cycle: Ordinary, Overlay, CYCLE;
    root_outlives_no_limit: Root, Overlay, ENGINE;
    an_ordinary_user_outlives_no_limit: Ordinary, Overlay, ENGINE;
    root_changes_nothing_around_the_cycle_in_a_copy: Root, Copy, CYCLE;
    an_ordinary_user_changes_nothing_around_the_cycle_with_landlock: Ordinary, Landlock, CYCLE;
}

#[test]
fn the_whole_matrix_holds() {
    if !is_soak() {
        println!(
            "not run: `make soak PART=escapes` has all families and users at the levels `copy` and `landlock`"
        );
        return;
    }
    for user in [User::Root, User::Ordinary] {
        for level in [Level::Copy, Level::Landlock] {
            run_families(user, level, MACHINE);
            run_families(user, level, ENGINE);
        }
    }
    run_families(User::Ordinary, Level::Copy, CYCLE);
    run_families(User::Root, Level::Landlock, CYCLE);
}

#[test]
fn there_are_more_than_80_attacks_in_12_families() {
    let all = table::count_attacks();
    println!("{all:?}");
    assert_eq!(all.len(), 12, "{all:?}");
    assert!(all.values().sum::<usize>() >= 80, "{all:?}");
}
