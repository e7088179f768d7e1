//! Who is at the other end of a connection. The system says it, not the client.

use std::io::Result;
use std::os::unix::net::UnixStream;

/// The user id of the process that connected.
#[cfg(target_os = "linux")]
pub fn peer_user(stream: &UnixStream) -> Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
}

/// Other systems are not offered yet.
#[cfg(not(target_os = "linux"))]
pub fn peer_user(_stream: &UnixStream) -> Result<u32> {
    Err(std::io::ErrorKind::Unsupported.into())
}
