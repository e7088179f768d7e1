//! Clients: connections that are kept open, each with one request under way, all on one thread, so that they take little
//! from the hub that they share the machine with.

use crate::Result;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What came of a load.
pub struct Outcome {
    /// How long all of it took.
    pub seconds: f64,
    /// How long each request took, the quickest first, in milliseconds.
    pub latencies: Vec<f64>,
}

impl Outcome {
    /// The latency that this share of the requests did not exceed.
    pub fn percentile(&self, share: f64) -> f64 {
        percentile(&self.latencies, share)
    }
}

/// The value that this share of sorted values does not exceed.
pub fn percentile(sorted: &[f64], share: f64) -> f64 {
    let at = ((sorted.len() as f64 * share).ceil() as usize).clamp(1, sorted.len().max(1)) - 1;
    sorted.get(at).copied().unwrap_or(f64::NAN)
}

/// Sends `count` requests, again from the first when there are fewer, over so many connections.
pub fn run(address: &str, requests: &[Vec<u8>], connections: usize, count: usize) -> Result<Outcome> {
    run_paced(address, requests, connections, count, None)
}

/// How many requests such connections answer in so many seconds, at least 200 and at most 20,000. It warms them up as well.
pub fn count_for(address: &str, requests: &[Vec<u8>], connections: usize, seconds: f64) -> Result<usize> {
    let sample = connections.max(50);
    let rate = sample as f64 / run(address, requests, connections, sample)?.seconds;
    Ok((rate * seconds).clamp(200.0, 20_000.0) as usize)
}

/// The same as `run`, at most so many a second.
pub fn run_paced(
    address: &str,
    requests: &[Vec<u8>],
    connections: usize,
    count: usize,
    rate: Option<f64>,
) -> Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let shared = Arc::new(Shared {
        requests: requests.to_vec(),
        count,
        next: AtomicUsize::new(0),
        latencies: Mutex::new(Vec::with_capacity(count)),
        begun: Instant::now(),
        rate,
    });
    runtime.block_on(async {
        let mut clients = tokio::task::JoinSet::new();
        for _ in 0..connections {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            clients.spawn(client(stream, Arc::clone(&shared)));
        }
        while let Some(done) = clients.join_next().await {
            done??;
        }
        Ok::<(), Box<dyn std::error::Error>>(())
    })?;
    let seconds = shared.begun.elapsed().as_secs_f64();
    let mut latencies = shared.latencies.lock().map_err(|_| "a client panicked")?.clone();
    latencies.sort_by(f64::total_cmp);
    Ok(Outcome { seconds, latencies })
}

/// The body of the answer to one request.
pub fn ask(address: &str, request: &[u8]) -> Result<Vec<u8>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut stream = TcpStream::connect(address).await?;
        let mut buffer = Vec::new();
        stream.write_all(request).await?;
        let body = answer(&mut stream, &mut buffer).await?;
        Ok(buffer[body..].to_vec())
    })
}

struct Shared {
    requests: Vec<Vec<u8>>,
    count: usize,
    next: AtomicUsize,
    latencies: Mutex<Vec<f64>>,
    begun: Instant,
    rate: Option<f64>,
}

type Sent<T> = std::result::Result<T, String>;

async fn client(mut stream: TcpStream, shared: Arc<Shared>) -> Sent<()> {
    let mut buffer = Vec::new();
    loop {
        let at = shared.next.fetch_add(1, Ordering::Relaxed);
        if at >= shared.count {
            return Ok(());
        }
        if let Some(rate) = shared.rate {
            let due = shared.begun + Duration::from_secs_f64(at as f64 / rate);
            tokio::time::sleep_until(due.into()).await;
        }
        let start = Instant::now();
        let request = &shared.requests[at % shared.requests.len()];
        stream.write_all(request).await.map_err(|error| error.to_string())?;
        answer(&mut stream, &mut buffer).await?;
        let took = start.elapsed().as_secs_f64() * 1000.0;
        shared.latencies.lock().map_err(|_| "a client panicked")?.push(took);
    }
}

/// Reads one answer and tells where its body begins.
async fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Sent<usize> {
    buffer.clear();
    loop {
        let read = stream.read_buf(buffer).await.map_err(|error| error.to_string())?;
        if read == 0 {
            return Err("the server hung up".to_owned());
        }
        let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
        let length =
            head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
        let whole = end + 4 + length.ok_or("an answer without a length")?;
        while buffer.len() < whole {
            if stream.read_buf(buffer).await.map_err(|error| error.to_string())? == 0 {
                return Err("the server hung up".to_owned());
            }
        }
        return match head.split(' ').nth(1) {
            Some("200") => Ok(end + 4),
            _ => Err(format!("refused: {}", String::from_utf8_lossy(buffer))),
        };
    }
}
