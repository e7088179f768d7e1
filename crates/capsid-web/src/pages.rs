//! The files that were built in, and the shell that every page begins with.

use rust_embed::{EmbeddedFile, RustEmbed};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Everything that `npm run build` left in `web/build`, as `build.rs` found it.
#[derive(RustEmbed)]
#[cfg_attr(has_pages, folder = "../../web/build")]
#[cfg_attr(not(has_pages), folder = "unbuilt")]
struct BuiltPages;

/// The licences of everything in the program, where `scripts/third-party` wrote them. Otherwise the pages have their own.
#[derive(RustEmbed)]
#[folder = "notices"]
struct Notices;

/// Whether the pages are in this build.
pub const HAS_PAGES: bool = cfg!(has_pages);

const LICENSES: &str = "LICENSES.txt";
const SHELL: &str = "index.html";
const SINGLE: &str = "single/";

/// Who serves the pages. The shell reports it to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageHost {
    Hub,
    /// The local viewer of one person: chains and events of this machine.
    Local,
}

/// The first word of every address that has a page.
const PAGES: [&str; 17] = [
    "",
    "account",
    "admin",
    "assets",
    "bounties",
    "browse",
    "claim",
    "evolution",
    "explorer",
    "graph",
    "login",
    "nodes",
    "reference",
    "register",
    "skill",
    "tasks",
    "welcome",
];

/// The same for the local viewer.
const DESK_PAGES: [&str; 2] = ["evolution", "explorer"];

/// Whether an address has a page, decided by its first segment.
pub fn is_page(host: PageHost, path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    match host {
        PageHost::Hub => PAGES.contains(&first),
        PageHost::Local => DESK_PAGES.contains(&first),
    }
}

/// Whether an address belongs to files, so that it cannot be a page.
pub fn is_for_files(path: &str) -> bool {
    path.starts_with("/_app/")
}

/// Where the file of an address is stored. A document has an address without an ending.
pub fn stored_path(path: &str) -> Option<Cow<'_, str>> {
    let path = path.strip_prefix('/')?;
    let is_below_docs = path.starts_with("docs/");
    Some(match path.trim_end_matches('/') {
        "docs" => Cow::Borrowed("docs/index.html"),
        document if is_below_docs && !document.contains('.') => Cow::Owned(format!("{document}.html")),
        _ => Cow::Borrowed(path),
    })
}

/// A file by its path, if there is one. The shell is not among them, nor what goes into a page on disk, nor the
/// compressed forms by themselves.
pub fn file(path: &str) -> Option<EmbeddedFile> {
    let path = stored_path(path)?;
    let path = path.as_ref();
    let is_packed = path.ends_with(".br") || path.ends_with(".gz");
    let is_kept_back = path == SHELL || path.starts_with(SINGLE) || path.starts_with('.') || is_packed;
    if is_kept_back { None } else { notices(path).or_else(|| BuiltPages::get(path)) }
}

fn notices(path: &str) -> Option<EmbeddedFile> {
    if path == LICENSES { Notices::get(path) } else { None }
}

/// The compressed form of a file: its path, and what follows the name of such a form.
pub fn packed(path: &str, ending: &str) -> Option<EmbeddedFile> {
    let path = stored_path(path)?;
    let compressed = format!("{path}{ending}");
    match notices(&path) {
        Some(_) => Notices::get(&compressed),
        None => BuiltPages::get(&compressed),
    }
}

/// The script and the style sheet of the Explorer for a page on disk. Without them the program was built without pages.
pub fn single() -> Option<(String, String)> {
    let text = |name: &str| {
        let file = BuiltPages::get(&format!("{SINGLE}{name}"))?;
        String::from_utf8(file.data.into_owned()).ok()
    };
    Some((text("explorer.js")?, text("explorer.css")?))
}

/// The page that every address begins with.
pub fn shell(host: PageHost) -> Cow<'static, str> {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let file = BuiltPages::get(SHELL);
        file.map(|file| String::from_utf8_lossy(&file.data).into_owned()).unwrap_or_default()
    });
    match host {
        PageHost::Hub => Cow::Borrowed(&TEXT),
        PageHost::Local => Cow::Owned(TEXT.replace(
            r#"<meta name="capsid-place" content="hub" />"#,
            r#"<meta name="capsid-place" content="local" />"#,
        )),
    }
}

/// The content security policy of the shell, as in its head.
pub fn policy() -> &'static str {
    static POLICY: LazyLock<String> = LazyLock::new(|| {
        let shell = shell(PageHost::Hub);
        let head = r#"<meta http-equiv="content-security-policy" content=""#;
        let policy = shell.split_once(head).and_then(|(_, rest)| rest.split_once('"'));
        let policy = policy.map_or("default-src 'none'", |(policy, _)| policy);
        format!("{policy}; frame-ancestors 'none'")
    });
    &POLICY
}

/// A document has a style sheet and pictures, and runs nothing.
const DOCS_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
                           frame-ancestors 'none'";

/// The policy of a file. A worker obeys the policy of its own script, not that of the page that started it, and the
/// Explorer's worker alone may compile the verifier.
pub fn file_policy(path: &str) -> &'static str {
    static WORKER: LazyLock<String> =
        LazyLock::new(|| policy().replacen("script-src ", "script-src 'wasm-unsafe-eval' ", 1));
    if path.starts_with("/_app/immutable/workers/") {
        &WORKER
    } else if path == "/docs" || path.starts_with("/docs/") {
        DOCS_POLICY
    } else {
        policy()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_page_by_its_first_word() {
        for path in ["/", "/browse", "/assets/sha256:00", "/account/keys"] {
            assert!(is_page(PageHost::Hub, path), "{path}");
        }
        for path in ["/wp-login.php", "/brows", "/_app/version.json"] {
            assert!(!is_page(PageHost::Hub, path), "{path}");
        }
        assert!(is_page(PageHost::Local, "/explorer") && !is_page(PageHost::Local, "/browse"));
    }

    #[test]
    fn the_pages_are_the_folders_of_their_sources() {
        let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/routes");
        let mut folders: Vec<String> = std::fs::read_dir(sources)
            .unwrap()
            .map(Result::unwrap)
            .filter(|entry| entry.file_type().unwrap().is_dir())
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        folders.push(String::new());
        folders.sort();
        assert_eq!(folders, PAGES);
        assert!(DESK_PAGES.iter().all(|page| PAGES.contains(page)));
    }

    #[test]
    fn the_shell_knows_its_place_and_may_do_little() {
        assert!(shell(PageHost::Hub).contains(r#"content="hub""#));
        assert!(shell(PageHost::Local).contains(r#"content="local""#));
        assert!(policy().starts_with("default-src 'none'") && policy().ends_with("frame-ancestors 'none'"));
        assert!(!policy().contains("unsafe-inline") && !policy().contains("http"));
    }

    #[test]
    fn only_a_worker_may_compile_the_verifier() {
        assert!(
            file_policy("/_app/immutable/workers/worker-a.js").contains("script-src 'wasm-unsafe-eval' ")
        );
        for path in ["/_app/immutable/entry/start-a.js", "/favicon.svg"] {
            assert_eq!(file_policy(path), policy());
        }
        assert!(!policy().contains("wasm-unsafe-eval"));
    }

    #[test]
    fn a_document_is_found_without_an_ending_and_runs_nothing() {
        for path in ["/docs", "/docs/", "/docs/start/tour", "/docs/reference/cli", "/docs/docs.css"] {
            let file = file(path).unwrap_or_else(|| panic!("{path}: run `make web` first"));
            assert!(!String::from_utf8_lossy(&file.data).contains("<script"), "{path}");
            assert!(file_policy(path).starts_with("default-src 'none'; style-src 'self'; "), "{path}");
            assert!(packed(path, ".br").is_some(), "{path}");
        }
        for path in ["/docs/nothing", "/docs/../Cargo", "/docsy", "/docs/start"] {
            assert!(file(path).is_none(), "{path}");
        }
        assert!(!file_policy("/docs").contains("script-src"));
    }

    #[test]
    fn only_files_are_served_by_their_path() {
        for path in [
            "index.html",
            "/index.html",
            "/index.html.br",
            "/single/explorer.js",
            "/favicon.svg.gz",
            "/.sources",
            "/",
            "",
        ] {
            assert!(file(path).is_none(), "{path}");
        }
        for path in
            ["/../Cargo.toml", "//favicon.svg", "/_app/../index.html", "/./favicon.svg", "/%2e%2e/Cargo.toml"]
        {
            assert!(file(path).is_none(), "{path}");
        }
        for path in ["/favicon.svg", "/LICENSES.txt"] {
            assert!(file(path).is_some(), "{path}: run `make web` first");
        }
    }
}
