//! `capsid events --web`: the history of a repository in the browser, together with the user's chains.

use crate::commands::trail::TrailViewer;
use crate::commands::viewer;
use capsid_engine::view::evolution::{MAX_EVENTS, read};
use capsid_engine::workspace::Workspace;
use capsid_model::Result;
use capsid_seal::TrailHome;
use capsid_web::local::{JsonDocument, LocalData, about, closed_error};
use std::sync::Arc;

/// Serves until Ctrl-C. A repository without a history is served too: its page says how one begins.
pub(super) fn serve(workspace: Workspace, options: &viewer::ViewerOptions, as_json: bool) -> Result<u8> {
    let home = TrailHome::find(None, &*workspace.env)?;
    let history = HistoryViewer { trail: TrailViewer::new(home.clone()), home, workspace };
    viewer::serve(options, as_json, Arc::new(history))
}

/// The data of the local viewer. All of it is read anew for each request.
struct HistoryViewer {
    workspace: Workspace,
    home: TrailHome,
    trail: TrailViewer,
}

impl LocalData for HistoryViewer {
    fn first_page(&self) -> &'static str {
        "/evolution"
    }

    fn document(&self, path: &str) -> Result<Option<JsonDocument>> {
        let has_trail = self.home.root().is_dir();
        match path {
            "about" => {
                let name = self.workspace.repository.root.file_name().unwrap_or_default().to_string_lossy();
                Ok(Some(about(has_trail, Some(&name))))
            }
            "evolution.json" => self.evolution().map(Some),
            _ if has_trail => self.trail.document(path),
            _ => Ok(None),
        }
    }
}

impl HistoryViewer {
    fn evolution(&self) -> Result<JsonDocument> {
        let events = read(&self.workspace, MAX_EVENTS)?;
        Ok(JsonDocument::written(move |out| {
            serde_json::to_writer(out, &events).map_err(|error| closed_error(&error))
        }))
    }
}
