//! The chains that are not finalised when another one is: each new entry of the meta-chain lists them.

use super::record::{SharedChain, key};
use crate::chain::ChainReader;
use crate::sources::{chain_files, database};
use capsid_model::Result;
use capsid_model::exact::ExactJson;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// At most so many chains are listed.
const MAX_LISTED: usize = 256;
/// At most so many files are opened, those that changed last.
const MAX_OPENED: usize = 512;

/// A chain that was not finalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenChain {
    /// The tool.
    pub tool: String,
    /// The session.
    pub session: String,
    /// How many records it had.
    pub count: u64,
    /// The hash of the last one.
    pub head: String,
}

impl OpenChain {
    /// The form in a meta record: `[tool, session, count, head]`.
    pub(super) fn to_json(&self) -> ExactJson {
        let Self { tool, session, count, head } = self;
        let texts = |text: &String| ExactJson::from(text.as_str());
        ExactJson::Array(vec![texts(tool), texts(session), ExactJson::from(*count), texts(head)])
    }

    pub(super) fn from_json(value: &ExactJson) -> Option<Self> {
        let [tool, session, count, head] = value.as_array()? else { return None };
        let text = |value: &ExactJson| value.as_str().map(str::to_owned);
        let count = count.as_i64()?.try_into().ok()?;
        Some(Self { tool: text(tool)?, session: text(session)?, count, head: text(head)? })
    }
}

/// The chains of a home that no entry of its meta-chain names as they are. A file that cannot be read is not listed: it
/// must not keep others from being finalised. Nor is a chain that somebody else sealed, for it may be moved away.
pub(super) fn open_chains(
    home: &Path,
    shared: Option<SharedChain<'_>>,
    is_recorded: &dyn Fn(&str) -> Result<bool>,
    own: &BTreeSet<String>,
) -> Result<Vec<OpenChain>> {
    let mut files: Vec<(SystemTime, PathBuf)> = chain_files(&home.join("chains"))
        .into_iter()
        .filter_map(|file| Some((changed(&file)?, file)))
        .collect();
    files.sort_by(|a, b| b.cmp(a));
    let files = files.into_iter().map(|(_, file)| file).take(MAX_OPENED);
    let mut open = Vec::new();
    for file in files.chain(shared.map(|shared| shared.db.to_owned())) {
        for chain in chains_in(&file, own) {
            if open.len() < MAX_LISTED && !is_recorded(&key(&chain.tool, &chain.session, &chain.head))? {
                open.push(chain);
            }
        }
    }
    open.sort_by(|a, b| (&a.tool, &a.session).cmp(&(&b.tool, &b.session)));
    Ok(open)
}

fn changed(file: &Path) -> Option<SystemTime> {
    file.metadata().ok()?.modified().ok()
}

fn chains_in(file: &Path, own: &BTreeSet<String>) -> Vec<OpenChain> {
    let (tool, session) = crate::sources::names(file);
    let Ok(sources) = database(file, tool, session) else { return Vec::new() };
    let Ok(reader) = ChainReader::open(file) else { return Vec::new() };
    let tip = |tenant: Option<&str>| -> Option<(u64, String)> {
        let head = reader.head(tenant).ok()??;
        own.contains(&head.seal.signed_by).then(|| reader.tip(tenant).ok())??
    };
    let open = sources.into_iter().filter_map(|source| {
        let (count, head) = tip(source.tenant.as_deref())?;
        Some(OpenChain { tool: source.tool?, session: source.session?, count, head })
    });
    open.collect()
}
