//! TLS to the server, with rustls as everywhere else.

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect};
use tokio_rustls::TlsConnector;

type TlsError = Box<dyn Error + Send + Sync>;

/// What is asked of the server's certificate, by `sslmode`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Verification {
    #[default]
    Nothing,
    Authority,
    AuthorityAndName,
}

/// The settings of TLS. A certificate is a path, or its text.
#[derive(Debug, Clone, Default)]
pub struct TlsSettings {
    pub verification: Verification,
    /// Trusted beside the system's.
    pub roots: Option<String>,
    pub certificate: Option<String>,
    pub key: Option<String>,
}

impl TlsSettings {
    /// What speaks TLS by these settings.
    pub fn connector(&self) -> Result<RustlsConnector, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(self.verifier(provider)?);
        let config = match (&self.certificate, &self.key) {
            (None, None) => builder.with_no_client_auth(),
            (Some(certificate), Some(key)) => builder.with_client_auth_cert(
                certificates(certificate)?,
                PrivateKeyDer::from_pem_slice(&text(key)?)?,
            )?,
            _ => return Err("sslcert and sslkey belong together".into()),
        };
        Ok(RustlsConnector { connector: TlsConnector::from(Arc::new(config)), name: None })
    }

    fn verifier(&self, provider: Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, TlsError> {
        if self.verification == Verification::Nothing {
            return Ok(Arc::new(LenientVerifier { provider, authority: None }));
        }
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        for certificate in self.roots.as_deref().map(certificates).transpose()?.unwrap_or_default() {
            roots.add(certificate)?;
        }
        let full =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build()?;
        Ok(match self.verification {
            Verification::AuthorityAndName => full,
            _ => Arc::new(LenientVerifier { provider, authority: Some(full) }),
        })
    }
}

fn text(path_or_text: &str) -> Result<Vec<u8>, TlsError> {
    if path_or_text.contains("-----BEGIN ") {
        return Ok(path_or_text.as_bytes().to_vec());
    }
    std::fs::read(path_or_text).map_err(|error| format!("`{path_or_text}`: {error}").into())
}

fn certificates(path_or_text: &str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    Ok(CertificateDer::pem_slice_iter(&text(path_or_text)?).collect::<Result<_, _>>()?)
}

/// Checks less than it could: nothing, or everything but the name.
#[derive(Debug)]
struct LenientVerifier {
    provider: Arc<CryptoProvider>,
    authority: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for LenientVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(authority) = &self.authority else { return Ok(ServerCertVerified::assertion()) };
        match authority.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            checked => checked,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Makes the TLS of a connection.
#[derive(Clone)]
pub struct RustlsConnector {
    connector: TlsConnector,
    name: Option<ServerName<'static>>,
}

impl<S> MakeTlsConnect<S> for RustlsConnector
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = RustlsStream<S>;
    type TlsConnect = Self;
    type Error = TlsError;

    fn make_tls_connect(&mut self, domain: &str) -> Result<Self, TlsError> {
        // A socket of this machine has no name, and no TLS.
        let name = ServerName::try_from(domain.to_owned()).ok();
        Ok(Self { connector: self.connector.clone(), name })
    }
}

impl<S> TlsConnect<S> for RustlsConnector
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = RustlsStream<S>;
    type Error = TlsError;
    type Future = Pin<Box<dyn Future<Output = Result<RustlsStream<S>, TlsError>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let name = self.name.ok_or("the server has no name that TLS could check")?;
            Ok(RustlsStream(self.connector.connect(name, stream).await?))
        })
    }
}

/// A connection inside TLS.
pub struct RustlsStream<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> tokio_postgres::tls::TlsStream for RustlsStream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for RustlsStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for RustlsStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
