//! The state of one instance of the module.

use crate::facets::{has_words, parse_content};
use crate::fold::{FoldRow, RowFold};
use crate::row::{check_record, to_row};
use crate::split::next_value;
use crate::verdict::{VerdictQuestion, answer, index_to_value};
use capsid_model::exact::parse;
use capsid_verdict::bundle::{BundleIndex, BundleReading, BundleStatement, META, ReadChain};
use capsid_verdict::claim::ChainClaim;
use capsid_verdict::document::from_sealed;
use capsid_verdict::hash::sha3_hex;
use capsid_verdict::home::HomeTraces;
use capsid_verdict::stored::StoredRecord;
use capsid_verdict::verify::VerifyOptions;
use capsid_verdict::{KeyOrigin, KeySet, PublicKey};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// One instance: the keys, the words that are searched, the bytes that came in last, and the result that goes out.
#[derive(Debug, Default)]
pub struct VerdictModule {
    input: Vec<u8>,
    output: Vec<u8>,
    keys: KeySet,
    words: String,
    folds: BTreeMap<u32, RowFold>,
    /// What was read of the bundle so far.
    reading: BundleReading,
    /// What the program collected of the home, where the chains are those of one.
    home: Option<HomeTraces>,
}

impl VerdictModule {
    /// Makes room for input and returns it to be filled.
    pub fn resize_input(&mut self, len: usize) -> &mut [u8] {
        self.input.clear();
        self.input.resize(len, 0);
        &mut self.input
    }

    /// The result of the last call.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// Hashes the input.
    pub fn hash(&mut self) {
        self.output = sha3_hex(&self.input).into_bytes();
    }

    /// Takes the keys of the input, `[[hex, origin, epoch], ...]`, in place of those before, and lists those that are keys.
    /// The epoch is the key's place among the home's own ones, or null.
    pub fn set_keys(&mut self) {
        let listed: Vec<(String, String, Option<u64>)> =
            serde_json::from_slice(&self.input).unwrap_or_default();
        self.keys = KeySet::default();
        for (hex, origin, epoch) in listed {
            let (Ok(key), Some(origin)) = (PublicKey::from_hex(&hex), parse_origin(&origin)) else {
                continue;
            };
            self.keys.add(key, origin);
            if let Some(epoch) = epoch {
                self.keys.set_epoch(&key, epoch);
            }
        }
        let keys = self.keys.iter().map(|one| {
            json!([one.key.hex(), one.key.fingerprint(), one.origin.as_str(), self.keys.is_own(&one.key)])
        });
        self.output = Value::Array(keys.collect()).to_string().into_bytes();
    }

    /// Takes the words of the input for searches.
    pub fn set_words(&mut self) {
        self.words = String::from_utf8_lossy(&self.input).to_lowercase();
    }

    /// Checks the records of the input, a piece of a chain file.
    pub fn check(&mut self) {
        let options = VerifyOptions { signatures: true, ..VerifyOptions::default() };
        let rows = records(&self.input).map(|(place, stored)| match stored {
            Some(stored) => to_row(place, stored, &self.keys, &options),
            None => Value::Null,
        });
        self.output = Value::Array(rows.collect()).to_string().into_bytes();
    }

    /// Which records of the input have the words, by their place in it.
    pub fn search(&mut self) {
        let found = records(&self.input).enumerate().filter_map(|(at, (_, stored))| {
            has_words(&parse_content(&stored?.canonical), &self.words).then_some(at)
        });
        self.output = Value::from_iter(found).to_string().into_bytes();
    }

    /// Takes the rows of the input as the next of a chain. A number distinguishes chains that are read at once.
    pub fn fold(&mut self, chain: u32) {
        let rows: Vec<FoldRow<'_>> = serde_json::from_slice(&self.input).unwrap_or_default();
        let fold = self.folds.entry(chain).or_insert_with(RowFold::begin);
        for row in &rows {
            fold.push(row, &self.keys);
        }
    }

    /// Takes the text of an index in place of all that was read before, and tells what it says: `[problem, index]`.
    pub fn set_index(&mut self) {
        self.reading = BundleReading::default();
        self.home = None;
        self.folds.clear();
        let index = self.input_text().and_then(BundleIndex::parse);
        let told = match &index {
            Ok(index) => json!([null, index_to_value(index)]),
            Err(why) => json!([why, null]),
        };
        self.reading.index = index.unwrap_or_default();
        self.output = told.to_string().into_bytes();
    }

    /// Takes the text of `heads.json`, and says what is wrong with it, if anything is.
    pub fn set_heads(&mut self) {
        let statements = self.input_text().and_then(BundleStatement::parse_all);
        self.output = json!(statements.as_ref().err()).to_string().into_bytes();
        self.reading.statements = statements.unwrap_or_default();
    }

    /// Takes what the program collected of the home that the chains are in, and says what is wrong with it, if anything is.
    pub fn set_home(&mut self) {
        let home = serde_json::from_slice::<HomeTraces>(&self.input).map_err(|problem| problem.to_string());
        self.output = json!(home.as_ref().err()).to_string().into_bytes();
        self.home = home.ok();
    }

    /// Ends a chain and tells what its records come to. The input is its id, and the head of its file: `[id, text]`.
    pub fn end_fold(&mut self, chain: u32) {
        let (id, header): (String, String) = serde_json::from_slice(&self.input).unwrap_or_default();
        let header = parse(&header).map(|header| ChainClaim::parse(&header)).unwrap_or_default();
        let index = &self.reading.index;
        let claim =
            if id == META { index.meta.as_ref() } else { index.find(&id).map(|listed| &listed.claim) };
        let fold = self.folds.remove(&chain).unwrap_or_else(RowFold::begin);
        let (told, checked, log) = fold.end(claim, header);
        let checked = ReadChain::Checked(Box::new(checked));
        if id == META {
            self.reading.meta = Some(checked);
            self.reading.log = log;
        } else {
            self.reading.chains.insert(id, checked);
        }
        self.output = told.to_string().into_bytes();
    }

    /// The lengths of each chain at which its hash is needed for the verdict: `{id: [length, ...]}`.
    pub fn wanted(&mut self) {
        let wanted = self.home.as_ref().map_or_else(|| self.reading.wanted(), HomeTraces::wanted);
        self.output = json!(wanted).to_string().into_bytes();
    }

    /// The verdict on the chains that ended, with what the input adds; null where the input is no question.
    pub fn evaluate(&mut self) {
        let question = serde_json::from_slice::<VerdictQuestion>(&self.input);
        let home = self.home.as_ref();
        let told = question.map_or(Value::Null, |question| answer(question, &self.reading, home, &self.keys));
        self.output = told.to_string().into_bytes();
    }

    fn input_text(&self) -> Result<&str, String> {
        std::str::from_utf8(&self.input).map_err(|_| "it is not UTF-8".to_owned())
    }

    /// One record whole, with its exact text.
    pub fn record(&mut self) {
        let options = VerifyOptions { signatures: true, ..VerifyOptions::default() };
        let record = std::str::from_utf8(&self.input).map_or(Value::Null, |text| {
            let (stored, verdict) = check_record(from_sealed(text), &self.keys, &options);
            json!({
                "canonical": stored.canonical,
                "computed_hash": sha3_hex(stored.canonical.as_bytes()),
                "signature": stored.seal.signature,
                "signature_pq": stored.seal.signature_pq,
                "verdict": verdict,
            })
        });
        self.output = record.to_string().into_bytes();
    }
}

fn records(bytes: &[u8]) -> impl Iterator<Item = ((usize, usize), Option<StoredRecord>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (start, end) = next_value(bytes, at)?;
        at = end;
        let text = bytes.get(start..end).and_then(|bytes| std::str::from_utf8(bytes).ok());
        Some(((start, end), text.map(from_sealed)))
    })
}

fn parse_origin(word: &str) -> Option<KeyOrigin> {
    let origins =
        [KeyOrigin::Bundled, KeyOrigin::Known, KeyOrigin::Retired, KeyOrigin::Own, KeyOrigin::Pinned];
    origins.into_iter().find(|origin| origin.as_str() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(module: &mut VerdictModule, input: &[u8], method: fn(&mut VerdictModule)) -> String {
        module.resize_input(input.len()).copy_from_slice(input);
        method(module);
        String::from_utf8(module.output().to_vec()).unwrap()
    }

    #[test]
    fn the_hash_of_the_input_is_the_output() {
        let digits = call(&mut VerdictModule::default(), b"abc", VerdictModule::hash);
        assert_eq!(digits, "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532");
    }

    #[test]
    fn a_chunk_has_a_row_for_each_of_its_records_and_none_for_bytes_that_are_no_text() {
        let mut module = VerdictModule::default();
        let rows = call(&mut module, b"{\"id\":\"a\"}, [], {\"x\":\"\xff\"}", VerdictModule::check);
        let rows: Vec<Value> = serde_json::from_str(&rows).unwrap();
        assert_eq!(rows.len(), 3);
        assert_eq!((&rows[0][0], &rows[0][1]), (&json!(0), &json!(10)));
        assert_eq!(rows[1][2][3], json!(["malformed", "hash is not 64 hex digits"]));
        assert_eq!(rows[2], Value::Null);
    }

    #[test]
    fn a_search_looks_into_arguments_and_results_in_any_case() {
        let mut module = VerdictModule::default();
        call(&mut module, b"NEEDLE", VerdictModule::set_words);
        let chunk = br#"{"id":"a","x":[{"y":"a Needle"}]},{"id":"needle-not"},{"id":"b"}"#;
        assert_eq!(call(&mut module, chunk, VerdictModule::search), "[0,1]");
    }
}
