//! TLS by a certificate and a key in PEM files.

use crate::config::TlsConfig;
use capsid_model::problem::{Code, Problem, Result};
use rustls::ServerConfig;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// Reads the files and gets ready to speak TLS.
pub fn acceptor(tls: &TlsConfig) -> Result<TlsAcceptor> {
    let chain = CertificateDer::pem_file_iter(&tls.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unusable(&tls.certificate, "a certificate", &error))?;
    if chain.is_empty() {
        return Err(unusable(&tls.certificate, "a certificate", &pem::Error::NoItemsFound));
    }
    let key = PrivateKeyDer::from_pem_file(&tls.key)
        .map_err(|error| unusable(&tls.key, "a private key", &error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| {
            Problem::new(Code::ConfigInvalid, format!("The certificate and the key cannot be used: {error}."))
                .fix("Give the chain of one certificate and the key that belongs to it.")
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn unusable(path: &Path, what: &str, error: &pem::Error) -> Problem {
    if let pem::Error::Io(error) = error {
        return Problem::io("read", path, error);
    }
    Problem::new(Code::ConfigInvalid, format!("`{}` holds no usable {what}: {error}.", path.display()))
        .fix(format!("Name a PEM file with {what}."))
}
