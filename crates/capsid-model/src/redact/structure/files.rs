//! Files whose form says which field is the secret.

use super::name_class::NameClass;
use super::secret_value::Writing;
use super::secret_value::is_secret;
use super::{at_most, at_most_before, line_from};
use crate::redact::checks::{has_digit, is_jumbled, is_known_word, is_not_placeholder};
use crate::redact::ranges::Finding;

/// `machine HOST login NAME password X`, in one line or several.
pub(super) fn find_netrc(text: &str, start: usize, end: usize, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let is_word = (start == 0 || !(bytes[start - 1].is_ascii_alphanumeric() || bytes[start - 1] == b'_'))
        && bytes.get(end).is_some_and(u8::is_ascii_whitespace);
    if !is_word {
        return;
    }
    let rest = at_most(text, end, 512);
    let mut words = rest.split_ascii_whitespace();
    let _host = words.next();
    let mut is_netrc = false;
    while let (Some(key), Some(value)) = (words.next(), words.next()) {
        match key {
            "login" | "account" | "port" => is_netrc = true,
            "password" => {
                let value = value.trim_end_matches(['"', '\'', '`']);
                let at = end + (value.as_ptr() as usize - rest.as_ptr() as usize);
                if value.len() >= 3 && is_not_placeholder(value) && (is_netrc || !is_known_word(value)) {
                    found.push(Finding::new(at..at + value.len()));
                }
                is_netrc = true;
            }
            _ => return,
        }
    }
}

/// A line of a cookie file: domain, whether it is for subdomains, path, whether it is secure, expiry, name, value.
pub(super) fn find_cookie(text: &str, tab: usize, found: &mut Vec<Finding>) {
    let before = at_most_before(text, tab, 200);
    let domain = before.rsplit('\n').next().unwrap_or_default();
    let mut start = tab - domain.len();
    let line = line_from(text, start, 4 << 10);
    let fields: Vec<&str> = line.split('\t').collect();
    let is_switch = |field: &str| matches!(field, "TRUE" | "FALSE");
    let &[_, subdomains, path, secure, expiry, _, value] = fields.as_slice() else { return };
    let value = value.trim_end_matches(['"', '\'']);
    let is_cookie = is_switch(subdomains)
        && path.starts_with('/')
        && is_switch(secure)
        && expiry.bytes().all(|byte| byte.is_ascii_digit())
        && domain.contains('.');
    start += line.rfind('\t').map_or(0, |at| at + 1);
    if is_cookie && value.len() >= 6 && (has_digit(value) || is_jumbled(value) || value.len() >= 16) {
        found.push(Finding::new(start..start + value.len()));
    }
}

/// The values below `data:` and `stringData:` of a Kubernetes secret; they stand before or behind its kind. Returns where
/// the document ends.
pub(super) fn find_manifest(text: &str, start: usize, end: usize, found: &mut Vec<Finding>) -> usize {
    if !line_from(text, end, 80).trim().is_empty() {
        return end;
    }
    let before = at_most_before(text, start, 4 << 10);
    let first = before.rfind("\n---").map_or(start - before.len(), |mark| start - before.len() + mark);
    let after = at_most(text, end, 8 << 10);
    let last = end + after.find("\n---").unwrap_or(after.len());
    let mut at = first;
    let mut data: Option<usize> = None;
    for line in text[first..last].split_inclusive('\n') {
        let content = line.trim();
        let indent = line.len() - line.trim_start().len();
        if !content.is_empty() && data.is_some_and(|data| indent <= data) {
            data = None;
        }
        if matches!(content, "data:" | "stringData:") {
            data = Some(indent);
        } else if data.is_some()
            && let Some((name, value)) = content.split_once(':')
        {
            let value = value.trim().trim_matches(['"', '\'']);
            let is_value = value.len() >= 4 && !value.starts_with(['|', '>']) && is_not_placeholder(value);
            if is_value && !name.contains(char::is_whitespace) && !value.contains(' ') {
                let value_at = at + line.rfind(value).unwrap_or_default();
                found.push(Finding {
                    secret: value_at..value_at + value.len(),
                    until: (value_at + value.len()).max(end),
                });
            }
        }
        at += line.len();
    }
    last
}

/// The secret of an address that sets up one-time passwords.
pub(super) fn find_otp(text: &str, end: usize, found: &mut Vec<Finding>) {
    let rest = at_most(text, end, 512);
    let address = rest
        .split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>'))
        .next()
        .unwrap_or_default();
    let Some(at) = address.find("secret=").map(|at| at + "secret=".len()) else { return };
    let length =
        address[at..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'=').count();
    if length >= 8 && is_not_placeholder(&address[at..at + length]) {
        found.push(Finding::new(end + at..end + at + length));
    }
}

/// `user/X@host`
pub(super) fn find_slash_login(text: &str, end: usize, found: &mut Vec<Finding>) {
    let rest = line_from(text, end, 200);
    let Some((login, _)) = rest.split_once('@') else { return };
    let Some((user, secret)) = login.split_once('/') else { return };
    let at = end + user.len() + 1;
    if !user.contains(char::is_whitespace) && is_secret(NameClass::Password, secret, Writing::Bare) {
        found.push(Finding { secret: at..at + secret.len(), until: at + secret.len() + 1 });
    }
}
