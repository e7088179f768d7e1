//! Listening: connections with a cap and deadlines, TLS where it is asked for, and an orderly end.

mod admission;
mod connections;
pub mod file_limit;
pub mod log_format;
pub mod middleware;
mod response_body;
mod stream;
pub mod tls;

use crate::error::{ApiError, HubCode};
use crate::http::body::TimedBody;
use crate::state::SharedHub;
use axum::Router;
use axum::extract::{ConnectInfo, Request};
use capsid_model::problem::{Code, Problem, Result};
use connections::{ConnectionSlot, ConnectionTable};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use response_body::TrackedBody;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use stream::TimedStream;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

/// How many clients are told at one time that there is no room; more are just hung up on.
const REFUSING: usize = 64;
const TIDYING: Duration = Duration::from_secs(5);
/// How often connections that only wait are looked at.
const CLOSING: Duration = Duration::from_millis(500);

/// Serves a router until `shutdown` is over, then lets requests that are under way come to their end.
pub async fn serve_router(
    hub: SharedHub,
    router: Router,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> Result<()> {
    let door = Acceptor {
        table: ConnectionTable::new(
            hub.config.connection_limits(),
            hub.config.admission.trusted_proxies.clone(),
        ),
        refusing: Arc::new(Semaphore::new(REFUSING)),
        tls: hub.config.tls.as_ref().map(tls::acceptor).transpose()?,
        open: GracefulShutdown::new(),
        router,
        hub: Arc::clone(&hub),
    };
    let mut tidying = tokio::time::interval(TIDYING);
    let mut closing = tokio::time::interval(CLOSING);
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => door.admit(stream, peer),
                Err(error) => pause_after_error(&error).await,
            },
            _ = tidying.tick() => hub.telemetry.drop_idle_series(),
            _ = closing.tick() => door.table.close_waiting(),
            () = &mut shutdown => break,
        }
    }
    drop(listener);
    hub.close();
    let drain = hub.config.timeouts.drain;
    if timeout(drain, door.open.shutdown()).await.is_err() {
        tracing::warn!("some requests were still under way after {} s and were cut off", drain.as_secs());
    }
    Ok(())
}

/// Begins to listen for the system's wish that the program stops, and ends when it comes. Needs a runtime.
pub fn stop_signal() -> Result<impl Future<Output = ()>> {
    let unusable = |error| Problem::new(Code::IoError, format!("Could not wait for signals: {error}."));
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate()).map_err(unusable)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(unusable)?;
        Ok(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        })
    }
    #[cfg(windows)]
    {
        let mut interrupt = tokio::signal::windows::ctrl_c().map_err(unusable)?;
        Ok(async move {
            interrupt.recv().await;
        })
    }
}

/// A connection that broke while it was accepted is nobody's concern. Without file handles it helps to wait.
async fn pause_after_error(error: &std::io::Error) {
    use std::io::ErrorKind as Kind;
    if !matches!(error.kind(), Kind::ConnectionAborted | Kind::ConnectionRefused | Kind::ConnectionReset) {
        tracing::error!(%error, "no connection could be accepted");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// What every new connection meets.
struct Acceptor {
    hub: SharedHub,
    router: Router,
    tls: Option<TlsAcceptor>,
    table: Arc<ConnectionTable>,
    refusing: Arc<Semaphore>,
    open: GracefulShutdown,
}

impl Acceptor {
    fn admit(&self, stream: TcpStream, peer: SocketAddr) {
        let slot = match self.table.enter(peer.ip()) {
            Ok(slot) => slot,
            Err(refusal) => {
                self.hub.telemetry.refused_by(refusal.as_str());
                return self.refuse(stream);
            }
        };
        // Answers are small and should leave at once. A socket that cannot do this still works.
        let _slower = stream.set_nodelay(true);
        let counted = self.hub.telemetry.connection();
        let (hub, router, watcher) = (Arc::clone(&self.hub), self.router.clone(), self.open.watcher());
        let tls = self.tls.clone();
        tokio::spawn(async move {
            let _counted = counted;
            let connection = AcceptedConnection { peer, hub, router };
            let serving = async {
                match tls {
                    None => connection.serve(stream, watcher, &slot).await,
                    Some(tls) => {
                        let patience = connection.hub.config.timeouts.head;
                        match timeout(patience, tls.accept(stream)).await {
                            Ok(Ok(stream)) => connection.serve(stream, watcher, &slot).await,
                            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
                            Err(_) => tracing::debug!("a TLS handshake took too long"),
                        }
                    }
                }
            };
            tokio::select! {
                () = serving => {}
                () = slot.closed() => tracing::debug!("a connection that only waited was closed"),
            }
        });
    }

    /// Says that there is no room, unless too many are being told so already.
    fn refuse(&self, mut stream: TcpStream) {
        self.hub.telemetry.turned_away();
        // A client that expects TLS could not read it.
        if self.tls.is_some() {
            return;
        }
        let Ok(place) = Arc::clone(&self.refusing).try_acquire_owned() else { return };
        tokio::spawn(async move {
            let _held = place;
            let told = async {
                stream.write_all(no_room().as_bytes()).await?;
                stream.shutdown().await?;
                let mut scratch = [0; 1024];
                while stream.read(&mut scratch).await? > 0 {}
                std::io::Result::Ok(())
            };
            // Whether it was heard does not matter.
            let _told = timeout(Duration::from_secs(1), told).await;
        });
    }
}

fn no_room() -> String {
    let error = ApiError::new(
        HubCode::ServerBusy,
        "The hub has as many connections open as it takes, in all or from one address or network.",
        "Try again in a few seconds.",
    )
    .retry_after(5000);
    let body = error.body().to_string();
    format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         retry-after: 5\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// One accepted connection.
struct AcceptedConnection {
    peer: SocketAddr,
    hub: SharedHub,
    router: Router,
}

impl AcceptedConnection {
    async fn serve<S>(self, stream: S, watcher: hyper_util::server::graceful::Watcher, slot: &ConnectionSlot)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let times = self.hub.config.timeouts;
        let phase = Arc::clone(&slot.phase);
        let stream = TimedStream::new(stream, Arc::clone(&phase), times.head, times.stall);
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            phase.request();
            let mut request = request.map(|body| axum::body::Body::new(TimedBody::new(body, times.body)));
            request.extensions_mut().insert(ConnectInfo(self.peer));
            let (router, phase) = (self.router.clone(), Arc::clone(&phase));
            async move {
                let response = router.oneshot(request).await?;
                Ok::<_, std::convert::Infallible>(response.map(|body| TrackedBody::new(body, phase)))
            }
        });
        // The library's own timer counts idle time too, so it has the longer of the two.
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(times.idle)
            .max_headers(100)
            .half_close(false)
            .serve_connection(TokioIo::new(stream), service);
        if let Err(error) = watcher.watch(connection).await {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}
