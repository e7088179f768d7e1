//! Keeps the user's work sacred: snapshots of the work tree, what a cycle changed, and the way back.

pub mod audit;
pub mod changes;
pub mod extras;
pub mod guard;
mod last;
pub mod listing;
pub mod names;
mod pairs;
pub mod patch;
mod permissions;
mod place;
pub mod repository;
pub mod rollback;
mod rules;
pub mod shadow;
mod stat;

pub use audit::Audit;
pub use changes::{ChangeKind, Changes, FileChange, changes};
pub use guard::Guard;
pub use listing::Scope;
pub use patch::{Patch, PatchForm};
pub use repository::Repository;
pub use rollback::{RollbackReport, rollback};
pub use shadow::Shadow;

use capsid_model::{Time, Value, json};
use names::Name;
use std::path::PathBuf;

/// The work tree at one moment. Its content is in the shadow; this is the small part that the run state keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The git tree of every file taken.
    pub tree: String,
    /// The name of the kept bytes that say what a tree cannot hold.
    pub extras: String,
    /// The commit that the repository stood on.
    pub head: Option<String>,
    /// The state of what a cycle may not touch inside `.git`.
    pub guard: Guard,
    /// Snapshots of submodules and of other repositories inside the work tree.
    pub nested: Vec<Nested>,
    /// When it was taken.
    pub taken_at: Time,
}

/// The snapshot of a repository inside the work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nested {
    /// Where it is in the work tree.
    pub name: Name,
    /// Its git directory, which for a submodule lies in the outer one.
    pub git_dir: PathBuf,
    /// The bytes of its `.git` file, when its git directory is elsewhere.
    pub link: Option<Vec<u8>>,
    /// Its own snapshot.
    pub snapshot: Snapshot,
}

impl Snapshot {
    /// What `later` shows to be touched inside `.git`, as paths like `.git/config`, or `.git/HEAD (moved)`.
    pub fn touched(&self, later: &Snapshot) -> Vec<String> {
        let moved = ".git/HEAD (moved)".to_owned();
        let mut touched = self.guard.changed(&later.guard);
        if self.head != later.head && !touched.contains(&moved) {
            touched.push(moved);
        }
        for nested in &self.nested {
            let Some(after) = later.nested_at(&nested.name) else {
                continue;
            };
            let inner = nested.snapshot.touched(&after.snapshot);
            let folder = names::show(&nested.name);
            touched.extend(inner.iter().map(|path| format!("{folder}/{path}")));
        }
        touched
    }

    pub(crate) fn nested_at(&self, name: &[u8]) -> Option<&Nested> {
        self.nested.iter().find(|nested| nested.name == name)
    }

    /// The form it has in the run state.
    pub fn to_value(&self) -> Value {
        let nested: Vec<Value> = self.nested.iter().map(Nested::to_value).collect();
        json!({
            "tree": self.tree,
            "extras": self.extras,
            "head": self.head,
            "guard": self.guard.to_value(),
            "nested": nested,
            "taken_at": self.taken_at.0,
        })
    }

    /// Reads what [`Snapshot::to_value`] wrote.
    pub fn read(value: &Value) -> Option<Self> {
        let text = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
        let nested = value.get("nested")?.as_array()?;
        Some(Self {
            tree: text("tree").filter(|id| is_id(id))?,
            extras: text("extras").filter(|id| is_id(id))?,
            head: text("head"),
            guard: Guard::read(value.get("guard")?)?,
            nested: nested.iter().map(Nested::read).collect::<Option<_>>()?,
            taken_at: Time(value.get("taken_at")?.as_i64()?),
        })
    }
}

impl Nested {
    fn to_value(&self) -> Value {
        json!({
            "name": names::to_value(&self.name),
            "git_dir": names::to_value(&names::of_path(&self.git_dir)),
            "link": self.link.as_deref().map(names::to_value),
            "snapshot": self.snapshot.to_value(),
        })
    }

    fn read(value: &Value) -> Option<Self> {
        Some(Self {
            name: names::read(value.get("name")?).filter(|name| names::is_inside(name))?,
            git_dir: names::to_path(&names::read(value.get("git_dir")?)?).to_owned(),
            link: value.get("link").and_then(names::read),
            snapshot: Snapshot::read(value.get("snapshot")?)?,
        })
    }
}

/// Whether a text is an object id or a hash, and not an option or a path that someone put in its place.
fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
