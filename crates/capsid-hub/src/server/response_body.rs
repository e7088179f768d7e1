//! The body of a response, which knows when it is over: until then its connection does not wait.

use super::stream::ConnectionPhase;
use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A body that tells its connection when it has gone.
pub struct TrackedBody {
    inner: Body,
    phase: Arc<ConnectionPhase>,
}

impl TrackedBody {
    /// Follows a body to its end.
    pub fn new(inner: Body, phase: Arc<ConnectionPhase>) -> Self {
        Self { inner, phase }
    }
}

impl Drop for TrackedBody {
    fn drop(&mut self) {
        self.phase.between();
    }
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.inner).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
