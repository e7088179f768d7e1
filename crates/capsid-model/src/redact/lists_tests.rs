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
