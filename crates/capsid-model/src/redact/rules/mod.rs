//! The shapes that are looked for.

use super::REDACTED;
use super::checks::*;
use regex::Captures;
use std::ops::Range;

/// One shape. A group named `keep` stays in front of what is taken out, one named `end` behind it. The check sees the
/// group named `value`, else the whole match.
pub(super) struct RedactRule {
    pub(super) pattern: &'static str,
    check: fn(&str) -> bool,
    may_follow: fn(&str) -> bool,
}

impl RedactRule {
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
        let Some(secret) = self.secret(text, found) else { return whole.as_str().to_owned() };
        taken(&text[secret.clone()]);
        format!("{}{REDACTED}{}", &text[whole.start()..secret.start], &text[secret.end..whole.end()])
    }

    /// Where in the text the secret of a match lies, if it is one.
    pub(super) fn secret(&self, text: &str, found: &Captures<'_>) -> Option<Range<usize>> {
        let whole = found.get_match();
        let length = |name| found.name(name).map_or(0, |part| part.len());
        let value = found.name("value").map_or(whole.as_str(), |v| v.as_str());
        let is_secret = (self.check)(value) && (self.may_follow)(&text[whole.end()..]);
        is_secret.then(|| whole.start() + length("keep")..whole.end() - length("end"))
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

/// The same with the value between quotes, which may hold spaces and signs.
macro_rules! named_quoted {
    ($names:literal, $quote:literal, $value:literal) => {
        concat!(
            r#"(?i)(?P<keep>(?-u:\b)(?:[a-z0-9]+[_.-])*[a-z0-9]*?(?:"#,
            $names,
            r#")(?:\\?["'`])?\]?[ \t]*(?::=|:|=>|=)[ \t]*(?:\\?"#,
            $quote,
            r#"\\?"#,
            $quote,
            r#"\\?"#,
            $quote,
            r#"(?:\r?\n|\\n)?|\\?"#,
            $quote,
            r#"))(?P<value>(?:[^\\\r\n"#,
            $quote,
            r#"]|\\[^\r\n"#,
            $quote,
            "]){",
            $value,
            r#"})(?P<end>(?:\r?\n|\\n)?\\?"#,
            $quote,
            ")"
        )
    };
}

/// The same with the value on the next line, after `sign`.
macro_rules! named_above {
    ($sign:literal, $value:literal) => {
        concat!(
            r#"(?i)(?P<keep>(?-u:\b)(?:[a-z0-9]+[_.-])*[a-z0-9]*?(?:"#,
            "api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|secret|token|credentials?",
            r#"|password|passwd|passphrase|pwd)(?:\\?["'`])?[ \t]*"#,
            $sign,
            r#"[ \t]*(?:\r?\n|\\n)"#,
            line_start!(),
            r#"(?:\\?["'`])?)(?P<value>"#,
            $value,
            ")"
        )
    };
}

/// What may stand before the text of a line: its number, the name of a service, the sign of a diff or a quotation.
macro_rules! line_start {
    () => {
        r"[ \t]*(?:[0-9]{1,7}[ \t]*[→|:\t]|[A-Za-z0-9_.-]{1,40}[ \t]*\||[>+#*-])?[ \t]*"
    };
}

/// What may stand between two lines, also where they were put in a string or in one line.
macro_rules! line_end {
    () => {
        r#"(?:[\s"',;]|\\[nrt])+"#
    };
}

/// The first or the last line of a private key.
macro_rules! key_mark {
    ($which:literal) => {
        concat!("-----", $which, " [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
    };
}

mod commands;
mod settings;

/// Credentials. Order matters where one shape lies inside another: whole blocks first.
pub(super) const SECRETS: &[&[RedactRule]] = &[SHAPES, settings::SETTINGS, commands::COMMANDS];

const SHAPES: &[RedactRule] = &[
    RedactRule::new(
        concat!(key_mark!("BEGIN"), r#"[A-Za-z0-9+/=\s\\:,.()_|>→"'`#*;\[\]-]*?"#, key_mark!("END")),
        |block| block.len() > 100 && has_key_line(block),
    ),
    // a block whose other end was cut off
    RedactRule::new(
        concat!(
            key_mark!("BEGIN"),
            r"(?:(?s:.){0,48}?[A-Za-z0-9+/=]{30,})+(?:",
            line_end!(),
            line_start!(),
            r"[A-Za-z0-9+/=]{1,29})?[A-Za-z0-9+/=\s\\]*"
        ),
        has_key_line,
    ),
    RedactRule::new(
        concat!(
            r"(?:[A-Za-z0-9+/=]{16,}",
            line_end!(),
            line_start!(),
            r")+(?:[A-Za-z0-9+/=]{1,15}",
            line_end!(),
            line_start!(),
            ")?",
            key_mark!("END")
        ),
        always,
    ),
    RedactRule::new(
        concat!(
            r"(?P<keep>Private-Lines:[ \t]*[0-9]+)(?:",
            line_end!(),
            line_start!(),
            r"[A-Za-z0-9+/=]{20,})+(?:",
            line_end!(),
            line_start!(),
            r#"[A-Za-z0-9+/=]{1,19}(?P<end>[\s"'\\]|$))?"#
        ),
        has_key_line,
    ),
    // user:password in an address
    RedactRule::new(
        r#"(?P<keep>(?-u:\b)[A-Za-z][A-Za-z0-9+.-]*://)[^\s/@:"'<>]*:(?P<value>[^\s/"'<>]+)(?P<end>@)"#,
        is_not_placeholder,
    ),
    // a token alone in the place of the user
    RedactRule::new(
        r"(?P<keep>(?-u:\b)[A-Za-z][A-Za-z0-9+.-]*://)(?P<value>[A-Za-z0-9_.-]{20,})(?P<end>:?@)",
        |value| is_not_placeholder(value) && has_random_part(value),
    ),
    RedactRule::new(
        r#"(?i)(?P<keep>(?-u:\b)(?:proxy-)?authorization(?:\\?["'`])?[ \t]*[:=][ \t]*(?:\\?["'`])?(?:(?:basic|bearer|token|digest|apikey|ssws)[ \t]+)?)(?P<value>[a-z0-9._~+/=-]{8,})"#,
        |value| is_not_placeholder(value) && !value.eq_ignore_ascii_case("required"),
    ),
    RedactRule::new(
        r"(?P<keep>(?-u:\b)[Bb](?:earer|EARER)[ \t]+)(?P<value>[A-Za-z0-9._~+/=-]{8,})",
        |value| is_not_placeholder(value) && (has_digit(value) || is_jumbled(value)),
    ),
    RedactRule::new(
        r#"(?i)(?P<keep>(?-u:\b)(?:set-)?cookie(?:\\?["'`])?[ \t]*:[ \t]*(?:\\?["'`])?)(?P<value>[^\s=;,"']+=[^"'\r\n\\]{8,})"#,
        has_digit,
    ),
    // tokens whose maker's mark no word has
    RedactRule::new(
        concat!(
            r"(?-u:\b)(?:(?:AKIA|ASIA)[A-Z0-9]{16}(?-u:\b)|sk-(?:ant|proj)-[A-Za-z0-9_-]{20,}|gh[opusr]_[A-Za-z0-9]{36,}",
            r"|github_pat_[A-Za-z0-9_]{22,}|npm_[A-Za-z0-9]{36,}|xox[abeoprs]-[A-Za-z0-9-]{10,}|glpat-[A-Za-z0-9_-]{20,}",
            r"|NRAK-[A-Z0-9]{27}(?-u:\b)|AGE-SECRET-KEY-1[A-Z0-9]{50,})",
        ),
        always,
    ),
    // tokens whose mark a name may have too; a name seldom holds a digit
    RedactRule::new(
        concat!(
            r"(?-u:\b)(?:sk-(?:proj|ant|or|svcacct|admin|live|test)[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9]{20,}",
            r"|gl(?:dt|rt|ptt|soat|cbt)-[A-Za-z0-9_-]{20,}|(?:AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}(?-u:\b)|pypi-[A-Za-z0-9_-]{32,}",
            r"|xapp-[0-9]-[A-Za-z0-9-]{20,}|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}",
            r"|GOCSPX-[A-Za-z0-9_-]{20,}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{20,}",
            r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|SK[0-9a-f]{32}(?-u:\b)|hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}",
            r"|do[opr]_v1_[a-f0-9]{64}|dckr_pat_[A-Za-z0-9_-]{20,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|hv[sbr]\.[A-Za-z0-9_-]{24,}",
            r"|lin_api_[A-Za-z0-9]{32,}|figd_[A-Za-z0-9_-]{32,}|xai-[A-Za-z0-9]{40,}|nvapi-[A-Za-z0-9_-]{40,}|r8_[A-Za-z0-9]{36,}",
            r"|glsa_[A-Za-z0-9_]{32,}|PMAK-[A-Za-z0-9-]{40,}|sq0(?:atp|csp)-[A-Za-z0-9_-]{22,}",
            r"|AT[AC]TT3[A-Za-z0-9_=-]{24,}|sntry[su]_[A-Za-z0-9+/=_-]{24,}|sbp_[a-f0-9]{40}|tskey-[a-z]{3,8}-[A-Za-z0-9-]{16,}",
            r"|rubygems_[a-f0-9]{40,}|pplx-[A-Za-z0-9]{40,}|EAAC[A-Za-z0-9]{40,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",
            r"|dapi[a-f0-9]{32}(?-u:\b)|ntn_[A-Za-z0-9]{40,}|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}",
            r"|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{50,}|dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}",
            r"|pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,}|dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,}",
            r"|fm[12][ar]?_[A-Za-z0-9+/=_-]{40,}|(?:sdk|mob)-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",
            r"|sess_[a-f0-9]{48,}|ek_[a-f0-9]{48}(?-u:\b)|nfp_[A-Za-z0-9]{36,}|secret_[A-Za-z0-9]{43}(?-u:\b))",
        ),
        has_digit,
    ),
    RedactRule::new(r"(?P<keep>^|[^A-Za-z0-9_-])key-[0-9a-f]{32}(?-u:\b)", has_digit),
    RedactRule::new(
        r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?",
        always,
    ),
    RedactRule::new(
        r"(?-u:\b)[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}",
        is_three_part_token,
    ),
    RedactRule::new(
        r"(?P<keep>hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/)[A-Za-z0-9_/-]{20,}",
        always,
    ),
    // hashes of passwords: they can be guessed
    RedactRule::new(
        concat!(
            r"\$(?:\$)?(?:2[abxy]?\$(?:\$)?[0-9]{2}\$(?:\$)?[./A-Za-z0-9]{53}|(?:1|apr1)\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}",
            r"|[56]\$(?:rounds=[0-9]+\$)?[./A-Za-z0-9]{1,16}\$(?:[./A-Za-z0-9]{86}|[./A-Za-z0-9]{43})",
            r"|(?:y|7|gy)\$[./A-Za-z0-9]{1,90}\$[./A-Za-z0-9]{1,86}(?:\$[./A-Za-z0-9]{43})?",
            r"|argon2(?:id|i|d)\$(?:v=[0-9]+\$)?[a-z0-9=,]+\$[A-Za-z0-9+/=]{8,}\$[A-Za-z0-9+/=]{16,}",
            r"|scrypt\$[a-z0-9=,]+\$[A-Za-z0-9+/=.]{8,}\$[A-Za-z0-9+/=.]{16,}|[PH]\$[./A-Za-z0-9]{31}(?-u:\b))",
        ),
        has_digit,
    ),
    RedactRule::new(
        concat!(
            r"(?-u:\b)(?:pbkdf2(?:_|:|-)sha[0-9]+[$:][0-9]+\$[^\s$]{4,64}\$[A-Za-z0-9+/=]{24,}",
            r"|scrypt:[0-9]+:[0-9]+:[0-9]+\$[A-Za-z0-9]{8,}\$[0-9a-f]{64,}",
            r"|SCRAM-SHA-(?:1|256|512)\$[0-9]+:[A-Za-z0-9+/=]{8,}\$[A-Za-z0-9+/=]{24,}:[A-Za-z0-9+/=]{24,})",
        ),
        has_digit,
    ),
    RedactRule::new(r"(?P<keep>\{(?:S?SHA(?:256|384|512)?|S?MD5)\})(?P<value>[A-Za-z0-9+/]{20,}={0,2})", always),
    RedactRule::new(r"(?P<keep>^|[\s'\x22|=:,])(?P<value>\*[0-9A-F]{40})(?-u:\b)", has_digit),
    RedactRule::new(
        r"(?P<keep>:[0-9]{3,10}:)(?P<value>[0-9a-fA-F]{32}:[0-9a-fA-F]{32})(?P<end>:::)",
        always,
    ),
    // a private key as base64: its first line begins with a word other than those of a certificate or a public key
    RedactRule::new(r"(?-u:\b)LS0tLS1CRUdJTi[A-Za-z0-9+/]{24,}={0,2}", |value| {
        !["BDRVJU", "BQVUJM", "BUUlVT", "BDUkw", "BQS0NT"].iter().any(|start| value[14..].starts_with(start))
    }),
    // a password with a slash in the address of a database
    RedactRule::new(
        r#"(?P<keep>(?-u:\b)(?:postgres(?:ql)?|mysql|mariadb|mssql|mongodb(?:\+srv)?|rediss?|amqps?)://[^\s/@:"'<>]*:)(?P<value>[^\s"'<>@]*/[^\s"'<>@]*)(?P<end>@[A-Za-z0-9])"#,
        |value| is_not_placeholder(value) && !value.starts_with(|c: char| c.is_ascii_digit()),
    ),
    // a name, a sign, a value between quotes
    RedactRule::new(
        named_quoted!(
            r"api[ _-]?key|app(?:lication)?[_-]?key|access[_-]?key|account[_-]?key|(?:encryption|signing|master|private)[_-]?key|secret[_-]?key(?:[_-]?base)?|secret|token|credentials?",
            r#"""#,
            "16,"
        ),
        is_quoted_secret,
    ),
    RedactRule::new(
        named_quoted!(
            r"api[ _-]?key|app(?:lication)?[_-]?key|access[_-]?key|account[_-]?key|(?:encryption|signing|master|private)[_-]?key|secret[_-]?key(?:[_-]?base)?|secret|token|credentials?",
            "'",
            "16,"
        ),
        is_quoted_secret,
    ),
    RedactRule::new(
        named_quoted!("password|passwd|passphrase|pwd|(?:_|(?-u:\\b))pass", r#"""#, "6,"),
        is_quoted_password,
    ),
    RedactRule::new(
        named_quoted!("password|passwd|passphrase|pwd|(?:_|(?-u:\\b))pass", "'", "6,"),
        is_quoted_password,
    ),
    // a name, a sign, a value
    RedactRule::new(
        named!(
            r"api[ _-]?key|app(?:lication)?[_-]?key|access[_-]?key|secret[_-]?access[_-]?key|account[_-]?key|shared[_-]?access[_-]?key|instrumentation[_-]?key|encryption[_-]?key|signing[_-]?key|master[_-]?key|private[_-]?key|secret[_-]?key(?:[_-]?base)?|client[_-]?secret|secret|token|credentials?",
            r#"[^\s"'`,;&<>(){}\[\]|\\]{16,}"#
        ),
        |value| is_not_placeholder(value) && is_random(value),
    )
    .before(is_not_code),
    RedactRule::new(
        named!(
            r"password|passwd|passphrase|pwd",
            r#"[^\s"'`,;&<>(){}\[\]|\\]{6,}"#
        ),
        |value| is_not_placeholder(value) && is_password(value),
    )
    .before(is_not_code),
    // pass and pwd as names of their own: variables first, whose values may be plain words
    RedactRule::new(
        r#"(?P<keep>(?-u:\b)(?:[A-Z0-9]+_)*(?:PASS|PWD)_?=(?:\\?["'`])?)(?P<value>[^\s"'`,;&<>(){}\[\]|\\]{6,})"#,
        |value| is_not_placeholder(value) && is_password(value),
    )
    .before(is_not_code),
    RedactRule::new(
        r#"(?P<keep>(?-u:\b)(?:(?:[A-Za-z0-9]+[_.])+(?:[Pp]ass|[Pp]wd|PASS|PWD)|[A-Za-z0-9]*[a-z0-9](?:Pass|Pwd)|pass)(?:\\?["'`])?[ \t]*(?::|=>|=)[ \t]*(?:\\?["'`])?)(?P<value>[^\s"'`,;&<>(){}\[\]|\\]{6,})"#,
        is_strong,
    )
    .before(is_not_code),
    // a name and a sign, the value on the next line
    RedactRule::new(
        named_above!(
            r"[:=][ \t]*[>|][0-9]?[+-]?",
            r#"[^\s"'`<>(){}\[\]|\\]{6,}(?:\r?\n[ \t]+[A-Za-z0-9+/=_.-]{20,}(?m:$))*"#
        ),
        |value| is_not_placeholder(value) && is_password(value) && !value.ends_with(':'),
    )
    .before(is_not_code),
    RedactRule::new(named_above!(":", r#"[^\s"'`,;&<>(){}\[\]|\\]{6,}"#), |value| {
        is_strong(value) && !value.contains(':')
    })
    .before(is_not_code),
    RedactRule::new(
        r#"(?i)(?P<keep>(?-u:\b)x-(?:[a-z0-9]+-)*(?:auth|token|secret|key|password)(?:\\?["'`])?[ \t]*:[ \t]*(?:\\?["'`])?)(?P<value>[a-z0-9._~+/=-]{6,})"#,
        |value| is_not_placeholder(value) && (has_digit(value) || is_jumbled(value)),
    ),
    // host:port:database:user:password
    RedactRule::new(
        r#"(?P<keep>(?:^|[\s"'`→|+-])[A-Za-z0-9_.*-]+:(?:5432|\*):[^\s:"']+:[^\s:"']+:)(?P<value>(?:[^\s:"'\\]|\\[:\\]){4,})"#,
        is_not_placeholder,
    )
    .before(ends_field),
    RedactRule::new(
        r#"(?P<keep>(?:^|[\s"'`→|+-])[A-Za-z0-9_.*-]+:[0-9]{4,5}:[A-Za-z_*][^\s:"']*:[A-Za-z_*][^\s:"']*:)(?P<value>(?:[^\s:"'\\]|\\[:\\]){6,})"#,
        is_strong,
    )
    .before(ends_field),
    RedactRule::new(
        r#"(?i)(?P<keep>[?&](?:key|sig|signature|auth|x-amz-signature|x-amz-credential|x-goog-signature)=)(?P<value>[^\s&#"'<>]{16,})"#,
        is_random,
    ),
];

/// What names a person or a machine.
pub(super) const PERSONAL: &[&[RedactRule]] = &[PEOPLE_AND_MACHINES];

/// What may stand before a path: the beginning of a text or of a changed line, white space, a bracket, a sign.
macro_rules! before_path {
    ($signs:literal) => {
        concat!(r#"(?P<keep>^|(?m:^)[+-]|[\s"'`(,\[{<>|"#, $signs, "])")
    };
}

const PEOPLE_AND_MACHINES: &[RedactRule] = &[
    RedactRule::new(
        concat!(
            before_path!("=:"),
            r#"(?P<value>(?:file://)?/(?:home|Users|root|srv|tmp|var/folders|private/tmp|mnt/[a-z]/Users)/[^\s"',;)}\]]*)"#
        ),
        is_private_path,
    ),
    RedactRule::new(concat!(before_path!("=:"), "(?P<value>/root)"), always).before(ends_token),
    RedactRule::new(concat!(before_path!("="), r#"(?P<value>[A-Za-z]:\\[^\s"',;)}\]]+)"#), always),
    // a folder that another machine shares
    RedactRule::new(
        concat!(
            before_path!("="),
            r#"(?P<value>\\\\[A-Za-z0-9][A-Za-z0-9.-]{2,}\\[A-Za-z0-9$_.-]{2,}[^\s"',;)}\]]*)"#
        ),
        always,
    ),
    RedactRule::new(
        r"(?-u:\b)[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}(?-u:\b)",
        is_personal_address,
    ),
    RedactRule::new(r"(?P<keep>^|[^A-Za-z0-9_.-])(?P<value>[0-9]{1,3}(?:\.[0-9]{1,3}){3})", is_telling_ip)
        .before(ends_token),
    RedactRule::new(
        r"(?P<keep>^|[^A-Za-z0-9_:.-])(?P<value>[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){3,7})",
        |address| has_digit(address) && is_telling_ip(address),
    )
    .before(ends_token),
    RedactRule::new(
        r"(?i)(?-u:\b)(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:internal|intra|intranet|corp|lan|local|localdomain)(?-u:\b)",
        |host| !host.eq_ignore_ascii_case("metadata.google.internal"),
    ),
    RedactRule::new(r#"(?P<keep>^|[\s"'`(=/])(?P<value>\.env\.[a-z]+)(?-u:\b)"#, |name| {
        !matches!(name, ".env.example" | ".env.sample" | ".env.template")
    }),
    RedactRule::new(r#"(?P<keep>[A-Za-z0-9_.~-]/)(?P<value>\.env)"#, always).before(ends_token),
];
