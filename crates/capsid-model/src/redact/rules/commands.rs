//! Secrets that programs take on their command line.

use super::RedactRule;
use crate::redact::checks::*;

pub(super) const COMMANDS: &[RedactRule] = &[
    // a flag and its value: one word, two words, or two items of a list
    RedactRule::new(
        concat!(
            r#"(?i)(?P<keep>--(?:[a-z0-9]+-)*(?:token|api-?key|secret|secret-key|access-key|password|passphrase)"#,
            r#"(?:=|[ \t]+|\\?["'][ \t]*,\s*\\?["'])["']?)(?P<value>[^\s"'<>\\]{6,})"#
        ),
        |value| is_not_placeholder(value) && (has_digit(value) || is_strong(value)),
    ),
    // a plain word is a password where no sentence goes on
    RedactRule::new(
        r#"(?i)(?P<keep>--(?:[a-z0-9]+-)*(?:password|passphrase)(?:=|[ \t]+))(?P<value>[a-z]{6,})"#,
        |value| is_password(value) && !is_word_about_flags(value),
    )
    .before(ends_argument),
    RedactRule::new(
        r#"(?P<keep>(?-u:\b)curl(?:[^\n]|\\\r?\n)*?[ \t](?:-[A-Za-z]{0,6}[uU][ \t]*|--(?:proxy-)?user[ \t=]+)["']?[^\s:"'=]*:)(?P<value>[^\s"']+)"#,
        |value| is_not_placeholder(value) && !value.starts_with("//"),
    ),
    RedactRule::new(
        r#"(?P<keep>(?-u:\b)(?:mysql(?:dump|admin|import|check|show|sh)?|mariadb(?:-dump|-admin)?|mycli)[ \t](?:[^\n|;&]*?[ \t])?-p["']?)(?P<value>[^\s"']+)"#,
        |value| is_not_placeholder(value) && !is_port_mapping(value),
    ),
    RedactRule::new(
        r#"(?P<keep>(?-u:\b)sshpass[ \t]+(?:-[v][ \t]+)*-p[ \t]*)(?P<value>"[^"\n]+"|'[^'\n]+'|[^\s"']+)"#,
        |value| is_not_placeholder(value.trim_matches(['"', '\''])),
    ),
    RedactRule::new(
        r#"(?P<keep>(?-u:\b)(?:docker|podman|nerdctl|buildah|skopeo|crane|helm|oras|az|oc)[ \t]+(?:acr[ \t]+|registry[ \t]+|auth[ \t]+)?login(?-u:\b)(?:[^\r\n|;&]|\\\r?\n)*?[ \t](?:-p|--password)(?:[ \t]+|=)["']?)(?P<value>[^\s"'\\]{4,})"#,
        |value| is_not_placeholder(value) && !value.starts_with('-'),
    ),
    RedactRule::new(
        r#"(?P<keep>(?-u:\b)config(?:ure)?[ \t]+set[ \t]+(?:-[a-z-]+[ \t]+)*["']?[^\s"'=]*(?i:token|secret|password|_auth|(?:access|api|secret|private)[_-]?key)["']?(?:=|[ \t]+)["']?)(?P<value>[^\s"'\\]{6,})"#,
        is_strong,
    ),
    // variables as other shells set them
    RedactRule::new(
        r#"(?P<keep>(?-u:\b)(?:set(?:[ \t]+--?[A-Za-z]+)+|setenv|setx)[ \t]+(?i:[a-z0-9_]*(?:token|secret|password|passwd|_pass|_pwd|(?:access|api|secret|private)_?key))[ \t]+["']?)(?P<value>[^\s"'`;&<>(){}\[\]|\\]{6,})"#,
        |value| is_not_placeholder(value) && is_password(value),
    ),
    RedactRule::new(
        r"(?P<keep>(?-u:\b)login[ \t]+[^\s]+[ \t]+password[ \t]+)(?P<value>[^\s]+)",
        is_not_placeholder,
    ),
];
