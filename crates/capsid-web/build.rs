//! Finds the built pages. Without them the program still builds, with one page that explains how to get the others.

use std::path::Path;

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built = here.join("../../web/build");
    // A path that is not there would run this again at every build. `scripts/pages` touches `unbuilt` when it comes.
    if built.is_dir() {
        println!("cargo:rerun-if-changed={}", built.display());
    }
    println!("cargo:rerun-if-changed=unbuilt");
    println!("cargo:rustc-check-cfg=cfg(has_pages)");
    if built.join("index.html").is_file() {
        println!("cargo:rustc-cfg=has_pages");
    }
}
