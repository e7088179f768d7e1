//! A program's output: its head and its end are kept, what is between is read and dropped so that the program never blocks.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// An output that a thread is reading.
pub struct CapturedOutput {
    kept: Arc<Mutex<KeptOutput>>,
    reader: JoinHandle<()>,
}

/// Half of what is kept comes from the start, half from the end: compilers complain first, test runners sum up last.
#[derive(Default)]
struct KeptOutput {
    head: Vec<u8>,
    end: VecDeque<u8>,
    is_cut: bool,
}

impl KeptOutput {
    fn push(&mut self, bytes: &[u8], limit: usize) {
        let room = (limit / 2).saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.end.extend(rest);
        let surplus = self.end.len().saturating_sub(limit - limit / 2);
        self.end.drain(..surplus);
        self.is_cut |= surplus > 0;
    }

    /// What was kept. Where something is missing, a line ends and another begins.
    fn to_text(&self) -> String {
        let mut bytes = self.head.clone();
        let mut end: Vec<u8> = self.end.iter().copied().collect();
        if self.is_cut {
            let whole = end.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            end.drain(..whole);
            bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1));
        }
        bytes.extend(end);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl CapturedOutput {
    /// Starts to read.
    pub fn spawn_reader(mut pipe: impl Read + Send + 'static, limit: usize) -> Self {
        let kept = Arc::new(Mutex::new(KeptOutput::default()));
        let shared = Arc::clone(&kept);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 16 * 1024];
            while let Some(read) = next(&mut pipe, &mut buffer) {
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                kept.push(&buffer[..read], limit);
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
        (kept.to_text(), kept.is_cut)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_and_the_end_of_a_long_output_are_kept_in_whole_lines() {
        let lines: String = (0..10_000).map(|n| format!("line {n}\n")).collect();
        let mut kept = KeptOutput::default();
        lines.as_bytes().chunks(777).for_each(|chunk| kept.push(chunk, 4096));
        let text = kept.to_text();
        assert!(kept.is_cut && text.len() <= 4096);
        assert!(text.starts_with("line 0\n") && text.ends_with("line 9999\n"));
        let whole = |line: &str| line.strip_prefix("line ").is_some_and(|n| n.parse::<u32>().is_ok());
        assert!(text.lines().all(whole), "{text}");
    }

    #[test]
    fn a_short_output_is_kept_as_it_is() {
        let mut kept = KeptOutput::default();
        kept.push(b"a\nb", 4096);
        kept.push(b"c\n", 4096);
        assert_eq!((kept.to_text().as_str(), kept.is_cut), ("a\nbc\n", false));
    }
}
