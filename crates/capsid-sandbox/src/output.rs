//! A program's output: the head is kept, the rest is read and dropped so that the program never blocks.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// An output that a thread is reading.
pub struct CapturedOutput {
    kept: Arc<Mutex<KeptHead>>,
    reader: JoinHandle<()>,
}

#[derive(Default)]
struct KeptHead {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl CapturedOutput {
    /// Starts to read.
    pub fn spawn_reader(mut pipe: impl Read + Send + 'static, limit: usize) -> Self {
        let kept = Arc::new(Mutex::new(KeptHead::default()));
        let shared = Arc::clone(&kept);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 16 * 1024];
            while let Some(read) = next(&mut pipe, &mut buffer) {
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                let room = limit.saturating_sub(kept.bytes.len()).min(read);
                kept.bytes.extend_from_slice(&buffer[..room]);
                kept.is_cut |= room < read;
            }
        });
        Self { kept, reader }
    }

    /// What was kept, and whether there was more; waits for the end of the output, but not for a process that holds it open for ever.
    pub fn wait(self, until: Instant) -> (String, bool) {
        while !self.reader.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        (String::from_utf8_lossy(&kept.bytes).into_owned(), kept.is_cut)
    }
}

/// How many bytes came, or nothing at the end.
pub fn next(pipe: &mut impl Read, buffer: &mut [u8]) -> Option<usize> {
    loop {
        match pipe.read(buffer) {
            Ok(0) => return None,
            Ok(read) => return Some(read),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}
