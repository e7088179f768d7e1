//! One connection: its statements are prepared once, and those that do not need each other's results travel together.

use super::error::{PostgresFailure, failure, unreachable_server};
use super::settings::PostgresSettings;
use crate::db::raw_row::RawRow;
use crate::db::tx::Param;
use capsid_model::problem::{Code, Problem, Result};
use futures_util::TryStreamExt as _;
use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, RowStream, Statement};

/// How long it may take to connect, all hosts together.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// What is set on every connection. Each by itself, for a server that knows one of them not goes without it.
///
/// A walk through the graph is guessed to be dear, and compiling it takes a hundred times as long as walking. A hub that
/// hangs inside a transaction must not hold its locks and its numbers for ever.
const SETTINGS: [&str; 2] = ["SET jit = off", "SET idle_in_transaction_session_timeout = '60s'"];

/// A runtime for one connection on one thread.
pub fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        Problem::new(Code::IoError, format!("Could not start the database's runtime: {error}."))
    })
}

/// Connects, and gives up after ten seconds. The connection is driven by the runtime that this runs on.
pub async fn connect(settings: &PostgresSettings) -> Result<Client, PostgresFailure> {
    let tls = settings.tls.connector().map_err(|error| {
        let message = format!("The TLS settings of the database URL cannot be used: {error}.");
        PostgresFailure::Other(
            Problem::new(Code::StoreUnreachable, message).fix("Check sslrootcert, sslcert and sslkey."),
        )
    })?;
    let connecting = tokio::time::timeout(CONNECT_LIMIT, settings.config.connect(tls));
    let (client, driver) = connecting
        .await
        .map_err(|_| PostgresFailure::Lost(unreachable_server("no answer within 10 seconds")))?
        .map_err(|error| failure(&error))?;
    tokio::spawn(async move {
        if let Err(error) = driver.await {
            tracing::debug!(%error, "a connection to the database ended");
        }
    });
    for setting in SETTINGS {
        let _unknown = client.batch_execute(setting).await;
    }
    Ok(client)
}

/// An open connection and what is prepared on it.
pub struct PostgresConnection {
    client: Client,
    /// By the place of their text, which never moves.
    statements: HashMap<(usize, usize), Statement>,
}

/// What shows the rows of a statement to whoever asked.
pub type Visit<'v> = &'v mut dyn FnMut(&dyn RawRow) -> Result<()>;

/// A statement on its way to the server.
pub struct Request<'r> {
    pub sql: &'static str,
    pub params: &'r [Param<'r>],
    /// Sees the rows; none where nobody wants them.
    pub visit: Option<Visit<'r>>,
    /// Whether only the first row is shown.
    pub is_first_only: bool,
    /// How many rows it changed, or found.
    pub changed: u64,
    /// What `visit` said.
    pub refused: Result<()>,
}

impl<'r> Request<'r> {
    /// A statement that shows all of its rows.
    pub fn new(sql: &'static str, params: &'r [Param<'r>], visit: Option<Visit<'r>>) -> Self {
        Self { sql, params, visit, is_first_only: false, changed: 0, refused: Ok(()) }
    }
}

impl PostgresConnection {
    /// Connects.
    pub async fn open(settings: &PostgresSettings) -> Result<Self, PostgresFailure> {
        Ok(Self { client: connect(settings).await?, statements: HashMap::new() })
    }

    /// Whether the server closed the connection.
    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Ends a transaction.
    pub async fn end(&self, end: &'static str) -> Result<(), Error> {
        self.client.batch_execute(end).await
    }

    /// Sends statements in one go, after the beginning of the transaction where that is still to come.
    ///
    /// A statement that changes something is only sent once the transaction has certainly begun: if `BEGIN` failed, it would be
    /// a transaction of its own.
    pub async fn send(
        &mut self,
        begin: Option<&'static str>,
        requests: &mut [Request<'_>],
    ) -> Result<(), Error> {
        let missing: Vec<usize> =
            (0..requests.len()).filter(|at| !self.is_prepared(&requests[*at])).collect();
        let is_harmless = requests.iter().all(|request| request.sql.starts_with("SELECT"));
        let Self { client, statements } = self;
        let mut beginning = match begin {
            Some(begin) => Some(Sent::start(client.batch_execute(begin)).await),
            None => None,
        };
        if !missing.is_empty() {
            prepare(client, statements, requests, &missing).await?;
        }
        if !(missing.is_empty() && is_harmless)
            && let Some(beginning) = beginning.take()
        {
            beginning.answer().await?;
        }
        let mut sent = Vec::with_capacity(requests.len());
        for request in &*requests {
            let statement = &statements[&key(request.sql)];
            sent.push(Sent::start(client.query_raw(statement, request.params)).await);
        }
        if let Some(beginning) = beginning {
            beginning.answer().await?;
        }
        for (sent, request) in sent.into_iter().zip(requests) {
            read(sent.answer().await?, request).await?;
        }
        Ok(())
    }

    fn is_prepared(&self, request: &Request<'_>) -> bool {
        let types = |statement: &Statement| {
            let given = request.params.iter().map(kind);
            statement.params().len() == request.params.len() && statement.params().iter().cloned().eq(given)
        };
        self.statements.get(&key(request.sql)).is_some_and(types)
    }
}

/// Prepares all that is missing in one go.
async fn prepare(
    client: &Client,
    statements: &mut HashMap<(usize, usize), Statement>,
    requests: &[Request<'_>],
    missing: &[usize],
) -> Result<(), Error> {
    let mut preparing = Vec::with_capacity(missing.len());
    for at in missing {
        let Request { sql, params, .. } = &requests[*at];
        let types: Vec<Type> = params.iter().map(kind).collect();
        let one = Sent::start(async move { client.prepare_typed(sql, &types).await }).await;
        preparing.push((key(sql), one));
    }
    for (key, one) in preparing {
        statements.insert(key, one.answer().await?);
    }
    Ok(())
}

/// A message that was sent, and its answer where that came at once.
enum Sent<F: Future> {
    Waiting(Pin<Box<F>>),
    Answered(F::Output),
}

impl<F: Future> Sent<F> {
    /// Polls once, by which the message is sent.
    async fn start(future: F) -> Self {
        let mut future = Box::pin(future);
        let answer = poll_fn(|cx| {
            Poll::Ready(match future.as_mut().poll(cx) {
                Poll::Ready(answer) => Some(answer),
                Poll::Pending => None,
            })
        })
        .await;
        match answer {
            Some(answer) => Self::Answered(answer),
            None => Self::Waiting(future),
        }
    }

    async fn answer(self) -> F::Output {
        match self {
            Self::Waiting(future) => future.await,
            Self::Answered(answer) => answer,
        }
    }
}

/// Reads a statement's rows to their end: an error may come after the last one.
async fn read(rows: RowStream, request: &mut Request<'_>) -> Result<(), Error> {
    let mut rows = pin!(rows);
    let mut found = 0_u64;
    while let Some(row) = rows.as_mut().try_next().await? {
        found += 1;
        if let Some(visit) = &mut request.visit
            && request.refused.is_ok()
            && (found == 1 || !request.is_first_only)
        {
            request.refused = visit(&super::row::PostgresRow(&row));
        }
    }
    request.changed = rows.rows_affected().unwrap_or(found);
    Ok(())
}

fn key(sql: &'static str) -> (usize, usize) {
    (sql.as_ptr() as usize, sql.len())
}

/// The type that a value is sent as, so that the server need not guess it.
fn kind(param: &Param<'_>) -> Type {
    match param {
        Param::Int(_) => Type::INT8,
        Param::Real(_) => Type::FLOAT8,
        Param::Text(_) => Type::TEXT,
        Param::Blob(_) => Type::BYTEA,
        Param::Ints(_) => Type::INT8_ARRAY,
        Param::Reals(_) => Type::FLOAT8_ARRAY,
        Param::Texts(_) => Type::TEXT_ARRAY,
        Param::Blobs(_) => Type::BYTEA_ARRAY,
    }
}
