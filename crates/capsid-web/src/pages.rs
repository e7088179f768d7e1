//! The files that were built in, and the shell that every page begins with.

use rust_embed::{EmbeddedFile, RustEmbed};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Everything that `npm run build` left in `web/build`.
#[derive(RustEmbed)]
#[folder = "$CAPSID_PAGES"]
struct Built;

/// Who serves the pages. The shell tells them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A hub.
    Hub,
    /// The desk of one person: chains and events of this machine.
    Local,
}

/// The first word of every address that has a page.
const PAGES: [&str; 15] = [
    "",
    "account",
    "admin",
    "assets",
    "bounties",
    "browse",
    "claim",
    "evolution",
    "explorer",
    "login",
    "nodes",
    "reference",
    "register",
    "skill",
    "tasks",
];

/// The same at a desk.
const DESK_PAGES: [&str; 2] = ["evolution", "explorer"];

/// Whether an address has a page, as far as its first word tells.
pub fn is_page(place: Place, path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    match place {
        Place::Hub => PAGES.contains(&first),
        Place::Local => DESK_PAGES.contains(&first),
    }
}

/// A file by its path, if there is one. The shell is not among them: [`shell`] has it.
pub fn file(path: &str) -> Option<EmbeddedFile> {
    let path = path.trim_start_matches('/');
    if path.is_empty() || path.starts_with("index.html") { None } else { Built::get(path) }
}

/// The page that every address begins with.
pub fn shell(place: Place) -> Cow<'static, str> {
    static SHELL: LazyLock<String> = LazyLock::new(|| {
        let file = Built::get("index.html");
        file.map(|file| String::from_utf8_lossy(&file.data).into_owned()).unwrap_or_default()
    });
    match place {
        Place::Hub => Cow::Borrowed(&SHELL),
        Place::Local => Cow::Owned(SHELL.replace(
            r#"<meta name="capsid-place" content="hub" />"#,
            r#"<meta name="capsid-place" content="local" />"#,
        )),
    }
}

/// What the shell allows itself, as it says in its head.
pub fn policy() -> &'static str {
    static POLICY: LazyLock<String> = LazyLock::new(|| {
        let shell = shell(Place::Hub);
        let head = r#"<meta http-equiv="content-security-policy" content=""#;
        let policy = shell.split_once(head).and_then(|(_, rest)| rest.split_once('"'));
        let policy = policy.map_or("default-src 'none'", |(policy, _)| policy);
        format!("{policy}; frame-ancestors 'none'")
    });
    &POLICY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_page_by_its_first_word() {
        for path in ["/", "/browse", "/assets/sha256:00", "/account/keys"] {
            assert!(is_page(Place::Hub, path), "{path}");
        }
        for path in ["/wp-login.php", "/brows", "/_app/version.json"] {
            assert!(!is_page(Place::Hub, path), "{path}");
        }
        assert!(is_page(Place::Local, "/explorer") && !is_page(Place::Local, "/browse"));
    }

    #[test]
    fn the_shell_knows_its_place_and_may_do_little() {
        assert!(shell(Place::Hub).contains(r#"content="hub""#));
        assert!(shell(Place::Local).contains(r#"content="local""#));
        assert!(policy().starts_with("default-src 'none'") && policy().ends_with("frame-ancestors 'none'"));
        assert!(!policy().contains("unsafe-inline") && !policy().contains("http"));
        assert!(file("index.html").is_none());
    }
}
