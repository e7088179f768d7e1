//! The service: a socket, and a thread for each connection.

use crate::peer::peer_user;
use crate::rules::refusal::SignerRefusal;
use crate::rules::{MAX_CONNECTIONS, MAX_REQUEST_BYTES};
use crate::state_files::{list_users, user_folder};
use crate::user_signer::{JOURNAL_FILE, UserSigner};
use crate::wire::{MAX_ADOPTED, SignerReply, SignerRequest, read_frame, split_texts, write_frame};
use capsid_model::{Clock, Problem, Result};
use capsid_seal::keys::own::random_seed;
use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a connection may be silent.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often the heads files are looked at.
const HEADS_INTERVAL: Duration = Duration::from_millis(200);

/// All users of a machine.
pub struct SignerService {
    state: PathBuf,
    clock: Box<dyn Clock>,
    users: Mutex<HashMap<u32, Arc<UserSigner>>>,
    connections: Mutex<HashMap<u32, usize>>,
}

impl SignerService {
    /// A service over a folder of state.
    pub fn new(state: &Path, clock: Box<dyn Clock>) -> Arc<Self> {
        let (users, connections) = (Mutex::default(), Mutex::default());
        Arc::new(Self { state: state.to_owned(), clock, users, connections })
    }

    /// The socket that systemd hands over as the standard input; nothing when that is something else.
    pub fn inherit_listener() -> Result<Option<UnixListener>> {
        use std::os::fd::AsFd;
        let stdin = std::io::stdin();
        if !is_listening(stdin.as_fd()) {
            return Ok(None);
        }
        let socket = stdin.as_fd().try_clone_to_owned();
        let socket =
            socket.map_err(|error| Problem::io("take", Path::new("the inherited socket"), &error))?;
        Ok(Some(UnixListener::from(socket)))
    }

    /// Listens at a path. Everybody may connect: the system says who does.
    pub fn listen(socket: &Path) -> Result<UnixListener> {
        let fail = |error: std::io::Error| Problem::io("listen at", socket, &error);
        // A socket that a dead service left; a live one holds the locks of its users.
        match std::fs::remove_file(socket) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(fail(error)),
            _ => {}
        }
        let listener = UnixListener::bind(socket).map_err(fail)?;
        std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o666)).map_err(fail)?;
        Ok(listener)
    }

    /// Serves until the process ends.
    pub fn run(self: &Arc<Self>, listener: &UnixListener) {
        self.open_users();
        let service = Arc::clone(self);
        std::thread::spawn(move || service.write_heads_forever());
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // No descriptor is free, for instance.
                std::thread::sleep(Duration::from_millis(10));
                continue;
            };
            let service = Arc::clone(self);
            // A thread that cannot be had closes the connection; the client keeps its records.
            let _ = std::thread::Builder::new().spawn(move || service.serve_connection(stream));
        }
    }

    fn serve_connection(&self, mut stream: UnixStream) {
        let Ok(user) = peer_user(&stream) else { return };
        // Whoever has no key here costs no more than this. Root asks for others.
        if user != 0 && !self.is_set_up(user) {
            let _ = stream.set_write_timeout(Some(Duration::from_secs(1)));
            let _ = write_frame(&mut stream, &SignerReply::Refused(not_set_up(user)), &[]);
            return;
        }
        let timeouts = [stream.set_read_timeout(Some(PATIENCE)), stream.set_write_timeout(Some(PATIENCE))];
        if timeouts.iter().any(std::result::Result::is_err) {
            return;
        }
        let Some(_place) = ConnectionPlace::enter(&self.connections, user) else {
            let refusal = SignerRefusal::busy(&format!("{MAX_CONNECTIONS} connections"), 100);
            let _ = write_frame(&mut stream, &SignerReply::Refused(refusal), &[]);
            return;
        };
        while let Ok(Some((request, payload))) = read_frame::<SignerRequest>(&mut stream, MAX_REQUEST_BYTES) {
            let (reply, text) = self.answer(user, &request, &payload);
            if write_frame(&mut stream, &reply, &[text.as_bytes()]).is_err() {
                return;
            }
        }
    }

    /// Answers a request of a user: the reply, and a text that follows it.
    pub fn answer(&self, user: u32, request: &SignerRequest, payload: &[u8]) -> (SignerReply, String) {
        let answered = match request {
            SignerRequest::Heads { user: Some(other), .. }
            | SignerRequest::Head { user: Some(other), .. }
                if user != 0 && *other != user =>
            {
                Err(SignerRefusal::refused("Only root may ask for the heads of another user."))
            }
            SignerRequest::Heads { nonce, user: named } => self
                .user(named.unwrap_or(user))
                .and_then(|signer| signer.heads(Some(nonce), &*self.clock))
                .map(|(text, signature)| (SignerReply::Heads { signature }, text)),
            _ => self.answer_plain(user, request, payload).map(|reply| (reply, String::new())),
        };
        answered.unwrap_or_else(|refusal| (SignerReply::Refused(refusal), String::new()))
    }

    fn answer_plain(
        &self,
        user: u32,
        request: &SignerRequest,
        payload: &[u8],
    ) -> std::result::Result<SignerReply, SignerRefusal> {
        let clock = &*self.clock;
        match request {
            SignerRequest::Sign { lengths } => self.user(user)?.sign(&split_texts(payload, lengths)?, clock),
            SignerRequest::CatchUp { lengths, signatures } => {
                self.user(user)?.catch_up(&split_texts(payload, lengths)?, signatures, clock)
            }
            SignerRequest::Adopt { chains } if chains.len() > MAX_ADOPTED => Err(SignerRefusal::malformed(
                format_args!("at most {MAX_ADOPTED} chains are adopted at once"),
            )),
            SignerRequest::Adopt { chains } => self.user(user)?.adopt(chains, clock),
            SignerRequest::Head { chain, user: named } => {
                self.user(named.unwrap_or(user))?.head(chain, clock)
            }
            SignerRequest::Status | SignerRequest::Heads { .. } => {
                Ok(SignerReply::Status(self.user(user)?.status()?))
            }
            SignerRequest::RestartChain { .. }
            | SignerRequest::Rotate { .. }
            | SignerRequest::Epochs { .. }
                if user != 0 =>
            {
                Err(SignerRefusal::refused("Only root may ask for this."))
            }
            SignerRequest::RestartChain { user, chain } => self.user(*user)?.restart_chain(chain, clock),
            SignerRequest::Rotate { user } => self.user(*user)?.rotate(&random_seed()?, clock),
            SignerRequest::Epochs { user } => self.user(*user)?.epochs(),
        }
    }

    /// The signer of a user, opened at its first request.
    fn user(&self, user: u32) -> std::result::Result<Arc<UserSigner>, SignerRefusal> {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(signer) = users.get(&user) {
            return Ok(Arc::clone(signer));
        }
        let folder = user_folder(&self.state, user);
        if !self.is_set_up(user) {
            return Err(not_set_up(user));
        }
        let signer = Arc::new(UserSigner::open(&folder, user, &*self.clock)?);
        users.insert(user, Arc::clone(&signer));
        Ok(signer)
    }

    fn is_set_up(&self, user: u32) -> bool {
        user_folder(&self.state, user).join(JOURNAL_FILE).exists()
    }

    /// Opens all users at once: the heads file of a service that was killed may be older than its journal, and a
    /// journal that cannot be used shows in the log of the system.
    fn open_users(&self) {
        for user in list_users(&self.state) {
            if let Err(refusal) = self.user(user) {
                eprintln!("capsid-signer: user {user}: {}: {}", refusal.code, refusal.message);
            }
        }
    }

    /// Large files are written less often.
    fn write_heads_forever(&self) {
        loop {
            let start = Instant::now();
            let users: Vec<Arc<UserSigner>> =
                self.users.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
            for user in users {
                // Whoever asks the service gets the error; the old file stays.
                let _ = user.write_heads(&*self.clock);
            }
            std::thread::sleep(HEADS_INTERVAL.max(start.elapsed() * 20));
        }
    }
}

/// Whether a descriptor is a socket that listens. Only systemd hands one over.
#[cfg(target_os = "linux")]
fn is_listening(socket: std::os::fd::BorrowedFd<'_>) -> bool {
    rustix::net::sockopt::socket_acceptconn(socket).unwrap_or(false)
}

#[cfg(not(target_os = "linux"))]
fn is_listening(_socket: std::os::fd::BorrowedFd<'_>) -> bool {
    false
}

fn not_set_up(user: u32) -> SignerRefusal {
    SignerRefusal::refused(format!("The signing service is not set up for the user id {user}."))
}

/// A place among the connections of a user.
struct ConnectionPlace<'a>(&'a Mutex<HashMap<u32, usize>>, u32);

impl<'a> ConnectionPlace<'a> {
    fn enter(connections: &'a Mutex<HashMap<u32, usize>>, user: u32) -> Option<Self> {
        let mut counts = connections.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(user).or_default();
        if *count >= MAX_CONNECTIONS {
            return None;
        }
        *count += 1;
        Some(Self(connections, user))
    }
}

impl Drop for ConnectionPlace<'_> {
    fn drop(&mut self) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.1);
            }
        }
    }
}
