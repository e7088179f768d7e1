//! An operation on its way to the database and back.

use crate::db::tx::Tx;
use capsid_model::problem::{Code, Problem};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::sync::oneshot;

/// An operation whose types are put away, so that all can wait in one queue.
pub trait ErasedOperation: Send {
    /// Does the operation inside an open transaction. May be called again after the transaction was undone.
    /// Tells whether its changes are to be kept.
    fn run(&mut self, tx: &mut dyn Tx) -> bool;
    /// Answers whoever waits. `committed` is the end of the transaction.
    fn finish(self: Box<Self>, committed: Result<(), Problem>);
}

/// An operation with its types.
pub struct TypedOperation<F, T, E> {
    op: F,
    outcome: Option<Result<T, E>>,
    answer: oneshot::Sender<Result<T, E>>,
}

impl<F, T, E> TypedOperation<F, T, E> {
    /// An operation and the place where its answer arrives.
    pub fn new(op: F) -> (Self, oneshot::Receiver<Result<T, E>>) {
        let (answer, arrives) = oneshot::channel();
        (Self { op, outcome: None, answer }, arrives)
    }
}

impl<F, T, E> ErasedOperation for TypedOperation<F, T, E>
where
    F: FnMut(&mut dyn Tx) -> Result<T, E> + Send,
    T: Send,
    E: From<Problem> + Send,
{
    fn run(&mut self, tx: &mut dyn Tx) -> bool {
        // A bug in one operation must not end the thread that all the others wait for.
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.op)(tx))).unwrap_or_else(|_| {
            Err(E::from(Problem::new(Code::Internal, "An operation of the store panicked; it was undone.")))
        });
        let commits = outcome.is_ok();
        self.outcome = Some(outcome);
        commits
    }

    fn finish(self: Box<Self>, committed: Result<(), Problem>) {
        let outcome = match (self.outcome, committed) {
            (Some(Err(refused)), _) => Err(refused),
            // Whoever made the error type may panic in it. The thread that all the others wait for goes on; the caller is
            // told that the database was closed.
            (_, Err(problem)) => match catch_unwind(AssertUnwindSafe(|| E::from(problem))) {
                Ok(error) => Err(error),
                Err(_) => return,
            },
            (Some(done), Ok(())) => done,
            (None, Ok(())) => return,
        };
        // Nobody waits any more when the client went away; what was done stays done.
        let _gone = self.answer.send(outcome);
    }
}
