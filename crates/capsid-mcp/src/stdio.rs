//! stdio: one JSON-RPC message a line, in and out. Nothing else is ever written to stdout.

use crate::server::McpServer;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Problem, Result, Value};
use rmcp::model::{ErrorCode, ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

/// The longest line that is read.
pub const MAX_LINE: usize = 1024 * 1024;
/// How long answers may still take once the process is asked to stop.
const GRACE: Duration = Duration::from_secs(2);
/// The most messages in a batch.
const MAX_BATCH: usize = 100;

type IncomingMessage = RxJsonRpcMessage<RoleServer>;
type OutgoingMessage = TxJsonRpcMessage<RoleServer>;

/// Lines in and lines out. What cannot be read is answered with an error instead of being dropped.
struct LineTransport<R, W> {
    read: BufReader<R>,
    write: Arc<Mutex<Option<W>>>,
    line: Vec<u8>,
    /// Set while the rest of a line that is too long is passed over.
    overlong: bool,
    ended: bool,
    /// What is left of a batch.
    waiting: VecDeque<IncomingMessage>,
    /// Outgoing errors.
    replies: JoinSet<()>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> LineTransport<R, W> {
    fn new(read: R, write: W) -> Self {
        Self {
            read: BufReader::new(read),
            write: Arc::new(Mutex::new(Some(write))),
            line: Vec::new(),
            overlong: false,
            ended: false,
            waiting: VecDeque::new(),
            replies: JoinSet::new(),
        }
    }

    /// Reads up to the end of a line; none at the end of the stream. May be dropped at any point and called again.
    async fn next_line(&mut self) -> Option<TransportLine> {
        while !self.ended {
            let Ok(bytes) = self.read.fill_buf().await else { return None };
            self.ended = bytes.is_empty();
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let consumed = end.map_or(bytes.len(), |at| at + 1);
            if self.line.len() + consumed > MAX_LINE {
                self.overlong = true;
                self.line.clear();
            } else if !self.overlong {
                self.line.extend_from_slice(&bytes[..consumed]);
            }
            self.read.consume(consumed);
            if end.is_none() && !self.ended {
                continue;
            }
            if std::mem::take(&mut self.overlong) {
                return Some(TransportLine::TooLong);
            }
            let line = std::mem::take(&mut self.line);
            if !line.trim_ascii().is_empty() {
                return Some(TransportLine::Text(line));
            }
        }
        None
    }

    /// The messages on a line, with the answers to those that are none.
    fn process_line(&mut self, line: TransportLine) -> Vec<OutgoingMessage> {
        let text = match line {
            TransportLine::TooLong => {
                return vec![invalid(ErrorCode::INVALID_REQUEST, "The message is longer than 1 MiB.", None)];
            }
            TransportLine::Text(text) => text,
        };
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
        match serde_json::from_slice(text) {
            Ok(Value::Array(batch)) if batch.is_empty() || batch.len() > MAX_BATCH => {
                vec![invalid(ErrorCode::INVALID_REQUEST, "A batch holds 1 to 100 messages.", None)]
            }
            Ok(Value::Array(batch)) => batch.into_iter().filter_map(|message| self.queue(message)).collect(),
            Ok(message) => self.queue(message).into_iter().collect(),
            Err(error) => {
                vec![invalid(ErrorCode::PARSE_ERROR, &format!("The line is not JSON: {error}."), None)]
            }
        }
    }

    /// Puts a message in line, or gives the answer to one that is none. A notification is never answered.
    fn queue(&mut self, message: Value) -> Option<OutgoingMessage> {
        let method = message.get("method").and_then(Value::as_str).map(|method| inert_line(cut(method, 80)));
        let id = message.get("id").cloned();
        match (serde_json::from_value::<IncomingMessage>(message), method, id) {
            (Ok(message), ..) => {
                self.waiting.push_back(message);
                None
            }
            (Err(_), Some(_), None) => None,
            (Err(_), method, id) => {
                Some(unreadable(method, id.and_then(|id| serde_json::from_value(id).ok())))
            }
        }
    }
}

/// The answer to what looks like a request and cannot be read as one.
fn unreadable(method: Option<String>, id: Option<RequestId>) -> OutgoingMessage {
    match (method, id) {
        (Some(method), Some(id)) => {
            let message = format!(
                "The parameters of `{method}` cannot be read. tools/call takes `name` and an object `arguments`, resources/read takes `uri`."
            );
            invalid(ErrorCode::INVALID_PARAMS, &message, Some(id))
        }
        (_, id) => invalid(ErrorCode::INVALID_REQUEST, "It is no JSON-RPC 2.0 request.", id),
    }
}

enum TransportLine {
    Text(Vec<u8>),
    TooLong,
}

fn invalid(code: ErrorCode, message: &str, id: Option<RequestId>) -> OutgoingMessage {
    OutgoingMessage::error(ErrorData::new(code, message.to_owned(), None), id)
}

async fn write_line<W: AsyncWrite + Unpin>(
    write: &Mutex<Option<W>>,
    message: &OutgoingMessage,
) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    match write.lock().await.as_mut() {
        Some(write) => {
            write.write_all(&line).await?;
            write.flush().await
        }
        None => Err(std::io::ErrorKind::NotConnected.into()),
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(&mut self, item: OutgoingMessage) -> impl Future<Output = std::io::Result<()>> + Send + 'static {
        let write = Arc::clone(&self.write);
        async move { write_line(&write, &item).await }
    }

    async fn receive(&mut self) -> Option<IncomingMessage> {
        loop {
            if let Some(message) = self.waiting.pop_front() {
                return Some(message);
            }
            let Some(line) = self.next_line().await else {
                while self.replies.join_next().await.is_some() {}
                return None;
            };
            let answers = self.process_line(line);
            let write = Arc::clone(&self.write);
            // Not awaited here: this future may be dropped, and half a line would spoil the stream.
            while self.replies.try_join_next().is_some() {}
            self.replies.spawn(async move {
                for answer in answers {
                    let _ = write_line(&write, &answer).await;
                }
            });
        }
    }

    async fn close(&mut self) -> std::io::Result<()> {
        self.write.lock().await.take();
        Ok(())
    }
}

/// Serves on stdin and stdout until the client disconnects or `stop` resolves.
pub async fn serve(server: McpServer, stop: impl Future<Output = ()>) -> Result<()> {
    let (read, write) = rmcp::transport::stdio();
    serve_on(server, read, write, stop).await
}

/// The same on any two streams.
pub async fn serve_on<R, W>(
    server: McpServer,
    read: R,
    write: W,
    stop: impl Future<Output = ()>,
) -> Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    tokio::pin!(stop);
    let service = tokio::select! {
        service = server.serve(LineTransport::new(read, write)) => service,
        () = &mut stop => return Ok(()),
    };
    let running = match service {
        Ok(running) => running,
        // A client that disconnects before its first message is no error.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => {
            return Err(Problem::new(
                Code::InputInvalid,
                format!("The client did not begin as MCP asks: {error}."),
            )
            .fix("Send `initialize` first."));
        }
    };
    let token = running.cancellation_token();
    let waiting = running.waiting();
    tokio::pin!(waiting);
    tokio::select! {
        _ = &mut waiting => {}
        () = &mut stop => {
            token.cancel();
            let _ = tokio::time::timeout(GRACE, waiting).await;
        }
    }
    Ok(())
}
