//! The user's browser, where they ask for it.

use crate::program::{not_found, search};
use capsid_model::Result;
use std::path::Path;
use std::process::{Command, Stdio};

/// The programs that open a file as the user would by a click.
const OPENERS: [&str; 2] = ["xdg-open", "open"];

/// Opens a page that lies on disk. What comes of it is not waited for.
pub fn open_page(page: &Path) -> Result<()> {
    let opener =
        std::env::current_dir().ok().and_then(|here| OPENERS.iter().find_map(|name| search(name, &here)));
    let opener = opener.ok_or_else(|| not_found(OPENERS[0], "it is not on the PATH"))?;
    let mut command = Command::new(opener);
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| not_found(OPENERS[0], error))?;
    std::thread::spawn(move || child.wait());
    Ok(())
}
