//! A body that is sent while it is written.

use super::data::{JsonDocument, closed_error};
use super::range::ByteRange;
use axum::body::{Body, Bytes};
use futures_util::stream::unfold;
use std::io::{self, BufWriter, Write};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// How many bytes go at once, and how many such pieces wait for a slow reader.
const PIECE: usize = 64 << 10;
const WAITING: usize = 4;

/// Sends a document, or a part of it. If it ends in a problem the connection breaks, so that nobody takes a part for the document.
pub(super) fn streamed(document: JsonDocument, range: Option<ByteRange>) -> Body {
    let (sender, receiver) = channel(WAITING);
    tokio::task::spawn_blocking(move || {
        let mut out = BufWriter::with_capacity(PIECE, BodyChunks(sender.clone()));
        let written =
            document.write(range, &mut out).and_then(|()| out.flush().map_err(|error| closed_error(&error)));
        if let Err(problem) = written {
            let _reader_left = sender.blocking_send(Err(io::Error::other(problem.message)));
        }
    });
    let next = |mut receiver: Receiver<io::Result<Bytes>>| async {
        receiver.recv().await.map(|piece| (piece, receiver))
    };
    Body::from_stream(unfold(receiver, next))
}

struct BodyChunks(Sender<io::Result<Bytes>>);

impl Write for BodyChunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.0.blocking_send(Ok(Bytes::copy_from_slice(bytes)));
        sent.map(|()| bytes.len()).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
