//! What the items of a list tell of each other: the lines of a private key, and the argument after a flag.

use super::checks::{has_key_line, is_not_placeholder};
use super::names::{NameHint, hint_after_argument};

/// What is told of each item by the others; `texts` are those items that are texts.
pub(super) fn hints_of_items(texts: &[Option<&str>]) -> Vec<NameHint> {
    let mut told = vec![NameHint::Nothing; texts.len()];
    for (index, text) in texts.iter().enumerate() {
        let Some(text) = text else { continue };
        let next = texts.get(index + 1).copied().flatten();
        if next.is_some_and(|next| !next.starts_with('-') && is_not_placeholder(next)) {
            told[index + 1] = told[index + 1].max(hint_after_argument(text));
        }
        if is_mark(text, "-----BEGIN ") {
            mark_key(&mut told, texts, index + 1..texts.len());
        } else if is_mark(text, "-----END ") {
            mark_key(&mut told, texts, (0..index).rev());
        }
    }
    told
}

fn is_mark(text: &str, start: &str) -> bool {
    text.find(start).is_some_and(|at| text[at..].contains("PRIVATE KEY"))
}

/// Marks the lines of a key from its first or last line on, up to what cannot be one of them.
fn mark_key(told: &mut [NameHint], texts: &[Option<&str>], from: impl Iterator<Item = usize>) {
    let lines: Vec<usize> = from.take_while(|&index| texts[index].is_some_and(is_in_key)).collect();
    if lines.iter().any(|&index| texts[index].is_some_and(has_key_line)) {
        lines.into_iter().for_each(|index| told[index] = NameHint::Secret);
    }
}

/// Whether a line may stand in a key: base64, empty, or a header such as `Proc-Type: 4,ENCRYPTED`.
fn is_in_key(line: &str) -> bool {
    let line = line.trim_start_matches(['+', '-', '>', ' ', '\t']).trim_end();
    let is_header =
        ["Proc-Type:", "DEK-Info:", "Version:", "Comment:"].iter().any(|name| line.starts_with(name));
    is_header || line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
}

#[cfg(test)]
mod tests {
    use crate::exact::parse;
    use crate::redact::{REDACTED, RedactProfile, redact_exact, redact_value};
    use serde_json::{Value, json};

    const LINE: &str = "k3Jx9QpL2mZr7TbV5nHs8YdFk3Jx9QpL2mZr7TbV5nHs8YdF";

    /// Both redactors at once: they must agree.
    fn clean(mut value: Value) -> Value {
        let mut exact = parse(&value.to_string()).unwrap();
        redact_exact(&mut exact, RedactProfile::Secrets, "", &mut |_, _| {});
        redact_value(&mut value, RedactProfile::Secrets);
        let exact: Value = serde_json::from_str(&crate::exact::canonical(&exact)).unwrap();
        assert_eq!(exact, value);
        value
    }

    #[test]
    fn the_lines_of_a_key_go() {
        for prefix in ["", "+", "-", " ", "> "] {
            let begin = format!("{prefix}-----BEGIN RSA PRIVATE KEY-----");
            let end = format!("{prefix}-----END RSA PRIVATE KEY-----");
            let line = format!("{prefix}{LINE}");
            let short = format!("{prefix}a1B2==");
            assert_eq!(
                clean(json!(["a", begin, line, line, short, end, "b"])),
                json!(["a", begin, REDACTED, REDACTED, REDACTED, end, "b"])
            );
            assert_eq!(clean(json!([begin, line, short])), json!([begin, REDACTED, REDACTED]));
            assert_eq!(clean(json!([line, short, end])), json!([REDACTED, REDACTED, end]));
        }
    }

    #[test]
    fn the_argument_after_a_flag_goes() {
        assert_eq!(
            clean(json!(["mysql", "--password", "tea", "--api-key", "k1", "--token", "abcdef", "shop"])),
            json!(["mysql", "--password", REDACTED, "--api-key", REDACTED, "--token", REDACTED, "shop"])
        );
    }

    #[test]
    fn the_value_beside_a_secret_name_goes() {
        assert_eq!(
            clean(json!([
                {"name": "DB_PASSWORD", "value": "tea"}, {"Value": "k", "Key": "apiKey"},
                {"name": "GITHUB_TOKEN", "value": LINE}, {"auths": {"r": {"auth": "YWRhOmh1bnRlcjI="}}},
            ])),
            json!([
                {"name": "DB_PASSWORD", "value": REDACTED}, {"Value": REDACTED, "Key": "apiKey"},
                {"name": "GITHUB_TOKEN", "value": REDACTED}, {"auths": {"r": {"auth": REDACTED}}},
            ])
        );
    }

    #[test]
    fn what_looks_alike_stays() {
        for value in [
            json!(["-----BEGIN PRIVATE KEY-----", "password", "token", "-----END PRIVATE KEY-----"]),
            json!(["-----BEGIN CERTIFICATE-----", LINE, "-----END CERTIFICATE-----"]),
            json!(["-----BEGIN PRIVATE KEY-----", "look for this in the files", LINE]),
            json!(["--password", "--token", "--password-stdin", "stdin", "--no-password", "shop"]),
            json!([
                "--password",
                "$DB_PASSWORD",
                "--max-tokens",
                "4096",
                "--max-token",
                "4096",
                "password",
                "tea"
            ]),
            json!([{"name": "token", "value": "while"}, {"name": "DB_HOST", "value": "db.test"}]),
            json!([{"name": "password", "type": "string", "value": 8}, {"auth": "required"}, {"auth": {"type": "none"}}]),
        ] {
            assert_eq!(clean(value.clone()), value);
        }
    }
}
