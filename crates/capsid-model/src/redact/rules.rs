//! The shapes that are looked for.

use super::REDACTED;
use super::checks::*;
use regex::Captures;

/// One shape. A group named `keep` stays in front of what is taken out, one named `end` behind it. The check sees the
/// group named `value`, else the whole match.
pub(super) struct Rule {
    pub(super) pattern: &'static str,
    check: fn(&str) -> bool,
    may_follow: fn(&str) -> bool,
}

impl Rule {
    const fn new(pattern: &'static str, check: fn(&str) -> bool) -> Self {
        Self { pattern, check, may_follow: always }
    }

    /// Only where this holds for the text after the match. Unlike a pattern it does not use that text up.
    const fn before(mut self, may_follow: fn(&str) -> bool) -> Self {
        self.may_follow = may_follow;
        self
    }

    pub(super) fn replace(&self, text: &str, found: &Captures<'_>, taken: &mut dyn FnMut(&str)) -> String {
        let whole = found.get_match();
        let group = |name| found.name(name).map_or("", |part| part.as_str());
        let value = found.name("value").map_or(whole.as_str(), |v| v.as_str());
        if (self.check)(value) && (self.may_follow)(&text[whole.end()..]) {
            let (keep, end) = (group("keep"), group("end"));
            taken(&whole.as_str()[keep.len()..whole.len() - end.len()]);
            format!("{keep}{REDACTED}{end}")
        } else {
            whole.as_str().to_owned()
        }
    }
}

/// A name that announces a secret, up to and with the sign before the value; quotes may be escaped once.
macro_rules! named {
    ($names:literal, $value:literal) => {
        concat!(
            r#"(?i)(?P<keep>(?-u:\b)(?:[a-z0-9]+[_.-])*[a-z0-9]*?(?:"#,
            $names,
            r#")(?:\\?["'`])?[ \t]*(?::|=>|=)[ \t]*(?:\\?["'`])?)(?P<value>"#,
            $value,
            ")"
        )
    };
}

/// Credentials. Order matters where one shape lies inside another: whole blocks first.
pub(super) const SECRETS: &[Rule] = &[
    Rule::new(
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9+/=\s\\:,.()_-]*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
        |block| block.len() > 100,
    ),
    // a block whose other end was cut off
    Rule::new(
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr])*[A-Za-z0-9+/=]{30,}[A-Za-z0-9+/=\s\\]*",
        always,
    ),
    Rule::new(
        r"(?:[A-Za-z0-9+/=]{16,}(?:\s|\\[nr])+)+-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
        always,
    ),
    // user:password in an address
    Rule::new(
        r#"(?P<keep>(?-u:\b)[A-Za-z][A-Za-z0-9+.-]*://)[^\s/@:"'<>]*:(?P<value>[^\s/@"'<>]+)(?P<end>@)"#,
        is_not_placeholder,
    ),
    Rule::new(
        r#"(?i)(?P<keep>(?-u:\b)(?:proxy-)?authorization(?:\\?["'`])?[ \t]*[:=][ \t]*(?:\\?["'`])?(?:(?:basic|bearer|token|digest|apikey)[ \t]+)?)(?P<value>[a-z0-9._~+/=-]{8,})"#,
        |value| is_not_placeholder(value) && !value.eq_ignore_ascii_case("required"),
    ),
    Rule::new(
        r"(?P<keep>(?-u:\b)[Bb](?:earer|EARER)[ \t]+)(?P<value>[A-Za-z0-9._~+/=-]{8,})",
        |value| is_not_placeholder(value) && (has_digit(value) || is_jumbled(value)),
    ),
    Rule::new(
        r#"(?i)(?P<keep>(?-u:\b)(?:set-)?cookie(?:\\?["'`])?[ \t]*:[ \t]*(?:\\?["'`])?)(?P<value>[^\s=;,"']+=[^"'\r\n\\]{8,})"#,
        has_digit,
    ),
    // tokens whose maker's mark no word has
    Rule::new(
        concat!(
            r"(?-u:\b)(?:(?:AKIA|ASIA)[A-Z0-9]{16}(?-u:\b)|sk-(?:ant|proj)-[A-Za-z0-9_-]{20,}|gh[opusr]_[A-Za-z0-9]{36,}",
            r"|github_pat_[A-Za-z0-9_]{22,}|npm_[A-Za-z0-9]{36,}|xox[abeoprs]-[A-Za-z0-9-]{10,}|glpat-[A-Za-z0-9_-]{20,})",
        ),
        always,
    ),
    // tokens whose mark a name may have too; a name seldom holds a digit
    Rule::new(
        concat!(
            r"(?-u:\b)(?:sk-(?:proj|ant|or|svcacct|admin|live|test)[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9]{20,}",
            r"|gl(?:dt|rt|ptt|soat|cbt)-[A-Za-z0-9_-]{20,}|(?:AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}(?-u:\b)|pypi-[A-Za-z0-9_-]{32,}",
            r"|xapp-[0-9]-[A-Za-z0-9-]{20,}|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}",
            r"|GOCSPX-[A-Za-z0-9_-]{20,}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{20,}",
            r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|SK[0-9a-f]{32}(?-u:\b)|hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}",
            r"|do[opr]_v1_[a-f0-9]{64}|dckr_pat_[A-Za-z0-9_-]{20,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|hv[sbr]\.[A-Za-z0-9_-]{24,}",
            r"|lin_api_[A-Za-z0-9]{32,}|figd_[A-Za-z0-9_-]{32,}|xai-[A-Za-z0-9]{40,}|nvapi-[A-Za-z0-9_-]{40,}|r8_[A-Za-z0-9]{36,}",
            r"|glsa_[A-Za-z0-9_]{32,}|PMAK-[A-Za-z0-9-]{40,}|AGE-SECRET-KEY-1[A-Z0-9]{50,}|sq0(?:atp|csp)-[A-Za-z0-9_-]{22,}",
            r"|EAAC[A-Za-z0-9]{40,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{33})",
        ),
        has_digit,
    ),
    Rule::new(
        r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?",
        always,
    ),
    Rule::new(
        r"(?-u:\b)[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}",
        |token| has_digit(token) && is_jumbled(token),
    ),
    Rule::new(
        r"(?P<keep>hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/)[A-Za-z0-9_/-]{20,}",
        always,
    ),
    // a name, a sign, a value
    Rule::new(
        named!(
            r"api[ _-]?key|access[_-]?key|secret[_-]?access[_-]?key|account[_-]?key|shared[_-]?access[_-]?key|instrumentation[_-]?key|encryption[_-]?key|signing[_-]?key|master[_-]?key|private[_-]?key|secret[_-]?key(?:[_-]?base)?|client[_-]?secret|secret|token|credentials?",
            r#"[^\s"'`,;&<>(){}\[\]|\\]{16,}"#
        ),
        |value| is_not_placeholder(value) && is_random(value),
    )
    .before(is_not_code),
    Rule::new(
        named!(
            r"password|passwd|passphrase|pwd",
            r#"[^\s"'`,;&<>(){}\[\]|\\]{6,}"#
        ),
        |value| is_not_placeholder(value) && is_password(value),
    )
    .before(is_not_code),
    Rule::new(
        r#"(?i)(?P<keep>--(?:[a-z0-9]+-)*(?:token|api-?key|secret|secret-key|access-key|password|passphrase)[ =]["']?)(?P<value>[^\s"'<>]{6,})"#,
        |value| is_not_placeholder(value) && has_digit(value),
    ),
    Rule::new(
        r#"(?P<keep>(?-u:\b)curl (?:[^\n]*? )?(?:-u|--user)[ =]["']?[^\s:"']+:)(?P<value>[^\s"']+)"#,
        |value| is_not_placeholder(value) && !value.starts_with("//"),
    ),
    Rule::new(
        r"(?P<keep>(?-u:\b)login[ \t]+[^\s]+[ \t]+password[ \t]+)(?P<value>[^\s]+)",
        is_not_placeholder,
    ),
    Rule::new(
        r#"(?i)(?P<keep>[?&](?:key|sig|signature|auth|x-amz-signature|x-amz-credential|x-goog-signature)=)(?P<value>[^\s&#"'<>]{16,})"#,
        is_random,
    ),
];

/// What names a person or a machine.
pub(super) const PERSONAL: &[Rule] = &[
    Rule::new(
        r#"(?P<keep>^|[\s"'`(=:,\[{<>|])(?P<value>(?:file://)?/(?:home|Users|root|srv|tmp|var/folders|private/tmp|mnt/[a-z]/Users)/[^\s"',;)}\]]*)"#,
        is_private_path,
    ),
    Rule::new(r#"(?P<keep>^|[\s"'`(=:,\[{<>|])(?P<value>/root)"#, always).before(ends_token),
    Rule::new(r#"(?P<keep>^|[\s"'`(=,\[{<>|])(?P<value>[A-Za-z]:\\[^\s"',;)}\]]+)"#, always),
    Rule::new(
        r"(?-u:\b)[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}(?-u:\b)",
        is_personal_address,
    ),
    Rule::new(r"(?P<keep>^|[^A-Za-z0-9_.-])(?P<value>[0-9]{1,3}(?:\.[0-9]{1,3}){3})", is_telling_ip)
        .before(ends_token),
    Rule::new(
        r"(?P<keep>^|[^A-Za-z0-9_:.-])(?P<value>[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){3,7})",
        |address| has_digit(address) && is_telling_ip(address),
    )
    .before(ends_token),
    Rule::new(
        r"(?i)(?-u:\b)(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:internal|intra|intranet|corp|lan|local|localdomain)(?-u:\b)",
        |host| !host.eq_ignore_ascii_case("metadata.google.internal"),
    ),
    Rule::new(r#"(?P<keep>^|[\s"'`(=/])(?P<value>\.env\.[a-z]+)(?-u:\b)"#, |name| {
        !matches!(name, ".env.example" | ".env.sample" | ".env.template")
    }),
    Rule::new(r#"(?P<keep>[A-Za-z0-9_.~-]/)(?P<value>\.env)"#, always).before(ends_token),
];
