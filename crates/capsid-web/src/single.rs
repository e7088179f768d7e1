//! The Explorer and a bundle in one page that works from disk, where a browser loads nothing else.

use crate::pages;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capsid_model::{Code, Problem, Result};
use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// The start of every such page, which distinguishes it from other files.
pub const BEGIN: &str = "<!doctype html>\n<!-- capsid trail export -->\n";

/// The parts of the page that do not depend on the chains.
#[derive(Debug)]
pub struct SinglePage {
    script: String,
    style: String,
}

impl SinglePage {
    /// The page as it was built into the program.
    pub fn built_in() -> Result<Self> {
        let (script, style) = pages::single().ok_or_else(|| {
            Problem::new(Code::PagesMissing, "This program was built without its pages.")
                .fix("Build it with `make up`, or export a folder with --out.")
        })?;
        Ok(Self { script: safe_script(&script), style: style.replace("</", "<\\/") })
    }

    /// The text before the files.
    pub fn head(&self) -> String {
        let policy = [
            "default-src 'none'",
            // The page runs the program's own verifier, as a module.
            &format!("script-src '{}' 'wasm-unsafe-eval'", hash(&self.script)),
            &format!("style-src '{}'", hash(&self.style)),
            "img-src data:",
            "worker-src blob:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
        .join("; ");
        format!(
            "{BEGIN}<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"content-security-policy\" content=\"{policy}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta name=\"capsid-place\" content=\"file\">\n\
             <link rel=\"icon\" href=\"data:,\">\n<title>Explorer · Capsid</title>\n\
             <style>{}</style>\n</head>\n<body>\n",
            self.style
        )
    }

    /// The text before a file's content. A name has letters, digits, `-`, `_` and `.`; others are left out.
    pub fn before_file(name: &str) -> String {
        let plain: String = name.chars().filter(|c| c.is_alphanumeric() || "-_.".contains(*c)).collect();
        format!("<script type=\"application/json\" data-file=\"{plain}\">")
    }

    /// The text after a file's content.
    pub const AFTER_FILE: &'static str = "</script>\n";

    /// The text after the files. The script comes last, because it runs at once.
    pub fn foot(&self) -> String {
        format!("<script>{}</script>\n</body>\n</html>\n", self.script)
    }
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// A script in which nothing ends its element. These marks occur only in its strings and patterns,
/// where both forms mean the same.
fn safe_script(script: &str) -> String {
    let mut safe = script.to_owned();
    for mark in ["</script", "<script", "<!--"] {
        safe = safe.replace(mark, &mark.replacen('<', "\\x3c", 1));
    }
    safe
}

/// Writes JSON without the characters that could end its element. In JSON these occur only in strings, where
/// their escapes mean the same.
#[derive(Debug)]
pub struct EscapedJson<W: Write> {
    out: W,
    /// The beginning of a character whose rest is still to come.
    held: Vec<u8>,
}

impl<W: Write> EscapedJson<W> {
    /// Passes on to `out`.
    pub fn new(out: W) -> Self {
        Self { out, held: Vec::new() }
    }

    fn put(&mut self, byte: u8) -> io::Result<()> {
        self.held.push(byte);
        match self.held.as_slice() {
            [0xe2] | [0xe2, 0x80] => return Ok(()),
            b"<" => self.out.write_all(b"\\u003c")?,
            [0xe2, 0x80, 0xa8] => self.out.write_all(b"\\u2028")?,
            [0xe2, 0x80, 0xa9] => self.out.write_all(b"\\u2029")?,
            other => self.out.write_all(other)?,
        }
        self.held.clear();
        Ok(())
    }
}

impl<W: Write> Write for EscapedJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            let plain = rest.iter().take_while(|byte| !matches!(byte, b'<' | 0xe2)).count();
            if self.held.is_empty() && plain > 0 {
                self.out.write_all(&rest[..plain])?;
                rest = &rest[plain..];
            } else {
                self.put(first)?;
                rest = &rest[1..];
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&std::mem::take(&mut self.held))?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(pieces: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut escaped = EscapedJson::new(&mut out);
        pieces.iter().for_each(|piece| escaped.write_all(piece).unwrap());
        escaped.flush().unwrap();
        drop(escaped);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn no_text_ends_the_element_around_it_and_all_of_it_stays() {
        let text = "{\"a\":\"</script><!-- \u{2028}\u{2029} — ü 🍐 <\"}";
        let complete = escaped(&[text.as_bytes()]);
        assert!(!complete.contains('<') && !complete.contains(['\u{2028}', '\u{2029}']), "{complete}");
        let read = |text: &str| capsid_model::exact::parse(text).unwrap();
        assert_eq!(read(&complete), read(text));
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(escaped(&bytes), complete, "also when it comes a byte at a time");
    }

    #[test]
    fn a_script_that_speaks_of_scripts_stays_whole() {
        let safe = safe_script("f(`<!----><script></script>`); a < b");
        assert_eq!(safe, "f(`\\x3c!---->\\x3cscript>\\x3c/script>`); a < b");
    }

    #[test]
    fn the_page_allows_its_own_script_and_style_alone() {
        let page = SinglePage { script: "go()".to_owned(), style: "p{}".to_owned() };
        let head = page.head();
        assert!(head.starts_with(BEGIN));
        let script = format!("script-src '{}'", hash("go()"));
        assert!(head.contains("default-src 'none'") && head.contains(&script), "{head}");
        let unsafe_words = head.replace("'wasm-unsafe-eval'", "");
        assert!(!unsafe_words.contains("unsafe"), "{head}");
        assert!(!head.contains("http:") && !head.contains("https:"), "{head}");
        assert!(page.foot().contains("<script>go()</script>"));
        assert_eq!(
            SinglePage::before_file("a\"><b.json"),
            "<script type=\"application/json\" data-file=\"ab.json\">"
        );
    }
}
