//! Chains in JSON files: a list of sealed records, one record alone, or a bundle's chain file.

use super::document::from_sealed;
use super::scan::Scanner;
use crate::Stored;
use capsid_model::Result;
use capsid_model::exact::{Fields, Json, parse};
use std::path::Path;

/// The member of a chain file that holds its records.
const RECORDS: &str = "capsules";

/// What a JSON file holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// A list of sealed records.
    List,
    /// A bundle's chain file; what stands before the records is what it says about itself.
    Chain(Fields),
    /// One object: a record, or something else.
    One(Fields),
}

/// Looks at a file. Of a chain file only what stands before its records is read.
pub(crate) fn shape(path: &Path) -> Result<Shape> {
    let mut scanner = Scanner::open(path)?;
    match scanner.peek()? {
        Some(b'[') => Ok(Shape::List),
        Some(b'{') => {
            scanner.demand(b'{')?;
            let (fields, has_records) = members(&mut scanner)?;
            Ok(if has_records { Shape::Chain(fields) } else { Shape::One(fields) })
        }
        _ => Err(scanner.broken("it is neither a JSON list nor a JSON object")),
    }
}

/// The members of an object, up to its records if it has some.
fn members(scanner: &mut Scanner) -> Result<(Fields, bool)> {
    let mut fields = Fields::new();
    if scanner.pass(b'}')? {
        return Ok((fields, false));
    }
    loop {
        let Ok(Json::String(name)) = parse(&scanner.value()?) else {
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
    scanner: Scanner,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
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
        let mut scanner = Scanner::open(path)?;
        let state = match shape {
            Shape::One(_) => State::One,
            Shape::List => State::First { in_object: false },
            Shape::Chain(_) => {
                scanner.demand(b'{')?;
                members(&mut scanner)?;
                State::First { in_object: true }
            }
        };
        if state != State::One {
            scanner.demand(b'[')?;
        }
        Ok(Self { scanner, state })
    }

    fn step(&mut self) -> Result<Option<Stored>> {
        let in_object = match self.state {
            State::Done => return Ok(None),
            State::One => {
                let record = from_sealed(&self.scanner.value()?);
                self.state = State::Done;
                return self.scanner.finish().map(|()| Some(record));
            }
            State::First { in_object } => {
                if self.scanner.pass(b']')? {
                    return self.end(in_object);
                }
                in_object
            }
            State::More { in_object } => {
                if !self.scanner.pass(b',')? {
                    self.scanner.demand(b']')?;
                    return self.end(in_object);
                }
                in_object
            }
        };
        self.state = State::More { in_object };
        Ok(Some(from_sealed(&self.scanner.value()?)))
    }

    fn end(&mut self, in_object: bool) -> Result<Option<Stored>> {
        self.state = State::Done;
        if in_object {
            if self.scanner.pass(b',')? {
                let (_, again) = members(&mut self.scanner)?;
                // Some readers would take the first list and some the last.
                if again {
                    return Err(self.scanner.broken("it has two lists of records"));
                }
            } else {
                self.scanner.demand(b'}')?;
            }
        }
        self.scanner.finish().map(|()| None)
    }
}

impl Iterator for JsonRecords {
    type Item = Result<Stored>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.state = State::Done;
        }
        step.transpose()
    }
}
