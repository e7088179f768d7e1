//! Finds the built pages. Without them a development build has one page that explains how to get the others, and a
//! release build stops: whoever builds one expects the pages in it.

use std::env;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built = here.join("../../web/build");
    // A path that is not there would run this again at every build. `scripts/pages` touches `unbuilt` when it comes.
    if built.is_dir() {
        println!("cargo:rerun-if-changed={}", built.display());
    }
    println!("cargo:rerun-if-changed=unbuilt");
    println!("cargo:rerun-if-changed=notices");
    println!("cargo:rerun-if-env-changed=CAPSID_WITHOUT_PAGES");
    println!("cargo:rustc-check-cfg=cfg(has_pages)");
    if built.join("index.html").is_file() {
        println!("cargo:rustc-cfg=has_pages");
    } else if env::var("PROFILE").is_ok_and(|profile| profile == "release")
        && env::var_os("CAPSID_WITHOUT_PAGES").is_none_or(|value| value != "1")
    {
        println!(
            "cargo::error=web/build is missing: run `make install`, or set CAPSID_WITHOUT_PAGES=1 to build without pages"
        );
        return ExitCode::FAILURE;
    } else {
        println!("cargo:warning=the program is built without its pages: run `make web` first to have them");
    }
    ExitCode::SUCCESS
}
