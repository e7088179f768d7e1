//! The transaction that operations get: the database's, with the index and the hub's policy of trust at hand.

use super::{Index, IndexSnapshot};
use crate::db::raw_row::RawRow;
use crate::db::tx::{Dialect, Param, PipelinedStatement, Tx, no_index};
use capsid_model::problem::Result;
use capsid_rules::evaluation::trust_policy::TrustPolicy;
use std::sync::Arc;

/// A transaction of a hub that has its own policy of trust and an index.
pub(crate) struct HubTx<'t> {
    pub tx: &'t mut dyn Tx,
    pub trust: TrustPolicy,
    pub index: Option<Arc<Index>>,
    /// Taken when it is first asked for, so that an operation sees one state of the index.
    pub snapshot: Option<IndexSnapshot>,
}

impl Tx for HubTx<'_> {
    fn index(&mut self) -> Result<&mut dyn Tx> {
        if self.snapshot.is_none() {
            self.snapshot = Some(self.index.as_ref().ok_or_else(no_index)?.snapshot()?);
        }
        self.snapshot.as_mut().map(|snapshot| snapshot as &mut dyn Tx).ok_or_else(no_index)
    }

    fn dialect(&self) -> Dialect {
        self.tx.dialect()
    }

    fn trust(&self) -> TrustPolicy {
        self.trust
    }

    fn run(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64> {
        self.tx.run(sql, params)
    }

    fn each(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
    ) -> Result<()> {
        self.tx.each(sql, params, visit)
    }

    fn one(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
    ) -> Result<()> {
        self.tx.one(sql, params, visit)
    }

    fn pipeline(&mut self, statements: &mut [PipelinedStatement<'_>]) -> Result<()> {
        self.tx.pipeline(statements)
    }
}
