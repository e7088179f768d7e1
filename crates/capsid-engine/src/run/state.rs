//! `evolution_solidify_state.json`: the run that was begun last and the one that was finished last, as other tools read it.
//!
//! The file is in the repository, so anybody may have written it. What decides about a run is in its own folder.

use super::Run;
use crate::store;
use crate::workspace::Workspace;
use capsid_model::id::{IdMaker, stamp_of};
use capsid_model::{Object, Result, Value};

/// The state file.
#[derive(Debug, Clone, Default)]
pub struct RunState {
    /// The file as it is, so that members we do not know stay.
    pub file: Object,
}

impl RunState {
    pub fn load(workspace: &Workspace) -> Result<Self> {
        Ok(Self { file: store::read_state(&workspace.paths.run_state())? })
    }

    /// The run that was begun last.
    pub fn last_run(&self) -> Option<Run> {
        self.file
            .get("last_run")
            .and_then(Value::as_object)
            .map(Run::read_public)
            .filter(|run| !run.run_id.is_empty())
    }

    /// The id of the run that was finished or rejected last.
    pub fn finished_id(&self) -> Option<&str> {
        self.file.get("last_solidify")?.get("run_id")?.as_str()
    }

    /// What kind of failure the run that was finished last ended in.
    pub fn finished_class(&self) -> Option<&str> {
        self.file.get("last_solidify")?.get("failure_class")?.as_str()
    }

    /// The files of the tree that the run that was finished last left changed.
    pub fn files_after(&self) -> Option<&Value> {
        self.file.get("last_solidify")?.get("files_after")
    }

    /// Begins a run.
    pub fn begin(&mut self, run: &Run) {
        self.file.insert("last_run".to_owned(), run.public().into());
    }

    /// Finishes a run.
    pub fn finish(&mut self, record: Object) {
        self.file.insert("last_solidify".to_owned(), record.into());
    }

    /// The run that was begun last, if the state file does not say that it is finished.
    pub fn shown_pending(&self) -> Option<Run> {
        self.last_run().filter(|run| self.finished_id() != Some(run.run_id.as_str()))
    }
}

/// A maker of ids above every stamp in the store. The caller holds the store's lock.
pub fn id_maker(workspace: &Workspace) -> Result<IdMaker> {
    let last_events = [workspace.store.events.last_id()?, workspace.store.events.next_parents()?.parent];
    let last_run = RunState::load(workspace)?.last_run().map(|run| run.run_id);
    let newest = last_events.into_iter().chain([last_run]).flatten().filter_map(|id| stamp_of(&id)).max();
    // An id from a clock that ran far ahead must not drag all later ones with it.
    let bound = workspace.now().0 + 86_400_000;
    Ok(IdMaker::after(newest.unwrap_or_default().min(bound)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_shown_as_pending_until_its_id_is_finished() {
        let mut state = RunState::default();
        assert!(state.shown_pending().is_none());
        let run = Run { run_id: "run_1".into(), signals: vec!["log_error".into()], ..Run::default() };
        state.begin(&run);
        assert_eq!(state.shown_pending().unwrap().signals, run.signals);
        state.finish(Object::from_iter([("run_id".to_owned(), "run_1".into())]));
        assert!(state.shown_pending().is_none());
        assert_eq!(state.last_run().unwrap().run_id, "run_1");
    }
}
