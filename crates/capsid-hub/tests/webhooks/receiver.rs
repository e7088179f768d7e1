//! A receiver of calls on this machine that answers as it is told, and remembers what it got.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use capsid_testkit::wait;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// How a receiver answers.
#[derive(Debug, Clone)]
pub enum Answers {
    /// With a status.
    Status(u16),
    /// With a status after a while.
    Late(u16, Duration),
    /// With a redirect.
    Redirect(u16, String),
    /// With a status and a body that is far too long.
    Flood(u16),
    /// Not at all.
    Never,
    /// By hanging up.
    Reset,
    /// With something that is not HTTP.
    Nonsense,
}

/// One call as it arrived.
#[derive(Debug, Clone)]
pub struct Received {
    pub path: String,
    pub headers: HashMap<String, String>,
    pub text: String,
}

impl Received {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", self.headers))
    }

    pub fn body(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    /// Whether both signatures are right, worked out here by hand.
    pub fn is_signed_with(&self, secret: &str) -> bool {
        let (id, time) = (self.header("webhook-id"), self.header("webhook-timestamp"));
        let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        let standard = STANDARD.encode(hmac(&key, &format!("{id}.{time}.{}", self.text)));
        let signatures = self.header("webhook-signature");
        let plain = hmac(secret.as_bytes(), &format!("{}.{}", self.header("x-evomap-timestamp"), self.text));
        let plain = format!("sha256={}", capsid_model::hash::hex(&plain));
        let previous = self.headers.get("x-evomap-signature-previous").map(String::as_str);
        signatures.split(' ').any(|signature| signature == format!("v1,{standard}"))
            && [Some(self.header("x-evomap-signature")), previous].contains(&Some(&plain))
    }
}

/// HMAC-SHA256 from its definition.
pub fn hmac(key: &[u8], text: &str) -> [u8; 32] {
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    let padded = |pad: u8| block.map(|byte| byte ^ pad);
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().into()
}

#[derive(Default)]
struct Log {
    /// Who connected, in order.
    accepted: Mutex<Vec<SocketAddr>>,
    open: AtomicUsize,
    most_open: AtomicUsize,
    received: Mutex<Vec<Received>>,
    /// What is answered next; the last one stays.
    script: Mutex<Vec<Answers>>,
}

/// A receiver.
pub struct Receiver {
    pub port: u16,
    address: IpAddr,
    log: Arc<Log>,
}

impl Receiver {
    pub fn start(runtime: &Runtime, script: &[Answers]) -> Self {
        Self::start_at(runtime, "127.0.0.1:0", script).unwrap()
    }

    pub fn start_at(runtime: &Runtime, address: &str, script: &[Answers]) -> io::Result<Self> {
        Self::listen(runtime, address, script, None)
    }

    /// One that speaks TLS.
    pub fn start_tls(runtime: &Runtime, tls: tokio_rustls::TlsAcceptor) -> Self {
        Self::listen(runtime, "127.0.0.1:0", &[Answers::Status(200)], Some(tls)).unwrap()
    }

    fn listen(
        runtime: &Runtime,
        address: &str,
        script: &[Answers],
        tls: Option<tokio_rustls::TlsAcceptor>,
    ) -> io::Result<Self> {
        let listener = runtime.block_on(TcpListener::bind(address))?;
        let port = listener.local_addr()?.port();
        let address = match listener.local_addr()?.ip() {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            ip @ IpAddr::V6(_) => ip,
        };
        let log = Arc::new(Log { script: Mutex::new(script.to_vec()), ..Log::default() });
        let kept = Arc::clone(&log);
        runtime.spawn(async move {
            loop {
                let (stream, peer) = listener.accept().await.unwrap();
                log.accepted.lock().unwrap().push(peer);
                let (log, tls) = (Arc::clone(&log), tls.clone());
                tokio::spawn(async move {
                    let now = log.open.fetch_add(1, Ordering::SeqCst) + 1;
                    log.most_open.fetch_max(now, Ordering::SeqCst);
                    match tls {
                        None => drop(log.serve(stream).await),
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                drop(log.serve(stream).await);
                            }
                        }
                    }
                    log.open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Ok(Self { port, address, log: kept })
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook?x=1", self.port)
    }

    pub fn answers(&self, script: &[Answers]) {
        *self.log.script.lock().unwrap() = script.to_vec();
    }

    /// What arrived, in order.
    pub fn received(&self) -> Vec<Received> {
        self.log.received.lock().unwrap().clone()
    }

    pub fn connections(&self) -> usize {
        self.log.accepted.lock().unwrap().len()
    }

    /// How many connected before this call. Connections are accepted in order, so one made now comes after all others.
    pub fn connections_before(&self) -> usize {
        let last = std::net::TcpStream::connect((self.address, self.port)).unwrap().local_addr().unwrap();
        wait::until_some("the receiver accepts", Duration::from_secs(60), || {
            let mut accepted = self.log.accepted.lock().unwrap();
            let position = accepted.iter().position(|peer| *peer == last)?;
            accepted.remove(position);
            Some(position)
        })
    }

    /// How many connections were open at one time.
    pub fn most_open(&self) -> usize {
        self.log.most_open.load(Ordering::SeqCst)
    }
}

impl Log {
    fn next(&self) -> Answers {
        let mut script = self.script.lock().unwrap();
        if script.len() > 1 { script.remove(0) } else { script[0].clone() }
    }

    async fn serve<S: AsyncRead + AsyncWrite + Unpin>(&self, mut stream: S) -> io::Result<()> {
        let received = read(&mut stream).await?;
        self.received.lock().unwrap().push(received);
        let head = |status: u16, rest: &str| format!("HTTP/1.1 {status} Whatever\r\n{rest}\r\n");
        match self.next() {
            Answers::Status(status) => {
                stream.write_all(head(status, "content-length: 2\r\n").as_bytes()).await?;
                stream.write_all(b"ok").await?;
            }
            Answers::Late(status, pause) => {
                tokio::time::sleep(pause).await;
                stream.write_all(head(status, "content-length: 0\r\n").as_bytes()).await?;
            }
            Answers::Redirect(status, to) => {
                let rest = format!("location: {to}\r\ncontent-length: 0\r\n");
                stream.write_all(head(status, &rest).as_bytes()).await?;
            }
            Answers::Flood(status) => {
                stream.write_all(head(status, "content-length: 1000000000\r\n").as_bytes()).await?;
                while stream.write_all(&[b'x'; 8192]).await.is_ok() {}
            }
            Answers::Never => {
                let mut rest = Vec::new();
                stream.read_to_end(&mut rest).await?;
            }
            Answers::Reset => {}
            Answers::Nonsense => stream.write_all(b"SSH-2.0-OpenSSH\r\n\r\n").await?,
        }
        stream.shutdown().await
    }
}

async fn read<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<Received> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let path = lines.next().unwrap().split(' ').nth(1).unwrap().to_owned();
    let headers: HashMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize = headers["content-length"].parse().unwrap();
    let mut body = bytes[end + 4..].to_vec();
    while body.len() < length {
        if stream.read_buf(&mut body).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(Received { path, headers, text: String::from_utf8(body).unwrap() })
}
