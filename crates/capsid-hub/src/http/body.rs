//! The body of a request, which has to arrive in time.

use axum::body::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Sleep, sleep};

/// The body did not arrive in time.
#[derive(Debug)]
pub struct BodyTimeout;

impl fmt::Display for BodyTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the body did not arrive in time")
    }
}

impl Error for BodyTimeout {}

impl BodyTimeout {
    /// Whether this is at the bottom of an error.
    pub fn caused(error: &(dyn Error + 'static)) -> bool {
        error.is::<Self>() || error.source().is_some_and(Self::caused)
    }
}

/// A body with a deadline, which is counted from the first look at it.
pub struct TimedBody {
    inner: Incoming,
    patience: Duration,
    ends: Option<Pin<Box<Sleep>>>,
}

impl TimedBody {
    /// Gives a body so long to arrive.
    pub fn new(inner: Incoming, patience: Duration) -> Self {
        Self { inner, patience, ends: None }
    }
}

impl Body for TimedBody {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.inner).poll_frame(cx) {
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let patience = self.patience;
        let ends = self.ends.get_or_insert_with(|| Box::pin(sleep(patience)));
        ends.as_mut().poll(cx).map(|()| Some(Err(BodyTimeout.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
