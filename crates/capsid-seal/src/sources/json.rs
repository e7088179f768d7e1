//! Chains in JSON files: a list of sealed records, one record alone, or a bundle's chain file.

use super::scan::FileScanner;
use crate::StoredRecord;
use capsid_model::Result;
use capsid_model::exact::{ExactFields, ExactJson, parse};
use capsid_verdict::document::from_sealed;
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

/// The member of a chain file that holds its records.
const RECORDS: &str = "capsules";

/// What a JSON file holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum JsonShape {
    /// A list of sealed records.
    List,
    /// A bundle's chain file; the members before the records are its claims.
    Chain(ExactFields),
    /// One object: a record, or something else.
    One(ExactFields),
}

/// Examines a file. Of a chain file only the part before its records is read.
pub(crate) fn shape(path: &Path) -> Result<JsonShape> {
    let mut scanner = FileScanner::open(path)?;
    match scanner.peek()? {
        Some(b'[') => Ok(JsonShape::List),
        Some(b'{') => {
            scanner.demand(b'{')?;
            let (fields, has_records) = members(&mut scanner)?;
            Ok(if has_records { JsonShape::Chain(fields) } else { JsonShape::One(fields) })
        }
        _ => Err(scanner.broken("it is neither a JSON list nor a JSON object")),
    }
}

/// The members of an object, up to its records if it has some.
fn members(scanner: &mut FileScanner) -> Result<(ExactFields, bool)> {
    let mut fields = ExactFields::new();
    if scanner.pass(b'}')? {
        return Ok((fields, false));
    }
    loop {
        let Ok(ExactJson::String(name)) = parse(&scanner.value()?) else {
            return Err(scanner.broken("a name in it is no text"));
        };
        scanner.demand(b':')?;
        if name == RECORDS && scanner.peek()? == Some(b'[') {
            return Ok((fields, true));
        }
        let value = parse(&scanner.value()?).map_err(|problem| scanner.broken(&problem.message))?;
        fields.insert(name, value);
        if !scanner.pass(b',')? {
            scanner.demand(b'}')?;
            return Ok((fields, false));
        }
    }
}

/// The records of a JSON file, one after the other.
#[derive(Debug)]
pub struct JsonRecords {
    scanner: FileScanner,
    state: JsonState,
    header: ChainHeader,
}

/// The members of a chain file beside its records. Those behind the records are there when the records were read.
pub(crate) type ChainHeader = Rc<RefCell<Option<ExactJson>>>;

#[derive(Debug, Clone, Copy, PartialEq)]
enum JsonState {
    /// The records of a list come, or of a chain file's member.
    First {
        in_object: bool,
    },
    More {
        in_object: bool,
    },
    One,
    Done,
}

impl JsonRecords {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let shape = shape(path)?;
        let mut scanner = FileScanner::open(path)?;
        let header = ChainHeader::default();
        let state = match shape {
            JsonShape::One(_) => JsonState::One,
            JsonShape::List => JsonState::First { in_object: false },
            JsonShape::Chain(_) => {
                scanner.demand(b'{')?;
                let (fields, _) = members(&mut scanner)?;
                header.replace(Some(ExactJson::Object(fields)));
                JsonState::First { in_object: true }
            }
        };
        if state != JsonState::One {
            scanner.demand(b'[')?;
        }
        Ok(Self { scanner, state, header })
    }

    /// The members beside the records.
    pub(crate) fn header(&self) -> ChainHeader {
        Rc::clone(&self.header)
    }

    fn step(&mut self) -> Result<Option<StoredRecord>> {
        let in_object = match self.state {
            JsonState::Done => return Ok(None),
            JsonState::One => {
                let record = from_sealed(&self.scanner.value()?);
                self.state = JsonState::Done;
                return self.scanner.finish().map(|()| Some(record));
            }
            JsonState::First { in_object } => {
                if self.scanner.pass(b']')? {
                    return self.end(in_object);
                }
                in_object
            }
            JsonState::More { in_object } => {
                if !self.scanner.pass(b',')? {
                    self.scanner.demand(b']')?;
                    return self.end(in_object);
                }
                in_object
            }
        };
        self.state = JsonState::More { in_object };
        Ok(Some(from_sealed(&self.scanner.value()?)))
    }

    fn end(&mut self, in_object: bool) -> Result<Option<StoredRecord>> {
        self.state = JsonState::Done;
        if in_object {
            if self.scanner.pass(b',')? {
                let (rest, again) = members(&mut self.scanner)?;
                // Some readers would take the first list and some the last.
                if again {
                    return Err(self.scanner.broken("it has two lists of records"));
                }
                if let Some(ExactJson::Object(fields)) = &mut *self.header.borrow_mut() {
                    fields.extend(rest);
                }
            } else {
                self.scanner.demand(b'}')?;
            }
        }
        self.scanner.finish().map(|()| None)
    }
}

impl Iterator for JsonRecords {
    type Item = Result<StoredRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.state = JsonState::Done;
        }
        step.transpose()
    }
}
