//! Names of tests with their results, as a runner lists them.

use super::TestResult;
use std::collections::BTreeMap;

/// Names in the order of the output. Equal names are allowed: two files may have a test of the same name.
#[derive(Debug, Default)]
pub(super) struct NameList {
    names: Vec<(String, TestResult)>,
}

impl NameList {
    pub(super) fn push(&mut self, name: impl Into<String>, result: TestResult) {
        self.names.push((name.into(), result));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(String, TestResult)> {
        self.names.iter()
    }

    pub(super) fn extend(&mut self, others: NameList) {
        self.names.extend(others.names);
    }

    /// How many tests of the list were not skipped.
    pub(super) fn count_ran(&self) -> u64 {
        self.names.iter().filter(|(_, result)| *result != TestResult::Skipped).count() as u64
    }

    /// The names, if they are all that ran. Skipped tests may be absent, because some runners leave them out.
    pub(super) fn into_complete(self, ran: u64) -> Option<BTreeMap<String, TestResult>> {
        (self.count_ran() == ran).then(|| self.into_map())
    }

    /// The names as a map: the second test of a name becomes `name (2)`.
    pub(super) fn into_map(self) -> BTreeMap<String, TestResult> {
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        let mut map = BTreeMap::new();
        for (name, result) in self.names {
            let count = seen.entry(name.clone()).or_default();
            *count += 1;
            let key = if *count == 1 { name } else { format!("{name} ({count})") };
            map.insert(key, result);
        }
        map
    }
}
