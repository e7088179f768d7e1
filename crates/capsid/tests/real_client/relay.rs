//! Stands between a client and the hub, passes everything on and remembers what the client sent.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What one client sent, in the order in which its connections were opened.
type Heard = Arc<Mutex<Vec<Vec<u8>>>>;

/// A relay; works until the test ends, and tells what it heard when that fails.
pub struct Relay {
    /// Where the client finds it.
    pub address: String,
    heard: Heard,
}

impl Relay {
    /// A relay to `http://host:port`.
    pub fn to(origin: &str) -> Self {
        Self::slow(origin, Duration::ZERO)
    }

    /// The same where every answer to a hello takes a while.
    pub fn slow(origin: &str, delay: Duration) -> Self {
        Self::slow_at_first(origin, delay, usize::MAX)
    }

    /// The same where only so many answers do.
    pub fn slow_at_first(origin: &str, delay: Duration, answers: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (hub, heard) = (origin.strip_prefix("http://").unwrap().to_owned(), Heard::default());
        let (kept, left) = (Arc::clone(&heard), Arc::new(AtomicUsize::new(answers)));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(hub) = TcpStream::connect(&hub) else { continue };
                pass_on(client, hub, &kept, delay, &left);
            }
        });
        Self { address, heard }
    }

    /// The requests that the client sent, as they were.
    pub fn heard(&self) -> String {
        let heard = self.heard.lock().unwrap();
        let connections: Vec<_> = heard.iter().map(|bytes| String::from_utf8_lossy(bytes)).collect();
        connections.join("\n")
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("--- the client sent\n{}", self.heard());
        }
    }
}

fn pass_on(client: TcpStream, hub: TcpStream, heard: &Heard, delay: Duration, left: &Arc<AtomicUsize>) {
    let number = {
        let mut heard = heard.lock().unwrap();
        heard.push(Vec::new());
        heard.len() - 1
    };
    let (mut from_client, mut to_hub) = (client.try_clone().unwrap(), hub.try_clone().unwrap());
    let (heard, asked) = (Arc::clone(heard), Arc::clone(heard));
    thread::spawn(move || {
        copy(&mut from_client, &mut to_hub, |bytes| heard.lock().unwrap()[number].extend(bytes));
    });
    let (mut from_hub, mut to_client) = (hub, client);
    let left = Arc::clone(left);
    thread::spawn(move || {
        let mut delayed = 0;
        copy(&mut from_hub, &mut to_client, |_| {
            let hellos = count_hellos(&asked.lock().unwrap()[number]);
            if hellos > delayed {
                delayed = hellos;
                let take = |count: usize| count.checked_sub(1);
                if left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok() {
                    thread::sleep(delay);
                }
            }
        });
    });
}

fn count_hellos(heard: &[u8]) -> usize {
    String::from_utf8_lossy(heard).matches("POST /a2a/hello ").count()
}

/// Passes everything on, and the end too: whoever hangs up is seen to hang up.
fn copy(from: &mut TcpStream, to: &mut TcpStream, mut note: impl FnMut(&[u8])) {
    let mut bytes = [0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        note(&bytes[..count]);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
