//! A connection that does not wait for ever: not for a head, not for a reader, and not for a goodbye.

use crate::server::middleware::unreadable_head;
use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// What is read and thrown away before a connection is closed on a client that still sends.
const GOODBYE_BYTES: usize = 8 * 1024 * 1024;
const GOODBYE: Duration = Duration::from_secs(1);

const HEAD: u8 = 0;
const REQUEST: u8 = 1;
const BETWEEN: u8 = 2;

/// Where a connection is: in the head of a request, in a request, or between two.
#[derive(Debug)]
pub struct ConnectionPhase {
    phase: AtomicU8,
    /// Whether anything ever arrived.
    has_sent: AtomicBool,
    /// Whether part of an answer is still to be sent.
    has_unsent: AtomicBool,
    /// When it began to wait for a request.
    since: Mutex<Instant>,
}

impl Default for ConnectionPhase {
    fn default() -> Self {
        Self {
            phase: AtomicU8::new(HEAD),
            has_sent: AtomicBool::new(false),
            has_unsent: AtomicBool::new(false),
            since: Mutex::new(Instant::now()),
        }
    }
}

impl ConnectionPhase {
    /// A head has arrived.
    pub fn request(&self) {
        self.has_sent.store(true, Ordering::Relaxed);
        self.phase.store(REQUEST, Ordering::Relaxed);
    }

    /// A request has its answer.
    pub fn between(&self) {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.phase.store(BETWEEN, Ordering::Relaxed);
    }

    /// How long it has waited for a request, and whether it ever sent anything. Nothing while it answers one.
    pub fn waits_for(&self) -> Option<(Duration, bool)> {
        let since = *self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let is_busy =
            self.phase.load(Ordering::Relaxed) == REQUEST || self.has_unsent.load(Ordering::Relaxed);
        (!is_busy).then(|| (since.elapsed(), self.has_sent.load(Ordering::Relaxed)))
    }

    /// Lets a test be later than it is.
    #[cfg(test)]
    pub fn pass(&self, time: Duration) {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        *since = since.checked_sub(time).unwrap_or(*since);
    }

    fn is_head(&self) -> bool {
        self.phase.load(Ordering::Relaxed) == HEAD
    }

    /// Something arrived; tells whether a new head begins with it.
    fn begins_head(&self) -> bool {
        self.has_sent.store(true, Ordering::Relaxed);
        self.phase.compare_exchange(BETWEEN, HEAD, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// A stream with deadlines.
pub struct TimedStream<S> {
    inner: S,
    phase: Arc<ConnectionPhase>,
    head: Duration,
    head_ends: Pin<Box<Sleep>>,
    stall: Duration,
    stall_ends: Option<Pin<Box<Sleep>>>,
    goodbye: Option<(Pin<Box<Sleep>>, usize)>,
    /// What is written in place of an empty answer, and how much of it was.
    worded: Option<(Vec<u8>, usize)>,
}

impl<S> TimedStream<S> {
    /// Guards a stream. A head has to arrive within `head`; a reader must take something within `stall`.
    pub fn new(inner: S, phase: Arc<ConnectionPhase>, head: Duration, stall: Duration) -> Self {
        let head_ends = Box::pin(sleep(head));
        Self { inner, phase, head, head_ends, stall, stall_ends: None, goodbye: None, worded: None }
    }

    /// Gives up on a reader that takes nothing.
    fn unless_stalled<T>(&mut self, cx: &mut Context<'_>, written: Poll<Result<T>>) -> Poll<Result<T>> {
        self.phase.has_unsent.store(written.is_pending(), Ordering::Relaxed);
        if written.is_ready() {
            self.stall_ends = None;
            return written;
        }
        let stall = self.stall;
        let ends = self.stall_ends.get_or_insert_with(|| Box::pin(sleep(stall)));
        ready!(ends.as_mut().poll(cx));
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client reads nothing")))
    }
}

/// The answer in JSON to a head that could not be read, in place of the library's own, which is empty. All other
/// refusals have a body.
fn worded(answer: &[u8]) -> Option<Vec<u8>> {
    let answer = std::str::from_utf8(answer).ok()?.strip_suffix("\r\n\r\n")?;
    let status = answer.strip_prefix("HTTP/1.")?.get(2..5).filter(|status| status.starts_with('4'))?;
    if !answer.lines().any(|line| line.eq_ignore_ascii_case("content-length: 0")) {
        return None;
    }
    let status = status.parse().ok()?;
    let body = unreadable_head(status).body().to_string();
    let head = answer.lines().filter(|line| !line.to_ascii_lowercase().starts_with("content-"));
    let head: String = head.map(|line| format!("{line}\r\n")).collect();
    let kind = "content-type: application/json\r\nx-content-type-options: nosniff";
    Some(format!("{head}{kind}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes())
}

impl<S: AsyncWrite + Unpin> TimedStream<S> {
    /// Writes the better answer, if there is one to write. The caller is told that its own was written.
    fn poll_worded(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Option<Poll<Result<usize>>> {
        if self.worded.is_none() {
            self.worded = self.phase.is_head().then(|| worded(bytes)).flatten().map(|answer| (answer, 0));
        }
        let (answer, written) = self.worded.as_mut()?;
        while let Some(rest) = answer.get(*written..).filter(|rest| !rest.is_empty()) {
            match Pin::new(&mut self.inner).poll_write(cx, rest) {
                Poll::Ready(Ok(0)) => return Some(Poll::Ready(Ok(0))),
                Poll::Ready(Ok(more)) => *written += more,
                other => return Some(other),
            }
        }
        self.worded = None;
        Some(Poll::Ready(Ok(bytes.len())))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buffer);
        if buffer.filled().len() > before && self.phase.begins_head() {
            let ends = Instant::now() + self.head;
            self.head_ends.as_mut().reset(ends);
        }
        if read.is_pending() && self.phase.is_head() {
            ready!(self.head_ends.as_mut().poll(cx));
            return Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the head of the request is late")));
        }
        read
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let written = match self.poll_worded(cx, bytes) {
            Some(written) => written,
            None => Pin::new(&mut self.inner).poll_write(cx, bytes),
        };
        self.unless_stalled(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[std::io::IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let first = parts.iter().find(|part| !part.is_empty());
        let written = match first.and_then(|first| self.poll_worded(cx, first)) {
            Some(written) => written,
            None => Pin::new(&mut self.inner).poll_write_vectored(cx, parts),
        };
        self.unless_stalled(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        self.unless_stalled(cx, flushed)
    }

    /// Closes, and reads for a moment what the client still sends: closing at once would throw away the answer that
    /// tells it why.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let this = &mut *self;
        if this.goodbye.is_none() {
            let closed = Pin::new(&mut this.inner).poll_shutdown(cx);
            ready!(this.unless_stalled(cx, closed))?;
        }
        let (ends, left) = this.goodbye.get_or_insert_with(|| (Box::pin(sleep(GOODBYE)), GOODBYE_BYTES));
        let mut scratch = [0; 8192];
        loop {
            let mut buffer = ReadBuf::new(&mut scratch);
            match Pin::new(&mut this.inner).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() && *left > buffer.filled().len() => {
                    *left -= buffer.filled().len();
                }
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => {
                    ready!(ends.as_mut().poll(cx));
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ConnectionPhase, TimedStream};
    use std::io::ErrorKind;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::{Instant, sleep, timeout};

    const HEAD: Duration = Duration::from_millis(100);
    const STALL: Duration = Duration::from_millis(400);

    fn guarded(phase: &Arc<ConnectionPhase>) -> (TimedStream<DuplexStream>, DuplexStream) {
        let (near, far) = duplex(64);
        (TimedStream::new(near, Arc::clone(phase), HEAD, STALL), far)
    }

    #[tokio::test]
    async fn a_client_that_reads_nothing_is_given_up() {
        let (mut stream, mut far) = guarded(&Arc::default());
        // As long as something is taken now and then, it goes on.
        let slow = tokio::spawn(async move {
            for _ in 0..10 {
                sleep(STALL / 8).await;
                far.read_exact(&mut [0; 64]).await.unwrap();
            }
            far
        });
        stream.write_all(&[7; 640]).await.unwrap();
        assert!(!stream.phase.has_unsent.load(Ordering::Relaxed));
        let _far = slow.await.unwrap();
        assert_eq!(stream.write_all(&[7; 640]).await.unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(stream.phase.waits_for(), None, "what is still to be sent is no idle connection");
    }

    #[tokio::test]
    async fn only_a_head_has_to_hurry() {
        let phase = Arc::new(ConnectionPhase::default());
        let (mut stream, mut far) = guarded(&phase);
        let mut byte = [0];
        assert_eq!(stream.read(&mut byte).await.unwrap_err().kind(), ErrorKind::TimedOut);
        for free in [ConnectionPhase::request, ConnectionPhase::between] {
            free(&phase);
            let waiting = timeout(HEAD * 2, stream.read(&mut byte));
            assert!(waiting.await.is_err(), "a connection that may wait was cut off");
        }
        far.write_all(b"G").await.unwrap();
        assert_eq!(stream.read(&mut byte).await.unwrap(), 1);
        let began = Instant::now();
        assert_eq!(stream.read(&mut byte).await.unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(began.elapsed() >= HEAD / 2, "{:?}", began.elapsed());
    }

    #[tokio::test]
    async fn a_goodbye_does_not_last() {
        let (mut stream, mut far) = guarded(&Arc::default());
        let loud = tokio::spawn(async move { while far.write_all(&[1; 64]).await.is_ok() {} });
        timeout(Duration::from_secs(5), stream.shutdown()).await.unwrap().unwrap();
        drop(stream);
        loud.await.unwrap();
        let (mut stream, _silent) = guarded(&Arc::default());
        timeout(Duration::from_secs(5), stream.shutdown()).await.unwrap().unwrap();
    }
}
