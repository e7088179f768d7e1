//! Databases: the same error has the same family and code, whichever driver or client printed it.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::errno;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

/// An error of a database.
pub(crate) struct DatabaseError {
    family: &'static str,
    code: String,
    message: String,
}

/// Makes a finding one of the database.
pub(crate) fn apply(finding: &mut Finding, error: DatabaseError) {
    error.family.clone_into(&mut finding.tool);
    error.family.clone_into(&mut finding.family);
    finding.code = (!error.code.is_empty()).then_some(error.code);
    finding.message = error.message;
    finding.class = ProblemClass::DatabaseError;
    finding.values = false;
}

/// Reads a database error from the name of an exception, its message and the code that the driver prints.
pub(crate) fn classify(kind: &str, message: &str, code: &str) -> Option<DatabaseError> {
    if let Some(error) = classify_oracle(message) {
        return Some(error);
    }
    let lower = kind.to_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if is(&["sqlite"])
        || message.starts_with("SQLITE_")
        || code.starts_with("SQLITE_")
        || message.contains("sqlite3.") && message.contains("Error)")
        || is_sqlite_message(message)
            && is(&[
                "operationalerror",
                "integrityerror",
                "databaseerror",
                "queryexception",
                "statementinvalid",
                "sqlexception",
            ])
    {
        return Some(sqlite_error(message));
    }
    if let Some(error) = classify_mysql(&lower, message, code) {
        return Some(error);
    }
    if let Some(error) = classify_postgres(&lower, message, code) {
        return Some(error);
    }
    if is(&["mongo"]) && errno::classify(kind, message).is_none() {
        return Some(mongo_error(message));
    }
    if is(&["sqlserverexception", "sqlexception"]) && message.contains("Invalid object name") {
        return Some(DatabaseError {
            family: "mssql",
            code: "mssql_208".to_owned(),
            message: message.to_owned(),
        });
    }
    if is(&["redis"]) && errno::classify(kind, message).is_none() {
        return Some(redis_error(message));
    }
    if is(&["prisma"]) || is_prisma_code(code) {
        return Some(DatabaseError { family: "prisma", code: code.to_owned(), message: message.to_owned() });
    }
    None
}

fn is_sqlite_message(message: &str) -> bool {
    [
        "no such table: ",
        "no such column: ",
        "UNIQUE constraint failed",
        "NOT NULL constraint failed",
        "FOREIGN KEY constraint failed",
        "database is locked",
        "attempt to write a readonly database",
    ]
    .iter()
    .any(|words| message.contains(words))
}

fn is_prisma_code(code: &str) -> bool {
    code.len() == 5 && code.starts_with('P') && code.bytes().skip(1).all(|b| b.is_ascii_digit())
}

static ORACLE: Pattern = Pattern::new(r"\b(ORA-[0-9]{5}): (.+?)$");

fn classify_oracle(message: &str) -> Option<DatabaseError> {
    if !message.contains("ORA-") {
        return None;
    }
    let groups = ORACLE.captures(message)?;
    Some(DatabaseError {
        family: "oracle",
        code: groups.get(1).to_owned(),
        message: groups.get(2).to_owned(),
    })
}

/// Messages of PostgreSQL whose SQLSTATE is not printed.
const STATES: [(&str, &str, &str); 39] = [
    ("relation ", "does not exist", "42P01"),
    ("missing FROM-clause", "", "42P01"),
    ("column ", "does not exist", "42703"),
    ("record ", "has no field", "42703"),
    ("function ", "does not exist", "42883"),
    ("operator does not exist", "", "42883"),
    ("type ", "does not exist", "42704"),
    ("role ", "does not exist", "28000"),
    ("database ", "does not exist", "3D000"),
    ("schema ", "does not exist", "3F000"),
    ("constraint ", "does not exist", "42704"),
    ("index ", "does not exist", "42704"),
    ("relation ", "already exists", "42P07"),
    ("column ", "already exists", "42701"),
    ("database ", "already exists", "42P04"),
    ("schema ", "already exists", "42P06"),
    ("role ", "already exists", "42710"),
    ("type ", "already exists", "42710"),
    ("extension ", "already exists", "42710"),
    ("duplicate key value", "", "23505"),
    ("null value in column", "", "23502"),
    ("insert or update on table", "foreign key", "23503"),
    ("update or delete on table", "foreign key", "23503"),
    ("new row for relation", "check constraint", "23514"),
    ("conflicting key value", "", "23P01"),
    ("syntax error at", "", "42601"),
    ("INSERT has more", "", "42601"),
    ("password authentication failed", "", "28P01"),
    ("no pg_hba.conf entry", "", "28000"),
    ("permission denied for", "", "42501"),
    ("must be owner of", "", "42501"),
    ("deadlock detected", "", "40P01"),
    ("could not serialize access", "", "40001"),
    ("sorry, too many clients", "", "53300"),
    ("remaining connection slots", "", "53300"),
    ("canceling statement", "", "57014"),
    ("invalid input syntax", "", "22P02"),
    ("value too long for type", "", "22001"),
    ("division by zero", "", "22012"),
];

fn state_of(message: &str) -> Option<&'static str> {
    STATES
        .iter()
        .find(|(start, part, _)| message.starts_with(start) && message.contains(part))
        .map(|(_, _, state)| *state)
}

fn is_sqlstate(code: &str) -> bool {
    code.len() == 5
        && code.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
        && code.bytes().any(|b| b.is_ascii_digit())
        && code.starts_with(|c: char| c.is_ascii_digit() || matches!(c, 'P' | 'X' | 'H' | 'F'))
}

static SQLSTATE: Pattern = Pattern::new(r"SQLSTATE\[?:? ?([0-9A-Z]{5})\]?:?");
static PG_PREFIX: Pattern = Pattern::new(r"^(?:.*?\b(?:ERROR|FATAL|PANIC): +)?(?:pq: )?(.+)$");

fn classify_postgres(lower: &str, message: &str, code: &str) -> Option<DatabaseError> {
    let is = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let is_driver = is(&["psycopg", "asyncpg", "psqlexception", "pg::", "npgsql", "postgres"]);
    let wrapped = (is(&[
        "sqlalchemy",
        "django.db",
        "queryexception",
        "pdoexception",
        "activerecord",
        "statementinvalid",
        "dberror",
        "prisma",
    ]) || lower.is_empty()
        || lower == "error"
        || lower == "databaseerror")
        && (message.contains("psycopg")
            || message.contains("PG::")
            || message.contains("SQLSTATE[") && message.contains("ERROR:")
            || message.contains("pq: ")
            || state_of(message).is_some() && is_named(message));
    if !(is_driver || wrapped || is_sqlstate(code) && state_of(strip_pg(message)).is_some()) {
        return None;
    }
    // The connection failed; there was no database to say anything.
    let text = strip_pg(message);
    let text =
        text.split_once(") ").filter(|(head, _)| head.starts_with("(psycopg")).map_or(text, |(_, rest)| rest);
    let text =
        text.rsplit_once("PG::").and_then(|(_, rest)| rest.split_once(": ")).map_or(text, |(_, rest)| rest);
    let text = strip_pg(text);
    if errno::classify("", text).is_some_and(|error| error.family == "os" && error.code != "EACCES") {
        return None;
    }
    let state = SQLSTATE
        .captures(message)
        .map(|groups| groups.get(1).to_owned())
        .or_else(|| is_sqlstate(code).then(|| code.to_owned()))
        .or_else(|| state_of(text).map(str::to_owned))
        .or_else(|| state_of_kind(lower).map(str::to_owned));
    let text = text.split("\\n").next().unwrap_or(text);
    let text = text.split(" (SQL").next().unwrap_or(text).split(" LINE 1:").next().unwrap_or(text);
    Some(DatabaseError {
        family: "postgresql",
        code: state.unwrap_or_default(),
        message: quote_pg(text.trim()),
    })
}

fn is_named(message: &str) -> bool {
    message.contains('"')
}

fn strip_pg(message: &str) -> &str {
    match PG_PREFIX.captures(message) {
        Some(groups) => groups.get(1),
        None => message,
    }
}

/// Exceptions of psycopg and asyncpg are named after SQLSTATEs.
fn state_of_kind(lower: &str) -> Option<&'static str> {
    const KINDS: [(&str, &str); 12] = [
        ("undefinedtable", "42P01"),
        ("undefinedcolumn", "42703"),
        ("undefinedfunction", "42883"),
        ("uniqueviolation", "23505"),
        ("foreignkeyviolation", "23503"),
        ("notnullviolation", "23502"),
        ("checkviolation", "23514"),
        ("syntaxerror", "42601"),
        ("deadlockdetected", "40P01"),
        ("querycanceled", "57014"),
        ("insufficientprivilege", "42501"),
        ("toomanyconnections", "53300"),
    ];
    KINDS.iter().find(|(kind, _)| lower.contains(kind)).map(|(_, state)| *state)
}

static PG_COLUMN: Pattern = Pattern::new(r"^column ([\w.]+) does not exist");

fn quote_pg(message: &str) -> String {
    match PG_COLUMN.captures(message) {
        Some(groups) => format!("column {} does not exist", symbol(groups.get(1))),
        None => message.split(" at character ").next().unwrap_or(message).to_owned(),
    }
}

static MYSQL_PAIR: Pattern = Pattern::new(r#"\(([0-9]{4}), ["'](.+)["']\)"#);
static MYSQL_LINE: Pattern = Pattern::new(
    r"^(?:.*?\b)?ERROR ([0-9]{4}) \([0-9A-Z]{5}\)(?: at line [0-9]+)?(?: in file: '[^']*')?: (.+)$",
);
static MYSQL_STATE: Pattern =
    Pattern::new(r"SQLSTATE\[\w+\]:?(?: [\w ,]+:)? ([0-9]{4}) (.+?)(?: \(SQL:.*|\(Connection:.*)?$");
static MYSQL_GO: Pattern = Pattern::new(r"Error ([0-9]{4})(?: \([0-9A-Z]{5}\))?: (.+)$");

const MYSQL_CODES: [(&str, &str); 16] = [
    ("Access denied for user", "1045"),
    ("You have an error in your SQL syntax", "1064"),
    ("Duplicate entry", "1062"),
    ("Unknown column", "1054"),
    ("Unknown database", "1049"),
    ("Unknown table", "1051"),
    ("Table '", "1146"),
    ("Lock wait timeout exceeded", "1205"),
    ("Deadlock found", "1213"),
    ("Cannot add or update a child row", "1452"),
    ("Cannot delete or update a parent row", "1451"),
    ("Column '", "1048"),
    ("Data too long for column", "1406"),
    ("Too many connections", "1040"),
    ("MySQL server has gone away", "2006"),
    ("Field '", "1364"),
];

fn classify_mysql(lower: &str, message: &str, code: &str) -> Option<DatabaseError> {
    let groups = MYSQL_PAIR.captures(message).filter(|_| {
        lower.contains("mysql")
            || message.contains("mysql")
            || lower.contains("operationalerror")
            || lower.contains("integrityerror")
            || lower.contains("programmingerror")
            || lower.contains("dataerror")
    });
    let groups = groups
        .or_else(|| MYSQL_LINE.captures(message))
        .or_else(|| message.contains("SQLSTATE").then(|| MYSQL_STATE.captures(message)).flatten())
        .or_else(|| {
            MYSQL_GO
                .captures(message)
                .filter(|_| mysql_code(message.rsplit("): ").next().unwrap_or_default()).is_some())
        });
    if let Some(groups) = groups {
        return Some(DatabaseError {
            family: "mysql",
            code: groups.get(1).to_owned(),
            message: mask_mysql(groups.get(2)),
        });
    }
    let is_driver = lower.contains("mysql")
        || lower.contains("mariadb")
        || lower.contains("sqlexception")
        || lower.contains("sqlsyntaxerror")
        || lower.contains("sqlintegrity")
        || code.starts_with("ER_");
    let number = is_driver.then(|| mysql_code(message)).flatten()?;
    Some(DatabaseError { family: "mysql", code: number.to_owned(), message: mask_mysql(message) })
}

fn mysql_code(message: &str) -> Option<&'static str> {
    let (_, number) = MYSQL_CODES.iter().find(|(start, _)| message.starts_with(start))?;
    match *number {
        "1146" if !message.contains("doesn't exist") => None,
        "1048" if !message.contains("cannot be null") => None,
        "1364" if !message.contains("default value") => None,
        number => Some(number),
    }
}

static NEAR: Pattern = Pattern::new(r"use near '.*$");
static ENTRY: Pattern = Pattern::new(r"^Duplicate entry '.*?' for key");

/// The piece of SQL and the value that MySQL quotes differ from run to run.
fn mask_mysql(message: &str) -> String {
    let message = NEAR.replace_all(message, |_| "use near <s>".to_owned());
    ENTRY.replace_all(&message, |_| "Duplicate entry <s> for key".to_owned())
}

static SQLITE_TABLE: Pattern =
    Pattern::new(r"(no such (?:table|column|function|index|module)|table|duplicate column name): ?([\w.]+)");

fn sqlite_error(message: &str) -> DatabaseError {
    let message = message.rsplit("Error) ").next().unwrap_or(message);
    let message = message
        .strip_prefix("SQLITE_ERROR: ")
        .or_else(|| message.strip_prefix("sqlite3: "))
        .unwrap_or(message);
    let message = message
        .split_once(": ")
        .filter(|(head, _)| head.starts_with("SQLITE_"))
        .map_or(message, |(_, rest)| rest);
    let lower = message.to_lowercase();
    let code = [
        ("no such table", "no_such_table"),
        ("no such column", "no_such_column"),
        ("has no column named", "no_such_column"),
        ("unique constraint", "constraint_unique"),
        ("foreign key constraint", "constraint_foreign_key"),
        ("not null constraint", "constraint_not_null"),
        ("check constraint", "constraint_check"),
        ("is locked", "locked"),
        ("readonly", "readonly"),
        ("syntax error", "syntax"),
        ("incomplete input", "syntax"),
        ("already exists", "already_exists"),
        ("disk i/o", "io"),
        ("malformed", "corrupt"),
        ("not a database", "not_a_database"),
        ("unable to open", "cannot_open"),
        ("no such function", "no_such_function"),
    ]
    .iter()
    .find(|(words, _)| lower.contains(words))
    .map_or("", |(_, code)| *code);
    let message = match SQLITE_TABLE.captures(message) {
        Some(groups) if groups.get(1).starts_with("no such") => {
            format!("{}: {}", groups.get(1), symbol(groups.get(2)))
        }
        _ => quote_constraint(message),
    };
    DatabaseError { family: "sqlite", code: code.to_owned(), message }
}

static CONSTRAINT: Pattern = Pattern::new(r"^(\w+(?: \w+)? constraint failed): ([\w., ]+?)(?: \([0-9]+\))?$");

fn quote_constraint(message: &str) -> String {
    match CONSTRAINT.captures(message) {
        Some(groups) => format!("{}: {}", groups.get(1), symbol(groups.get(2))),
        None => message.to_owned(),
    }
}

static MONGO: Pattern = Pattern::new(r"^(E[0-9]{5}) (.+?)(?: collection: (\S+))?(?: index: (\S+))? dup key");

fn mongo_error(message: &str) -> DatabaseError {
    match MONGO.captures(message) {
        Some(groups) => DatabaseError {
            family: "mongodb",
            code: groups.get(1).to_owned(),
            message: format!("{} in {}", groups.get(2), symbol(groups.get(3))),
        },
        None => DatabaseError {
            family: "mongodb",
            code: String::new(),
            message: message.split(", full error").next().unwrap_or(message).to_owned(),
        },
    }
}

fn redis_error(message: &str) -> DatabaseError {
    let (code, said) = message
        .split_once(' ')
        .filter(|(code, _)| code.len() > 2 && code.bytes().all(|b| b.is_ascii_uppercase()))
        .unwrap_or(("", message));
    DatabaseError {
        family: "redis",
        code: code.to_owned(),
        message: if code == "ERR" { said.to_owned() } else { message.to_owned() },
    }
}

static PSQL: Pattern = Pattern::new(
    r"^(?:psql:\S+?:[0-9]+: |psql: )?(?:error: )?(ERROR|FATAL|PANIC):  ?(?:([0-9A-Z]{5}): )?(\S.*)$",
);
static PSQL_CONNECT: Pattern = Pattern::new(
    r#"^(?:psql|pg_dump|pg_restore|createdb|dropdb): error: (?:connection to server .*? failed: )?(.+)$"#,
);
static SQLITE_CLI: Pattern = Pattern::new(
    r"^(?:Parse|Runtime) error(?: near line [0-9]+)?: (.+?)(?: \([0-9]+\))?$|^Error: near line [0-9]+: (.+)$|^Error: (?:in prepare|stepping), (.+?)(?: \([0-9]+\))?$|^SqliteError: (.+)$",
);
static MSSQL: Pattern = Pattern::new(r"^Msg ([0-9]+), Level [0-9]+, State [0-9]+");
static DOTTED: Pattern =
    Pattern::new(r"^((?:[\w.$]+\.|PG::|SQLite3::|Mysql2::|ActiveRecord::)\w+)(?:: |:)(.+)$");
static REDIS_CLI: Pattern = Pattern::new(r"^\(error\) ([A-Z]{3,}) (.+)$");
static PRISMA: Pattern = Pattern::new(r"^(?:Error: )?(?:Error code: )?(P[0-9]{4})(?:: (.+))?$");
static LIQUIBASE: Pattern =
    Pattern::new(r"^(?:Error: )?(?:MongoServerError|MongoError|MongoNetworkError|BulkWriteException): (.+)$");

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let finding = |error: DatabaseError, last: usize| {
        let mut finding = Finding::new("", "", ProblemClass::DatabaseError, at).until(last);
        apply(&mut finding, error);
        finding
    };
    if text.contains("ORA-") && !has_frames(log, at) {
        return classify_oracle(text).map(|error| finding(error, at));
    }
    if text.contains("ERROR") || text.contains("FATAL:") || text.contains("PANIC:") {
        if text.contains("ERROR ")
            && let Some(groups) = MYSQL_LINE.captures(text)
        {
            return Some(finding(
                DatabaseError {
                    family: "mysql",
                    code: groups.get(1).to_owned(),
                    message: mask_mysql(groups.get(2)),
                },
                at,
            ));
        }
        if let Some(found) = recognize_psql(log, at) {
            return Some(found);
        }
    }
    if (text.contains(": error: ") || text.starts_with("psql: ")) && PSQL_CONNECT.is_match(text) {
        return recognize_connect(log, at);
    }
    if text.contains("rror near line")
        || text.starts_with("Error: near line")
        || text.starts_with("Error: in prepare")
        || text.starts_with("Error: stepping, ")
        || text.starts_with("Parse error: ")
        || text.starts_with("Runtime error: ")
        || text.starts_with("SqliteError: ")
    {
        let groups = SQLITE_CLI.captures(text)?;
        let message = (1..=4).find_map(|index| groups.some(index))?;
        if has_frames(log, at) {
            return None;
        }
        let last = log.end_of(at, 3, |text| text.starts_with("  "));
        return Some(finding(sqlite_error(message), last));
    }
    if text.trim_start().starts_with("SQLSTATE[") {
        return classify("PDOException", text.trim(), "").map(|error| finding(error, at));
    }
    if text.starts_with("Msg ") && MSSQL.is_match(text) {
        let number = MSSQL.captures(text)?.get(1).to_owned();
        return Some(finding(
            DatabaseError {
                family: "mssql",
                code: format!("mssql_{number}"),
                message: log.text(at + 1).trim().to_owned(),
            },
            at + 1,
        ));
    }
    if let Some(groups) = text.starts_with("(error) ").then(|| REDIS_CLI.captures(text)).flatten() {
        return Some(finding(redis_error(&format!("{} {}", groups.get(1), groups.get(2))), at));
    }
    if text.contains("Mongo")
        && !has_frames(log, at)
        && let Some(groups) = LIQUIBASE.captures(text)
    {
        return Some(finding(mongo_error(groups.get(1)), at));
    }
    if (text.starts_with("Error: P") || text.starts_with("Error code: P") || text.starts_with('P'))
        && PRISMA.is_match(text)
    {
        let groups = PRISMA.captures(text)?;
        let message = groups.some(2).unwrap_or_else(|| {
            log.find_after(at, 3, |text| Some(text.trim()).filter(|text| !text.is_empty()))
                .map_or("", |(_, text)| text)
        });
        return Some(finding(
            DatabaseError { family: "prisma", code: groups.get(1).to_owned(), message: message.to_owned() },
            at,
        ));
    }
    if text.contains("PG::") && text.contains("ERROR: ") && !text.contains(".rb:") {
        let kind = text.split_once("PG::").and_then(|(_, rest)| rest.split(':').next()).unwrap_or_default();
        let message = text.split_once("ERROR: ")?.1.trim();
        return classify(&format!("PG::{kind}"), message, "").map(|error| finding(error, at));
    }
    if text.contains("pq: ") && !has_frames(log, at) {
        let message = text.split_once("pq: ")?.1;
        return classify("postgres", message, "").map(|error| finding(error, at));
    }
    recognize_bare(log, at).map(|error| finding(error, at))
}

/// An exception of a driver that stands alone, without frames.
fn recognize_bare(log: &LogView<'_>, at: usize) -> Option<DatabaseError> {
    let text = log.text(at);
    let is_driver = [
        "psycopg",
        "asyncpg",
        "sqlite3.",
        "pymysql",
        "MySQLdb",
        "mysql.connector",
        "PSQLException",
        "PG::",
        "SQLite3::",
        "Mysql2::",
        "sqlalchemy.exc",
        "django.db",
        "SQLException",
    ]
    .iter()
    .any(|name| text.starts_with(name) || text.contains(name) && text.contains(": "));
    if !is_driver || text.starts_with(' ') || has_frames(log, at) {
        return None;
    }
    let groups = DOTTED.captures(text)?;
    classify(groups.get(1), groups.get(2).trim(), "")
}

fn has_frames(log: &LogView<'_>, at: usize) -> bool {
    log.find_after(at, 3, |text| text.trim_start().starts_with("at ").then_some(())).is_some()
}

fn recognize_psql(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let groups = PSQL.captures(text)?;
    let message = groups.get(3);
    let is_server = text.contains(":  ") || text.starts_with("psql") || state_of(message).is_some();
    if !is_server || has_frames(log, at) {
        return None;
    }
    let last = log.end_of(at, 8, |text| {
        ["LINE ", "DETAIL:", "HINT:", "STATEMENT:", "CONTEXT:", "QUERY:", "   "]
            .iter()
            .any(|start| text.starts_with(start))
    });
    // pgx prints the state after the message.
    let printed = SQLSTATE.captures(message).map(|groups| groups.get(1).to_owned());
    let message = message.split(" (SQLSTATE ").next().unwrap_or(message);
    let state = groups.some(2).or(printed.as_deref()).or_else(|| state_of(message)).unwrap_or_default();
    let mut finding = Finding::new("postgresql", "postgresql", ProblemClass::DatabaseError, at)
        .code(state)
        .message(quote_pg(message))
        .until(last);
    if state.is_empty()
        && let Some(error) = errno::classify("", message)
    {
        finding.apply_system(error);
    }
    Some(finding)
}

fn recognize_connect(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let groups = PSQL_CONNECT.captures(text)?;
    let message = groups.get(1);
    let mut finding = Finding::new("postgresql", "postgresql", ProblemClass::DatabaseError, at);
    if let Some(error) = errno::classify("", text) {
        finding = finding.message(text);
        finding.apply_system(error);
        return Some(finding);
    }
    let said = strip_pg(message);
    Some(finding.code(state_of(said).unwrap_or_default()).message(quote_pg(said)))
}
