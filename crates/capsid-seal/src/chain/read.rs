//! Reading a chain database of either reference tool, a few records at a time.

use super::adopt::{covered, last};
use super::open::{no_chain, problem, refuse_views};
use super::pending::{count_pending, list_pending, pending_texts};
use super::read_only::{ReadOnlyDatabase, open_read_only};
use crate::{RecordColumns, RecordSeal, StoredRecord};
use capsid_model::{Code, Problem, Result};
use capsid_verdict::document::from_document;
use capsid_verdict::stored::{ColumnsView, RecordView};
use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Row, params};
use std::borrow::{Borrow, Cow};
use std::path::{Path, PathBuf};

/// How many records are held at once: a record may be large.
const PAGE: usize = 64;

/// Whose table it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFlavour {
    /// The exact hashed text is in the table (`agent-capsule`, and ours).
    Canonical,
    /// An ordinary JSON document is in the table and is made canonical again (`qp-capsule`).
    Document,
}

/// A chain database that is only read.
#[derive(Debug)]
pub struct ChainReader {
    path: PathBuf,
    database: ReadOnlyDatabase,
    /// None for a file in which no table was laid yet.
    flavour: Option<TableFlavour>,
    has_keys: bool,
}

impl ChainReader {
    /// Opens a database. A missing file is an error, and nothing is created.
    pub fn open(path: &Path) -> Result<Self> {
        let database = open_read_only(path)?;
        let connection = &database.connection;
        refuse_views(path, connection)?;
        let columns = |table: &str| -> rusqlite::Result<Vec<String>> {
            let mut query = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
            query.query_map([table], |row| row.get(0))?.collect()
        };
        let fail = |error| problem("read", path, &error);
        let names = columns("capsules").map_err(fail)?;
        let has_keys = !columns("capsid_keys").map_err(fail)?.is_empty();
        let has = |name: &str| names.iter().any(|column| column == name);
        let flavour = if has("canonical") && has("tenant_id") {
            Some(TableFlavour::Canonical)
        } else if has("data") {
            Some(TableFlavour::Document)
        } else if std::fs::metadata(path).is_ok_and(|file| file.len() == 0) {
            None
        } else {
            return Err(no_chain(path, "it has no table of sealed records"));
        };
        let reader = Self { path: path.to_owned(), database, flavour, has_keys };
        reader.refuse_hidden_rows()?;
        Ok(reader)
    }

    /// A tenant that is neither a text nor null would be nobody's, and its records would never be looked at. Texts sort
    /// between numbers and bytes, so the ends say it all.
    fn refuse_hidden_rows(&self) -> Result<()> {
        const ENDS: &str = "SELECT typeof((SELECT min(tenant_id) FROM capsules)), typeof((SELECT max(tenant_id) FROM capsules))";
        if self.flavour != Some(TableFlavour::Canonical) {
            return Ok(());
        }
        let ends = self.database.connection.query_row(ENDS, [], |row| Ok([row.get(0)?, row.get(1)?]));
        let ends: [String; 2] = ends.map_err(|error| problem("read", &self.path, &error))?;
        if ends.iter().all(|kind| matches!(kind.as_str(), "text" | "null")) {
            return Ok(());
        }
        let message = format!("`{}` holds records under a tenant that is no text.", self.path.display());
        Err(Problem::new(Code::ChainBroken, message)
            .fix("Restore the file from a copy: somebody hid these records."))
    }

    /// How many records wait for a signature. They are not part of the chain yet.
    pub fn pending(&self, tenant: Option<&str>) -> Result<u64> {
        count_pending(&self.database.connection, tenant).map_err(|error| problem("read", &self.path, &error))
    }

    /// Whether a private copy is read and was rolled back, because a writer stopped half way.
    pub fn is_recovered(&self) -> bool {
        self.database.is_recovered
    }

    /// How many records wait, by tenant.
    pub fn list_pending(&self) -> Result<Vec<(Option<String>, u64)>> {
        list_pending(&self.database.connection).map_err(|error| problem("read", &self.path, &error))
    }

    /// The texts that wait for a signature, in order.
    pub fn pending_texts(&self, tenant: Option<&str>) -> Result<Vec<String>> {
        pending_texts(&self.database.connection, tenant).map_err(|error| problem("read", &self.path, &error))
    }

    /// Whose table it is; none when the file is still empty.
    pub fn flavour(&self) -> Option<TableFlavour> {
        self.flavour
    }

    /// The chains in the file: one without a name in a session's own file, one for each tenant in a shared one.
    pub fn tenants(&self) -> Result<Vec<Option<String>>> {
        match self.flavour {
            None => Ok(Vec::new()),
            Some(TableFlavour::Document) => Ok(if self.count(None)? == 0 { vec![] } else { vec![None] }),
            Some(TableFlavour::Canonical) => {
                self.list("SELECT DISTINCT tenant_id FROM capsules ORDER BY tenant_id", &[], |row| {
                    let tenant = row.get_ref(0)?;
                    Ok((tenant != ValueRef::Null).then(|| text(tenant)))
                })
            }
        }
    }

    /// How many records a chain has.
    pub fn count(&self, tenant: Option<&str>) -> Result<u64> {
        let query = match self.flavour {
            None => return Ok(0),
            Some(TableFlavour::Document) => "SELECT count(*) FROM capsules WHERE ?1 IS NULL",
            Some(TableFlavour::Canonical) => "SELECT count(*) FROM capsules WHERE tenant_id IS ?1",
        };
        let count = self.database.connection.query_row(query, [tenant], |row| row.get::<_, i64>(0));
        count.map(i64::unsigned_abs).map_err(|error| problem("read", &self.path, &error))
    }

    /// The last record of a chain.
    pub fn head(&self, tenant: Option<&str>) -> Result<Option<StoredRecord>> {
        let Some(flavour) = self.flavour else { return Ok(None) };
        let query = format!("{} ORDER BY sequence DESC, rowid DESC LIMIT 1", select(flavour));
        Ok(self.list(&query, params![tenant], |row| stored(row, flavour))?.pop())
    }

    /// The records at one position of a chain: one, unless the chain was cut or forked.
    pub fn at(&self, tenant: Option<&str>, sequence: u64) -> Result<Vec<StoredRecord>> {
        let (Some(flavour), Ok(sequence)) = (self.flavour, i64::try_from(sequence)) else {
            return Ok(vec![]);
        };
        let query = format!("{} AND sequence = ?2 LIMIT 2", select(flavour));
        self.list(&query, params![tenant, sequence], |row| stored(row, flavour))
    }

    /// The records of a chain in order of their place, those with one place in the order they were written.
    pub fn records(&self, tenant: Option<&str>) -> ChainRecords<&Self> {
        ChainRecords::new(self, tenant)
    }

    /// The records of a chain from a place on.
    pub fn records_from(&self, tenant: Option<&str>, sequence: u64) -> ChainRecords<&Self> {
        ChainRecords::new(self, tenant).from(sequence)
    }

    /// Whether a private copy is read; one more reader would copy all of it again.
    pub(crate) fn is_copy(&self) -> bool {
        self.database.copy.is_some()
    }

    /// All records, with the reader inside.
    pub fn into_records(self, tenant: Option<&str>) -> ChainRecords<Self> {
        ChainRecords::new(self, tenant)
    }

    /// How many records a chain has and the hash of the last one, without reading its text; none when it is empty.
    pub fn tip(&self, tenant: Option<&str>) -> Result<Option<(u64, String)>> {
        if self.flavour != Some(TableFlavour::Canonical) {
            let Some(head) = self.head(tenant)? else { return Ok(None) };
            return Ok(Some((self.count(tenant)?, head.seal.hash)));
        }
        let head =
            last(&self.database.connection, tenant).map_err(|error| problem("read", &self.path, &error))?;
        Ok(head.map(|head| (head.sequence.unsigned_abs() + 1, head.hash)))
    }

    /// The count that the keys of sealed items name: a chain that has fewer records lost its end.
    pub fn sealed_count(&self, tenant: Option<&str>) -> Result<u64> {
        if !self.has_keys {
            return Ok(0);
        }
        let last = covered(&self.database.connection, tenant)
            .map_err(|error| problem("read", &self.path, &error))?;
        Ok(last.map_or(0, |last| last.unsigned_abs() + 1))
    }

    /// Where an item's record is, if it was sealed into a chain.
    pub fn place_of(&self, tenant: Option<&str>, key: &str) -> Result<Option<u64>> {
        if !self.has_keys {
            return Ok(None);
        }
        let query = "SELECT sequence FROM capsid_keys WHERE tenant = ?1 AND key = ?2";
        let mut places: Vec<i64> =
            self.list(query, params![tenant.unwrap_or_default(), key], |row| row.get(0))?;
        Ok(places.pop().map(i64::unsigned_abs))
    }

    pub(super) fn parts(&self) -> (&Connection, &Path) {
        (&self.database.connection, &self.path)
    }

    /// The keys of all that was sealed into a chain, sorted.
    pub fn keys(&self, tenant: Option<&str>) -> Result<Vec<String>> {
        if !self.has_keys {
            return Ok(Vec::new());
        }
        let query = "SELECT key FROM capsid_keys WHERE tenant = ?1 ORDER BY key";
        self.list(query, params![tenant.unwrap_or_default()], |row| Ok(text(row.get_ref(0)?)))
    }

    fn list<T>(
        &self,
        query: &str,
        values: &[&dyn rusqlite::ToSql],
        make: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let run = || {
            self.database
                .connection
                .prepare_cached(query)?
                .query_map(values, make)?
                .collect::<rusqlite::Result<_>>()
        };
        run().map_err(|error| problem("read", &self.path, &error))
    }
}

/// The records of one chain. See [`ChainReader::records`].
#[derive(Debug)]
pub struct ChainRecords<R> {
    reader: R,
    tenant: Option<String>,
    /// Place and row of the last record that was read.
    after: Option<(RawColumn, i64)>,
    page: std::vec::IntoIter<StoredRecord>,
    done: bool,
}

impl<R: Borrow<ChainReader>> ChainRecords<R> {
    fn new(reader: R, tenant: Option<&str>) -> Self {
        let tenant = tenant.map(str::to_owned);
        Self { reader, tenant, after: None, page: Vec::new().into_iter(), done: false }
    }

    pub(crate) fn from(mut self, sequence: u64) -> Self {
        let before = i64::try_from(sequence).unwrap_or(i64::MAX).checked_sub(1).filter(|before| *before >= 0);
        self.after = before.map(|before| (RawColumn::Other(Value::Integer(before)), i64::MAX));
        self
    }

    pub(crate) fn reader(&self) -> &ChainReader {
        self.reader.borrow()
    }

    /// Each page is a separate read, so that a slow reader blocks no writer. Chains only grow.
    fn turn(&mut self) -> Result<()> {
        let reader = self.reader.borrow();
        let Some(flavour) = reader.flavour else {
            self.done = true;
            return Ok(());
        };
        let order = format!("ORDER BY sequence, rowid LIMIT {PAGE}");
        let make =
            |row: &Row<'_>| Ok((row.get(column::SEQUENCE)?, row.get(column::PLACE)?, stored(row, flavour)?));
        let rows: Vec<(RawColumn, i64, StoredRecord)> = match &self.after {
            None => reader.list(&format!("{} {order}", select(flavour)), params![self.tenant], make)?,
            Some((sequence, row)) => {
                let query = format!("{} AND (sequence, rowid) > (?2, ?3) {order}", select(flavour));
                reader.list(&query, params![self.tenant, sequence, row], make)?
            }
        };
        self.done = rows.len() < PAGE;
        if let Some((sequence, row, _)) = rows.last() {
            self.after = Some((sequence.clone(), *row));
        }
        self.page = rows.into_iter().map(|(_, _, stored)| stored).collect::<Vec<_>>().into_iter();
        Ok(())
    }
}

impl<R: Borrow<ChainReader>> Iterator for ChainRecords<R> {
    type Item = Result<StoredRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.len() == 0
            && !self.done
            && let Err(problem) = self.turn()
        {
            self.done = true;
            return Some(Err(problem));
        }
        self.page.next().map(Ok)
    }
}

/// A value as it is in the table: a writer can leave a text there that is not UTF-8.
#[derive(Debug, Clone)]
enum RawColumn {
    Text(Vec<u8>),
    Other(Value),
}

impl FromSql for RawColumn {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Text(bytes) => Ok(Self::Text(bytes.to_vec())),
            other => other.try_into().map(Self::Other),
        }
    }
}

impl ToSql for RawColumn {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Text(bytes) => Ok(ToSqlOutput::Borrowed(ValueRef::Text(bytes))),
            Self::Other(value) => value.to_sql(),
        }
    }
}

/// Where [`select`] puts what: a name would be looked up again for every row.
mod column {
    pub const PLACE: usize = 0;
    pub const SEQUENCE: usize = 1;
    pub const ID: usize = 2;
    pub const PREVIOUS_HASH: usize = 3;
    pub const HASH: usize = 4;
    pub const SIGNATURE: usize = 5;
    pub const SIGNATURE_PQ: usize = 6;
    pub const SIGNED_AT: usize = 7;
    pub const SIGNED_BY: usize = 8;
    pub const CONTENT: usize = 9;
}

fn select(flavour: TableFlavour) -> &'static str {
    match flavour {
        TableFlavour::Canonical => {
            "SELECT rowid AS place, sequence, id, previous_hash, hash, signature, signature_pq, signed_at, signed_by, \
             canonical AS content FROM capsules WHERE tenant_id IS ?1"
        }
        TableFlavour::Document => {
            "SELECT rowid AS place, sequence, id, previous_hash, hash, signature, signature_pq, signed_at, signed_by, \
             data AS content FROM capsules WHERE ?1 IS NULL"
        }
    }
}

impl ChainReader {
    /// Visits the records at places from `first` up to and without `end`, in order, with texts that are borrowed from
    /// the rows. Stops after `most` records. Gives how many were visited.
    pub(crate) fn visit(
        &self,
        tenant: Option<&str>,
        (first, end): (i64, i64),
        most: usize,
        visit: &mut dyn FnMut(&RecordView<'_>),
    ) -> Result<usize> {
        let query = format!(
            "{} AND sequence >= ?2 AND sequence < ?3 ORDER BY sequence, rowid LIMIT ?4",
            select(TableFlavour::Canonical)
        );
        let mut run = || -> rusqlite::Result<usize> {
            let mut statement = self.database.connection.prepare_cached(&query)?;
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            let mut rows = statement.query(params![tenant, first, end, most])?;
            let mut visited = 0;
            while let Some(row) = rows.next()? {
                visit_row(row, visit)?;
                visited += 1;
            }
            Ok(visited)
        };
        run().map_err(|error| problem("read", &self.path, &error))
    }

    /// The first and the last place of a chain and how many records there are, if the places are numbers. None for a
    /// chain without records, and for a table whose texts are made canonical first.
    pub(crate) fn extent(&self, tenant: Option<&str>) -> Result<Option<(i64, i64, u64)>> {
        const QUERY: &str = "SELECT (SELECT min(sequence) FROM capsules WHERE tenant_id IS ?1), \
             (SELECT max(sequence) FROM capsules WHERE tenant_id IS ?1), count(*), \
             count(*) FILTER (WHERE sequence IS NULL) FROM capsules WHERE tenant_id IS ?1";
        if self.flavour != Some(TableFlavour::Canonical) {
            return Ok(None);
        }
        let row = |row: &Row<'_>| {
            let place = |at: usize| row.get_ref(at).map(|value| value.as_i64().ok());
            Ok((place(0)?, place(1)?, row.get::<_, i64>(2)?, row.get::<_, i64>(3)?))
        };
        let found = self.database.connection.query_row(QUERY, [tenant], row);
        let (first, last, count, nowhere) = found.map_err(|error| problem("read", &self.path, &error))?;
        // A place that is no number is never among these: the least would not be a number either, or the greatest.
        Ok(first.zip(last).filter(|_| nowhere == 0).map(|(first, last)| (first, last, count.unsigned_abs())))
    }
}

/// Hands a row on without copying its texts. What has the wrong type is taken as text, which then does not verify.
fn visit_row(row: &Row<'_>, visit: &mut dyn FnMut(&RecordView<'_>)) -> rusqlite::Result<()> {
    let optional =
        |at: usize| row.get_ref(at).map(|value| (value != ValueRef::Null).then(|| borrowed(value)));
    let required = |at: usize| optional(at).map(Option::unwrap_or_default);
    let (id, previous_hash) = (required(column::ID)?, optional(column::PREVIOUS_HASH)?);
    let (hash, signature) = (required(column::HASH)?, required(column::SIGNATURE)?);
    let (signature_pq, signed_by) = (required(column::SIGNATURE_PQ)?, required(column::SIGNED_BY)?);
    let (signed_at, canonical) = (optional(column::SIGNED_AT)?, required(column::CONTENT)?);
    let sequence = row.get_ref(column::SEQUENCE)?.as_i64().unwrap_or(RecordColumns::NO_NUMBER);
    visit(&RecordView {
        canonical: &canonical,
        hash: &hash,
        signature: &signature,
        signature_pq: &signature_pq,
        signed_at: signed_at.as_deref(),
        signed_by: &signed_by,
        columns: Some(ColumnsView { id: &id, sequence, previous_hash: previous_hash.as_deref() }),
    });
    Ok(())
}

/// A value as text, borrowed where it is one.
fn borrowed(value: ValueRef<'_>) -> Cow<'_, str> {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(text(value)),
        },
        other => Cow::Owned(text(other)),
    }
}

/// A row as a record. What has the wrong type is taken as text, which then does not verify.
fn stored(row: &Row<'_>, flavour: TableFlavour) -> rusqlite::Result<StoredRecord> {
    let optional = |at: usize| row.get_ref(at).map(|value| (value != ValueRef::Null).then(|| text(value)));
    let required = |at: usize| optional(at).map(Option::unwrap_or_default);
    let columns = RecordColumns {
        id: required(column::ID)?,
        sequence: row.get_ref(column::SEQUENCE)?.as_i64().unwrap_or(RecordColumns::NO_NUMBER),
        previous_hash: optional(column::PREVIOUS_HASH)?,
    };
    let seal = RecordSeal {
        hash: required(column::HASH)?,
        signature: required(column::SIGNATURE)?,
        signature_pq: required(column::SIGNATURE_PQ)?,
        signed_at: optional(column::SIGNED_AT)?,
        signed_by: required(column::SIGNED_BY)?,
    };
    let content = required(column::CONTENT)?;
    Ok(match flavour {
        TableFlavour::Canonical => StoredRecord { canonical: content, seal, columns: Some(columns) },
        TableFlavour::Document => from_document(content, seal, columns),
    })
}

fn text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            // Without the words, half a character would read the same as a sealed U+FFFD.
            Err(_) => format!("{} (not UTF-8)", String::from_utf8_lossy(bytes)),
        },
    }
}
