//! A transaction in PostgreSQL.

use super::connection::{PostgresConnection, Request};
use super::error::{PostgresFailure, failure, problem, unreachable_server};
use crate::db::raw_row::RawRow;
use crate::db::tx::{Dialect, Param, PipelinedStatement, Tx};
use capsid_model::problem::Result;
use std::time::Duration;
use tokio::runtime::Runtime;

/// An open transaction. It begins with its first statement, and in the same round trip.
pub struct PostgresTx<'c> {
    connection: &'c mut PostgresConnection,
    runtime: &'c Runtime,
    /// How it begins, until it did.
    begin: Option<&'static str>,
    /// How long a statement may take.
    limit: Option<Duration>,
    /// The first failure of the server. The transaction is void from then on.
    pub failure: Option<PostgresFailure>,
}

impl<'c> PostgresTx<'c> {
    /// A transaction on this connection, on which none is open.
    pub fn new(
        connection: &'c mut PostgresConnection,
        runtime: &'c Runtime,
        begin: &'static str,
        limit: Option<Duration>,
    ) -> Self {
        Self { connection, runtime, begin: Some(begin), limit, failure: None }
    }

    /// Whether anything was sent.
    pub fn has_begun(&self) -> bool {
        self.begin.is_none()
    }

    fn send(&mut self, requests: &mut [Request<'_>]) -> Result<()> {
        let (begin, limit) = (self.begin.take(), self.limit);
        let sent = self.runtime.block_on(async {
            let sending = self.connection.send(begin, requests);
            match limit {
                Some(limit) => tokio::time::timeout(limit, sending).await,
                None => Ok(sending.await),
            }
        });
        let Ok(sent) = sent else {
            let late = unreachable_server("it took too long");
            self.failure.get_or_insert_with(|| PostgresFailure::Lost(late.clone()));
            return Err(late);
        };
        sent.map_err(|error| {
            self.failure.get_or_insert_with(|| failure(&error));
            problem(&error)
        })?;
        requests.iter_mut().try_for_each(|request| std::mem::replace(&mut request.refused, Ok(())))
    }
}

impl Tx for PostgresTx<'_> {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn run(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64> {
        let mut requests = [Request::new(sql, params, None)];
        self.send(&mut requests)?;
        Ok(requests[0].changed)
    }

    fn each(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
    ) -> Result<()> {
        self.send(&mut [Request::new(sql, params, Some(visit))])
    }

    fn one(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
    ) -> Result<()> {
        let request = Request::new(sql, params, Some(visit));
        self.send(&mut [Request { is_first_only: true, ..request }])
    }

    fn pipeline(&mut self, statements: &mut [PipelinedStatement<'_>]) -> Result<()> {
        let mut requests: Vec<Request<'_>> = statements
            .iter_mut()
            .map(|statement| match &mut statement.visit {
                Some(visit) => Request::new(statement.sql, statement.params, Some(&mut **visit)),
                None => Request::new(statement.sql, statement.params, None),
            })
            .collect();
        self.send(&mut requests)?;
        let changed: Vec<u64> = requests.iter().map(|request| request.changed).collect();
        for (statement, changed) in statements.iter_mut().zip(changed) {
            statement.changed = changed;
        }
        Ok(())
    }
}
