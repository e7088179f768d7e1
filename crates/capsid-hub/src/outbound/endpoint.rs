//! Where embeddings are made. The operator chose the address, so it may lie in a network of the operator's own.

use crate::outbound::resolve::Resolver;
use axum::http::Uri;
use std::net::{IpAddr, SocketAddr};
use tokio::net::TcpStream;

/// What the address says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingEndpoint {
    pub https: bool,
    /// Host and port as they stand in the address.
    pub authority: String,
    /// A name, or an address without brackets.
    pub host: String,
    pub port: u16,
    /// The path that texts are posted to.
    pub path: String,
}

impl EmbeddingEndpoint {
    /// Reads an address such as `http://127.0.0.1:11434/v1`. A key does not belong into it, nor a query.
    pub fn parse(url: &str) -> Option<Self> {
        let is_plain =
            url.bytes().all(|byte| byte.is_ascii_graphic()) && !url.contains(['\\', '#', '?', '@']);
        let uri: Uri = url.parse().ok().filter(|_| is_plain)?;
        let authority = uri.authority()?;
        let https = match uri.scheme_str()? {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let port = match authority.as_str().strip_prefix(authority.host())? {
            "" => 80 + u16::from(https) * (443 - 80),
            text => text.strip_prefix(':')?.parse().ok().filter(|port| *port > 0)?,
        };
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        Some(Self {
            https,
            authority: authority.as_str().to_owned(),
            host: Some(host).filter(|host| !host.is_empty())?.to_owned(),
            port,
            path: format!("{}/embeddings", uri.path().trim_end_matches('/')),
        })
    }

    /// Connects to one of its addresses.
    pub async fn connect(&self, resolver: &dyn Resolver) -> Result<TcpStream, &'static str> {
        let addresses: Vec<IpAddr> = match self.host.parse() {
            Ok(literal) => vec![literal],
            Err(_) => resolver.resolve(&self.host).await.map_err(|_| "name_not_resolved")?,
        };
        for address in addresses {
            if let Ok(stream) = TcpStream::connect(SocketAddr::new(address, self.port)).await {
                return Ok(stream);
            }
        }
        Err("connection_failed")
    }
}

#[cfg(test)]
mod tests {
    use super::EmbeddingEndpoint;

    #[test]
    fn an_address_says_where_texts_are_posted_to() {
        for (url, host, port, path) in [
            ("http://127.0.0.1:11434/v1", "127.0.0.1", 11434, "/v1/embeddings"),
            ("https://api.example.com/v1", "api.example.com", 443, "/v1/embeddings"),
            ("http://models", "models", 80, "/embeddings"),
            ("http://[::1]:8080/", "::1", 8080, "/embeddings"),
        ] {
            let endpoint = EmbeddingEndpoint::parse(url).unwrap();
            assert_eq!((&*endpoint.host, endpoint.port, &*endpoint.path), (host, port, path), "{url}");
            assert_eq!(endpoint.https, url.starts_with("https"));
        }
    }

    #[test]
    fn what_is_no_plain_address_is_refused() {
        for url in [
            "",
            "models",
            "/v1",
            "ftp://models/v1",
            "http://",
            "http:///v1",
            "http://me:key@models/v1",
            "http://models/v1?key=x",
            "http://models/#x",
            "http://models:0/",
            "http://models:/",
            "http://models:99999/",
            "http://mod els/",
            "http://models\\x/",
        ] {
            assert_eq!(EmbeddingEndpoint::parse(url), None, "{url}");
        }
    }
}
