//! Many connections, most of them slow or silent, from a few addresses. Others are served, nothing that was acknowledged is
//! lost, and everything is as before once they are gone.

use super::kill::message;
use crate::common::bundle::Bundle;
use crate::common::{Scratch, program};
use capsid_testkit::hub::{HubProcess, ask};
use capsid_testkit::program::assert_status;
use capsid_testkit::rounds::{rounds, seeded_rng, size};
use capsid_testkit::wait;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// A connection from one of this machine's addresses.
fn connect_from(network: usize, hub: SocketAddr) -> std::io::Result<TcpStream> {
    let from: SocketAddr = format!("127.0.{network}.1:0").parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.bind(from)?;
        socket.connect(hub).await
    })?;
    let stream = stream.into_std()?;
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// What a fifth address is answered, and how long that takes.
fn ask_from(network: usize, hub: SocketAddr, path: &str) -> (String, Duration) {
    let began = Instant::now();
    let mut stream = connect_from(network, hub).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {hub}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer.lines().next().unwrap_or_default().to_owned(), began.elapsed())
}

#[test]
fn slow_and_many_connections_of_four_addresses_keep_nobody_else_out_on_sqlite() {
    hold_many(Scratch::sqlite());
}

#[test]
fn slow_and_many_connections_of_four_addresses_keep_nobody_else_out_on_postgresql() {
    hold_many(Scratch::postgres());
}

fn hold_many(scratch: Scratch) {
    let (total, rounds, mut rng) = (size(400, 4096), rounds(1, 10), seeded_rng());
    let program = program();
    let scratch = scratch.with(&format!("[server]\nmax_connections = {total}\n"));
    let hub = HubProcess::start(&program, &scratch.place);
    let address: SocketAddr = hub.address.parse().unwrap();
    let (mut held, mut acknowledged, mut slowest) = (Vec::new(), Vec::new(), Duration::ZERO);
    for round in 0..rounds {
        for n in 0..(total / 4 + 6) * 4 {
            let Ok(mut stream) = connect_from(1 + n % 4, address) else { continue };
            // Silent, in the middle of a head, in the middle of a body, or idle after an answer.
            let begun: &[u8] = match rng.u8(0..4) {
                0 => b"",
                1 => b"GET /a2a/stats HTTP/1.1\r\nhost: loc",
                2 => b"POST /a2a/hello HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{",
                _ => b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n",
            };
            let _refused = stream.write_all(begun);
            held.push(stream);
        }
        let (line, took) = ask_from(5, address, "/a2a/stats");
        assert!(line.starts_with("HTTP/1.1 200"), "round {round}: {line}");
        slowest = slowest.max(took);
        let bundle = Bundle::new(round as u64);
        let message = message("node_a", &format!("msg_{round}"), &bundle);
        if let Some((200, _)) = ask(&hub.address, "POST", "/a2a/publish", Some(&message)) {
            acknowledged.push(bundle);
        }
        held.clear();
        wait::until("there is room again", Duration::from_secs(30), || {
            ask(&hub.address, "GET", "/health", None).is_some_and(|(status, _)| status == 200)
        });
    }
    println!("{rounds} rounds of {total} connections; a fifth address was answered within {slowest:?}");
    assert!(slowest < Duration::from_secs(size(5, 1)), "a fifth address waited for {slowest:?}");
    for bundle in &acknowledged {
        let path = format!("/a2a/assets/{}", bundle.capsule_id());
        assert_eq!(ask(&hub.address, "GET", &path, None).unwrap().0, 200, "an acknowledged bundle is gone");
    }
    assert!(!acknowledged.is_empty(), "nothing was published");
    assert_eq!(hub.stop(), Some(0));
    assert_status(0, &scratch.place.run(&program, &["fsck"]));
}
