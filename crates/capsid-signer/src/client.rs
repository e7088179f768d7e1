//! The other end of the socket.

use crate::rules::signer_chain::SignerChain;
use crate::rules::statement::HeadsStatement;
use crate::trust_root::SignerTrust;
use crate::wire::{
    AdoptedHead, MAX_ADOPTED, MAX_RESPONSE_BYTES, SignerReply, SignerRequest, SignerStatus, TrustedEpoch,
    read_frame, write_frame,
};
use capsid_disk::files;
use capsid_model::{Code, Problem, Result};
use capsid_seal::PublicKey;
use capsid_seal::hash::hex;
use capsid_seal::heads::SignedStatement;
use capsid_seal::keys::own::random_seed;
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::path::Path;
#[cfg(unix)]
use std::time::Duration;

/// How long the service may take for an answer.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection to the service.
pub struct SignerClient {
    #[cfg(unix)]
    stream: UnixStream,
}

/// What the service signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedTexts {
    pub key: PublicKey,
    pub signatures: Vec<String>,
}

impl SignerClient {
    /// Connects to a socket.
    #[cfg(unix)]
    pub fn connect(socket: &Path) -> Result<Self> {
        let open = || -> std::io::Result<UnixStream> {
            let stream = UnixStream::connect(socket)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            Ok(stream)
        };
        open().map(|stream| Self { stream }).map_err(|error| unreachable_service(&error))
    }

    /// There is no service on this system.
    #[cfg(not(unix))]
    pub fn connect(_socket: &Path) -> Result<Self> {
        Err(unreachable_service(&"it is not offered on this system"))
    }

    #[cfg(unix)]
    fn call(&mut self, request: &SignerRequest, parts: &[&[u8]]) -> Result<(SignerReply, Vec<u8>)> {
        let sent = write_frame(&mut self.stream, request, parts);
        let read = read_frame(&mut self.stream, MAX_RESPONSE_BYTES);
        match (sent, read) {
            (_, Ok(Some((SignerReply::Refused(refusal), _)))) => Err(refusal.to_problem()),
            (Ok(()), Ok(Some(answer))) => Ok(answer),
            (Err(error), _) | (_, Err(error)) => Err(unreachable_service(&error)),
            (_, Ok(None)) => Err(unreachable_service(&"it closed the connection")),
        }
    }

    #[cfg(not(unix))]
    fn call(&mut self, _request: &SignerRequest, _parts: &[&[u8]]) -> Result<(SignerReply, Vec<u8>)> {
        Err(unreachable_service(&"it is not offered on this system"))
    }

    /// Has texts of one chain signed, in order. The head statement must hold for one of `keys`.
    pub fn sign(&mut self, texts: &[&str], keys: &[PublicKey]) -> Result<SignedTexts> {
        let parts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        let request = SignerRequest::Sign { lengths: lengths(texts)? };
        let (SignerReply::Signed { key, signatures, statement, statement_signature }, _) =
            self.call(&request, &parts)?
        else {
            return Err(unexpected());
        };
        let key = PublicKey::from_hex(&key)?;
        let is_ours = keys.contains(&key) && key.verifies(&statement, &statement_signature);
        match is_ours && signatures.len() == texts.len() {
            true => Ok(SignedTexts { key, signatures }),
            false => Err(untrusted(&key)),
        }
    }

    /// Sends records again that the service signed before.
    pub fn catch_up(&mut self, texts: &[&str], signatures: Vec<String>) -> Result<()> {
        let parts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        self.call(&SignerRequest::CatchUp { lengths: lengths(texts)?, signatures }, &parts).map(drop)
    }

    /// Has chains taken over.
    pub fn adopt(&mut self, chains: &[AdoptedHead]) -> Result<()> {
        for group in chains.chunks(MAX_ADOPTED) {
            self.call(&SignerRequest::Adopt { chains: group.to_vec() }, &[])?;
        }
        Ok(())
    }

    /// How things are.
    pub fn status(&mut self) -> Result<SignerStatus> {
        match self.call(&SignerRequest::Status, &[])? {
            (SignerReply::Status(status), _) => Ok(status),
            _ => Err(unexpected()),
        }
    }

    /// Root: allows a new history of a chain.
    pub fn restart_chain(&mut self, user: u32, chain: &SignerChain) -> Result<()> {
        self.call(&SignerRequest::RestartChain { user, chain: chain.clone() }, &[]).map(drop)
    }

    /// Root: a new key; the keys over time.
    pub fn rotate(&mut self, user: u32) -> Result<Vec<TrustedEpoch>> {
        self.read_epochs(&SignerRequest::Rotate { user })
    }

    /// Root: the keys over time.
    pub fn epochs(&mut self, user: u32) -> Result<Vec<TrustedEpoch>> {
        self.read_epochs(&SignerRequest::Epochs { user })
    }

    fn read_epochs(&mut self, request: &SignerRequest) -> Result<Vec<TrustedEpoch>> {
        match self.call(request, &[])? {
            (SignerReply::Epochs { epochs }, _) => Ok(epochs),
            _ => Err(unexpected()),
        }
    }

    /// The statement about the head of one chain, signed by the present key of the service; none of a chain that it
    /// never signed.
    pub fn state_head(
        &mut self,
        trust: &SignerTrust,
        chain: &SignerChain,
    ) -> Result<Option<SignedStatement>> {
        let request = SignerRequest::Head { chain: chain.clone(), user: Some(trust.user) };
        let (SignerReply::Head { statement, signature }, _) = self.call(&request, &[])? else {
            return Err(unexpected());
        };
        let Some(text) = statement else { return Ok(None) };
        let signed = SignedStatement { text, signature };
        let stated = signed.statement().ok_or_else(unexpected)?;
        let key = trust.current_key()?;
        if stated.key != key || !signed.is_signed_by(&key) {
            return Err(untrusted(&stated.key));
        }
        match (stated.tool.as_str(), stated.session.as_str()) == (&chain.domain, &chain.session) {
            true => Ok(Some(signed)),
            false => Err(unexpected()),
        }
    }

    /// All heads, stated for this nonce: the text and its signature, which is not checked yet.
    fn state_heads(&mut self, trust: &SignerTrust, nonce: &str) -> Result<(String, String)> {
        let (SignerReply::Heads { signature }, text) =
            self.call(&SignerRequest::Heads { nonce: nonce.to_owned(), user: Some(trust.user) }, &[])?
        else {
            return Err(unexpected());
        };
        Ok((String::from_utf8(text).map_err(|_| unexpected())?, signature))
    }
}

/// The heads of a user: from the service, else from its heads file.
///
/// The service answers their user and root only, so others read the file.
pub fn load_heads(trust: &SignerTrust) -> Result<HeadsStatement> {
    let nonce = hex(&random_seed()?);
    let asked = SignerClient::connect(&trust.socket).and_then(|mut client| client.state_heads(trust, &nonce));
    if let Ok((text, signature)) = asked {
        // An answer that does not hold is a finding; no older statement stands in for it.
        return check_statement(trust, &text, &signature, Some(&nonce));
    }
    read_heads_file(trust)?.ok_or_else(|| {
        let message = "The signing service did not answer and its heads file cannot be read.";
        Problem::new(Code::SignerUnreachable, message).fix("Start it: `sudo systemctl start capsid-signer`.")
    })
}

fn read_heads_file(trust: &SignerTrust) -> Result<Option<HeadsStatement>> {
    // Whatever keeps the file from being read: there is no statement.
    let Ok(Some(file)) = files::read_optional(&trust.heads) else { return Ok(None) };
    let signed = file.strip_suffix('\n').and_then(|file| {
        let (text, signature) = file.rsplit_once("signature ")?;
        Some((text, signature))
    });
    let (text, signature) = signed.ok_or_else(unexpected)?;
    check_statement(trust, text, signature, None).map(Some)
}

fn check_statement(
    trust: &SignerTrust,
    text: &str,
    signature: &str,
    nonce: Option<&str>,
) -> Result<HeadsStatement> {
    let statement = HeadsStatement::parse(text).ok_or_else(unexpected)?;
    let key = trust.current_key()?;
    let origin = &statement.origin;
    let is_ours = (origin.user, origin.key, origin.nonce.as_deref()) == (trust.user, key, nonce);
    match is_ours && key.verifies(text, signature) {
        true => Ok(statement),
        false => Err(untrusted(&statement.origin.key)),
    }
}

fn lengths(texts: &[&str]) -> Result<Vec<u32>> {
    let length = |text: &&str| {
        u32::try_from(text.len())
            .map_err(|_| Problem::new(Code::SealRefused, "A record is too long to be signed."))
    };
    texts.iter().map(length).collect()
}

fn unreachable_service(reason: &dyn std::fmt::Display) -> Problem {
    Problem::new(Code::SignerUnreachable, format!("The signing service does not answer: {reason}."))
        .fix("Start it: `sudo systemctl start capsid-signer`. Records that wait are signed by `capsid trail signer flush`.")
}

fn unexpected() -> Problem {
    Problem::new(Code::SignerRefused, "The signing service answered something else than was asked.")
        .fix("Install the service and the program in one version: `sudo capsid trail signer install`.")
}

fn untrusted(key: &PublicKey) -> Problem {
    let message =
        format!("The key {} that answered is not one of `/etc/capsid/signer.d`.", key.fingerprint());
    Problem::new(Code::SignerRefused, message)
        .fix("After a rotation that was interrupted run `sudo capsid trail signer install` again.")
}
