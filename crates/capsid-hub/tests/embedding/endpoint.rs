//! An endpoint on this machine that makes embeddings of words, the same every time, and fails as it is told.

use serde_json::{Value, json};
use std::io;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// How it answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Mood {
    /// As it should.
    Well,
    /// With a status.
    Status(u16),
    /// With 429, and when to come back.
    Busy(&'static str),
    /// With a redirect to itself.
    Redirect,
    /// Not at all.
    Never,
    /// By hanging up.
    Reset,
    /// By hanging up in the middle of the answer.
    CutShort,
    /// With a body that never ends.
    Huge,
    /// With something that is not JSON.
    Garbage,
    /// With one number too many in each.
    WrongDims,
    /// With one number too many in the last.
    MixedDims,
    /// With one embedding too few.
    WrongCount,
    /// With the same index twice.
    SameIndex,
    /// With NaN among the numbers.
    NaN,
    /// With null among the numbers.
    Null,
    /// With numbers that are too large.
    Infinite,
    /// With nothing but zeros.
    Zero,
}

/// One request as it arrived.
#[derive(Debug, Clone)]
pub struct EmbeddingRequest {
    pub head: String,
    pub model: String,
    pub texts: Vec<String>,
}

struct Log {
    mood: Mutex<Mood>,
    dims: Mutex<usize>,
    poison: Mutex<Option<(&'static str, Mood)>>,
    asked: Mutex<Vec<EmbeddingRequest>>,
}

/// An endpoint.
pub struct Endpoint {
    port: u16,
    log: Arc<Log>,
    /// It outlives the hubs of a test.
    _runtime: Runtime,
}

impl Endpoint {
    pub fn start(dims: usize) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let log = Arc::new(Log {
            mood: Mutex::new(Mood::Well),
            dims: Mutex::new(dims),
            poison: Mutex::default(),
            asked: Mutex::default(),
        });
        let kept = Arc::clone(&log);
        runtime.spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let log = Arc::clone(&log);
                tokio::spawn(async move { drop(log.serve(stream).await) });
            }
        });
        Self { port, log: kept, _runtime: runtime }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub fn is(&self, mood: Mood) {
        *self.log.mood.lock().unwrap() = mood;
    }

    pub fn gives(&self, dims: usize) {
        *self.log.dims.lock().unwrap() = dims;
    }

    /// Answers so where a text holds this word.
    pub fn chokes_on(&self, word: &'static str, mood: Mood) {
        *self.log.poison.lock().unwrap() = Some((word, mood));
    }

    /// What arrived since this was last asked.
    pub fn asked(&self) -> Vec<EmbeddingRequest> {
        std::mem::take(&mut *self.log.asked.lock().unwrap())
    }
}

impl Log {
    async fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let (head, body) = read(&mut stream).await?;
        let body: Value = serde_json::from_str(&body).unwrap();
        let model = body["model"].as_str().unwrap().to_owned();
        let texts: Vec<String> = serde_json::from_value(body["input"].clone()).unwrap();
        assert_eq!(body["encoding_format"], "float");
        self.asked.lock().unwrap().push(EmbeddingRequest {
            head,
            model: model.clone(),
            texts: texts.clone(),
        });
        let mut mood = self.mood.lock().unwrap().clone();
        if let Some((word, choked)) = self.poison.lock().unwrap().clone()
            && texts.iter().any(|text| text.contains(word))
        {
            mood = choked;
        }
        let dims = *self.dims.lock().unwrap();
        answer(&mut stream, mood, &model, &texts, dims).await?;
        stream.shutdown().await
    }
}

async fn answer(
    stream: &mut TcpStream,
    mood: Mood,
    model: &str,
    texts: &[String],
    dims: usize,
) -> io::Result<()> {
    let error = r#"{"error":{"message":"no"}}"#;
    match mood {
        Mood::Status(status) => respond(stream, status, "", error).await,
        Mood::Busy(later) => respond(stream, 429, &format!("retry-after: {later}\r\n"), error).await,
        Mood::Redirect => respond(stream, 307, "location: /v2/embeddings\r\n", "").await,
        Mood::Never => std::future::pending().await,
        Mood::Reset => Ok(()),
        Mood::CutShort => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{\"data\":[").await
        }
        Mood::Huge => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\n").await?;
            while stream.write_all(&[b' '; 65536]).await.is_ok() {}
            Ok(())
        }
        Mood::Garbage => respond(stream, 200, "", "<html>hello</html>").await,
        mood => {
            let mut text = json!({"object": "list", "data": data(&mood, model, texts, dims)}).to_string();
            if mood == Mood::NaN {
                text = text.replacen("[", "[NaN,", 2).replacen("[NaN,", "[", 1);
            }
            respond(stream, 200, "content-type: application/json\r\n", &text).await
        }
    }
}

fn data(mood: &Mood, model: &str, texts: &[String], dims: usize) -> Vec<Value> {
    let mut data: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(
            |(n, text)| json!({"object": "embedding", "index": n, "embedding": embedding(model, text, dims)}),
        )
        .collect();
    // The order of an answer says nothing.
    data.reverse();
    let last = data.last_mut().unwrap();
    match mood {
        Mood::WrongDims => {
            data.iter_mut().for_each(|item| item["embedding"].as_array_mut().unwrap().push(json!(1)));
        }
        Mood::MixedDims => last["embedding"].as_array_mut().unwrap().push(json!(1)),
        Mood::WrongCount => drop(data.pop()),
        Mood::SameIndex => last["index"] = json!(texts.len() - 1 + usize::from(texts.len() == 1)),
        Mood::Null => last["embedding"][0] = json!(null),
        Mood::Infinite => last["embedding"][0] = json!(1e300),
        Mood::Zero => last["embedding"] = json!(vec![0; dims]),
        _ => {}
    }
    data
}

/// Each word adds numbers that only it and the model decide on: texts that share words lie near.
fn embedding(model: &str, text: &str, dims: usize) -> Vec<f64> {
    let mut sum = vec![0.0; dims];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let mut state = word.bytes().chain(model.bytes()).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        for number in &mut sum {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *number += (state >> 33) as f64 / f64::from(1_u32 << 31) - 0.5;
        }
    }
    sum
}

async fn respond(stream: &mut TcpStream, status: u16, rest: &str, body: &str) -> io::Result<()> {
    let head = format!("HTTP/1.1 {status} Whatever\r\ncontent-length: {}\r\n{rest}\r\n", body.len());
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await
}

async fn read(stream: &mut TcpStream) -> io::Result<(String, String)> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap().to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let length: usize = length.parse().unwrap();
    let mut body = bytes[end + 4..].to_vec();
    while body.len() < length {
        if stream.read_buf(&mut body).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok((head, String::from_utf8(body).unwrap()))
}
