//! What the agent of a cycle may see, and where its writes stay.

use super::known_agents::AgentFiles;
use crate::run::folder::RunFolder;
use crate::workspace::Workspace;
use capsid_model::Result;
use capsid_sandbox::{AgentProfile, ConfinedTree};
use std::path::{Path, PathBuf};

/// The most processes and threads of an agent.
const PROCESSES: u64 = 4096;
/// The profile of an agent that works in a tree.
pub(super) fn agent_profile(
    workspace: &Workspace,
    folder: &RunFolder,
    tree: ConfinedTree,
) -> Result<AgentProfile> {
    let policy = &workspace.config.agent;
    let home = workspace.home.clone().unwrap_or_else(|| PathBuf::from("/"));
    let expand = |paths: &[PathBuf]| paths.iter().map(|path| workspace.expand_home(path)).collect::<Vec<_>>();
    let named = |name: &str| workspace.variable(name).map(|path| workspace.expand_home(Path::new(&path)));
    let mut hidden = vec![workspace.data_dir()?, home.join(".evomap")];
    hidden.extend([".agent-capsule", ".quantumpipes"].map(|name| home.join(name)));
    hidden
        .extend(["AGENT_CAPSULE_HOME", "QUANTUMPIPES_DATA_DIR", "EVOMAP_HOME"].into_iter().filter_map(named));
    let mut kept_writes = expand(&policy.write);
    let known = AgentFiles::prepare(&home, named)?;
    kept_writes.extend(known.transcripts);
    kept_writes.push(folder.note_folder());
    Ok(AgentProfile {
        tree,
        layers: folder.layers(),
        hidden,
        show: expand(&policy.show),
        sockets: expand(&policy.sockets),
        kept_writes,
        copied_back: known.logins,
        network: policy.network,
        disk_bytes: policy.disk_mb << 20,
        processes: PROCESSES,
        home,
    })
}
