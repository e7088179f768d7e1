//! System errors have one form in every language: the name of the error and its subject.

use super::diagnostic::ProblemClass;
use super::mask::last_part;
use super::pattern::Pattern;

/// An error of the operating system, the network, TLS or HTTP.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SystemError {
    pub family: &'static str,
    pub code: String,
    pub class: ProblemClass,
    /// The whole text; nothing if the message is to be masked as any other.
    pub text: Option<String>,
}

/// What stands for one error in the words of several languages.
struct Words {
    code: &'static str,
    class: ProblemClass,
    subject: Subject,
    /// In lower case.
    any: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq)]
enum Subject {
    Absent,
    File,
    Host,
    Port,
}

const WORDS: [Words; 20] = [
    Words {
        code: "ENOTFOUND",
        class: ProblemClass::NetworkError,
        subject: Subject::Host,
        any: &[
            "getaddrinfo enotfound",
            "getaddrinfo eai_again",
            "getaddrinfo eai_noname",
            "could not resolve host",
            "couldn't resolve host",
            "could not resolve proxy",
            "could not resolve hostname",
            "no such host",
            "name or service not known",
            "nodename nor servname",
            "temporary failure in name resolution",
            "temporary failure resolving",
            "name does not resolve",
            "failed to lookup address information",
            "nameresolutionerror",
            "unable to resolve host address",
            "getaddrinfo failed",
            "no address associated with hostname",
            "could not translate host name",
            "unknownhostexception",
            "name resolution failed",
            "server misbehaving",
            "dns error",
            "err_name_not_resolved",
            "the remote name could not be resolved",
            "php_network_getaddresses",
        ],
    },
    Words {
        code: "EADDRINUSE",
        class: ProblemClass::NetworkError,
        subject: Subject::Port,
        any: &[
            "eaddrinuse",
            "address already in use",
            "address in use",
            "already in use",
            "port is already allocated",
            "only one usage of each socket address",
            "ports are not available",
            "addrinuse",
        ],
    },
    Words {
        code: "ECONNREFUSED",
        class: ProblemClass::NetworkError,
        subject: Subject::Port,
        any: &[
            "econnrefused",
            "connection refused",
            "connectionrefused",
            "connectionrefusederror",
            "actively refused",
            "couldn't connect to server",
            "was refused - did you specify",
            "err_connection_refused",
        ],
    },
    Words {
        code: "ECONNRESET",
        class: ProblemClass::NetworkError,
        subject: Subject::Absent,
        any: &[
            "econnreset",
            "connection reset",
            "socket hang up",
            "connectionreset",
            "forcibly closed by the remote host",
        ],
    },
    Words {
        code: "EPIPE",
        class: ProblemClass::NetworkError,
        subject: Subject::Absent,
        any: &["broken pipe", "write epipe"],
    },
    Words {
        code: "EHOSTUNREACH",
        class: ProblemClass::NetworkError,
        subject: Subject::Absent,
        any: &["no route to host", "ehostunreach"],
    },
    Words {
        code: "ENETUNREACH",
        class: ProblemClass::NetworkError,
        subject: Subject::Absent,
        any: &["network is unreachable", "enetunreach"],
    },
    Words {
        code: "ETIMEDOUT",
        class: ProblemClass::Timeout,
        subject: Subject::Absent,
        any: &[
            "etimedout",
            "connection timed out",
            "operation timed out",
            "esockettimedout",
            "connect timed out",
            "err_connection_timed_out",
        ],
    },
    Words {
        code: "ENOSPC",
        class: ProblemClass::DiskFull,
        subject: Subject::Absent,
        any: &[
            "no space left on device",
            "enospc",
            "not enough space on the disk",
            "not enough free disk space",
            "don't have enough free space",
            "disk is full",
            "storagefull",
        ],
    },
    Words {
        code: "EDQUOT",
        class: ProblemClass::DiskFull,
        subject: Subject::Absent,
        any: &["disk quota exceeded", "edquot"],
    },
    Words {
        code: "EMFILE",
        class: ProblemClass::ResourceLimit,
        subject: Subject::File,
        any: &["too many open files", "emfile"],
    },
    Words {
        code: "EROFS",
        class: ProblemClass::PermissionDenied,
        subject: Subject::File,
        any: &["read-only file system", "erofs"],
    },
    Words {
        code: "EACCES",
        class: ProblemClass::PermissionDenied,
        subject: Subject::File,
        any: &[
            "permission denied",
            "eacces",
            "access is denied",
            "permissiondenied",
            "accessdeniedexception",
            "unauthorizedaccessexception",
        ],
    },
    Words {
        code: "EPERM",
        class: ProblemClass::PermissionDenied,
        subject: Subject::File,
        any: &["operation not permitted", "eperm"],
    },
    Words {
        code: "ENOENT",
        class: ProblemClass::NotFound,
        subject: Subject::File,
        any: &[
            "no such file or directory",
            "enoent",
            "could not find file '",
            "could not find a part of the path",
            "nosuchfileexception",
            "filenotfoundexception",
            "cannot find the file specified",
            "cannot find the path specified",
            "the specified file was not found",
        ],
    },
    Words {
        code: "EEXIST",
        class: ProblemClass::Exception,
        subject: Subject::File,
        any: &["file exists", "eexist"],
    },
    Words {
        code: "EISDIR",
        class: ProblemClass::Exception,
        subject: Subject::File,
        any: &["is a directory", "eisdir"],
    },
    Words {
        code: "ENOTDIR",
        class: ProblemClass::Exception,
        subject: Subject::File,
        any: &["not a directory", "enotdir"],
    },
    Words {
        code: "ENOTEMPTY",
        class: ProblemClass::Exception,
        subject: Subject::File,
        any: &["directory not empty", "enotempty"],
    },
    Words {
        code: "ENOMEM",
        class: ProblemClass::OutOfMemory,
        subject: Subject::Absent,
        any: &["cannot allocate memory", "enomem", "not enough memory resources"],
    },
];

/// Reads a system error from a message and the name of its type.
pub(crate) fn classify(kind: &str, message: &str) -> Option<SystemError> {
    let lower = format!("{kind} {message}").to_lowercase();
    classify_tls(&lower)
        .or_else(|| classify_http(message))
        .or_else(|| classify_grpc(message))
        .or_else(|| classify_errno(&lower, message))
}

fn classify_errno(lower: &str, message: &str) -> Option<SystemError> {
    let words = WORDS.iter().find(|words| {
        words.any.iter().any(|word| contains_word(lower, word)) && !is_other_meaning(words.code, lower)
    })?;
    let subject = match words.subject {
        Subject::Absent => None,
        Subject::File => read_file(message),
        Subject::Host => read_host(message),
        Subject::Port => read_port(message).map(|port| format!("port {port}")),
    };
    let text = match subject {
        Some(subject) => format!("{} {subject}", words.code),
        None => words.code.to_owned(),
    };
    Some(SystemError { family: "os", code: words.code.to_owned(), class: words.class, text: Some(text) })
}

/// Short names such as `eperm` count as whole words only.
fn contains_word(lower: &str, word: &str) -> bool {
    if word.len() > 12 || word.contains(' ') {
        return lower.contains(word);
    }
    lower.match_indices(word).any(|(at, _)| {
        let before = lower[..at].chars().next_back();
        let after = lower[at + word.len()..].chars().next();
        let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        !is_part(before) && !is_part(after)
    })
}

/// Words that name something else in the mouth of a database, of SSH or of an interface.
fn is_other_meaning(code: &str, lower: &str) -> bool {
    match code {
        "EACCES" => {
            lower.contains("(publickey")
                || lower.contains("permission denied for ")
                || lower.contains("rpc error")
                || lower.contains("permission denied to ")
        }
        "EADDRINUSE" => !["port", "address", "listen", "bind", "addrinuse", "socket"]
            .iter()
            .any(|word| lower.contains(word)),
        "EEXIST" | "EISDIR" => lower.contains("relation") || lower.contains("expected"),
        _ => false,
    }
}

fn classify_tls(lower: &str) -> Option<SystemError> {
    let error = |code: &str, text: &str| {
        Some(SystemError {
            family: "tls",
            code: code.to_owned(),
            class: ProblemClass::TlsError,
            text: Some(format!("certificate {text}")),
        })
    };
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if !has(&["certificate", "cert_", "x509", "pkix", "_cert", "ssl", "tls"]) {
        return None;
    }
    if has(&[
        "self-signed certificate",
        "self signed certificate",
        "self_signed_cert",
        "selfsigned",
        "self-signed",
    ]) {
        return error("self_signed", "self-signed");
    }
    if has(&[
        "certificate has expired",
        "cert_has_expired",
        "certificate expired",
        "expired certificate",
        "certificateexpired",
        "not yet valid",
        "notafter",
    ]) {
        return error("expired", "expired");
    }
    if has(&[
        "certificate_verify_failed",
        "unable to get local issuer",
        "unable_to_get_issuer",
        "unable to verify the first certificate",
        "unable_to_verify_leaf",
        "signed by unknown authority",
        "pkix path",
        "ssl certificate problem",
        "certificate verify failed",
        "certificate is not trusted",
        "certificate is valid for",
        "cert_altname_invalid",
        "certificate's altnames",
        "doesn't match certificate",
        "certificate subject name",
        "unknownissuer",
        "invalid peer certificate",
        "x509:",
        "remote certificate is invalid",
        "unable to find valid certification path",
        "server certificate verification failed",
    ]) {
        return error("not_verified", "not verified");
    }
    None
}

static HTTP: Pattern = Pattern::new(
    r"(?i)(?:^|[^0-9])(?:([45][0-9]{2}) (?:client|server) error\b|http error:? ([45][0-9]{2})\b|status code:? ?([45][0-9]{2})\b|returned error: ([45][0-9]{2})\b|does not indicate success: ([45][0-9]{2})\b|response code:? ([45][0-9]{2})\b|^error ([45][0-9]{2}): |http (?:status )?([45][0-9]{2})\b|http/[0-9.]+ ([45][0-9]{2})\b|unexpected status:? ([45][0-9]{2})\b)",
);

fn classify_http(message: &str) -> Option<SystemError> {
    if !message.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let groups = HTTP.captures(message)?;
    let status = (1..=10).find_map(|index| groups.some(index))?;
    Some(SystemError {
        family: "http",
        code: format!("http_{status}"),
        class: ProblemClass::HttpError,
        text: None,
    })
}

static GRPC: Pattern = Pattern::new(r"rpc error: code = (\w+) desc = ");

fn classify_grpc(message: &str) -> Option<SystemError> {
    if !message.contains("rpc error: code") {
        return None;
    }
    let groups = GRPC.captures(message)?;
    let class = match groups.get(1) {
        "DeadlineExceeded" => ProblemClass::Timeout,
        "NotFound" => ProblemClass::NotFound,
        "PermissionDenied" | "Unauthenticated" => ProblemClass::PermissionDenied,
        "ResourceExhausted" => ProblemClass::ResourceLimit,
        _ => ProblemClass::NetworkError,
    };
    Some(SystemError { family: "grpc", code: format!("grpc_{}", groups.get(1)), class, text: None })
}

static PORT: Pattern = Pattern::new(
    r#"(?i)\bport[ :=]+([0-9]{1,5})\b|(?:[\w.\]*-]|::):([0-9]{2,5})\b|\('[^']*', ([0-9]{2,5})\)|\(([0-9]{2,5})\)|:([0-9]{2,5})\b"#,
);

fn read_port(message: &str) -> Option<String> {
    let message = CLOCK.replace_all(message, |_| String::new());
    let groups = PORT.captures(&message)?;
    (1..=5).find_map(|index| groups.some(index)).map(str::to_owned)
}

static CLOCK: Pattern =
    Pattern::new(r"\b[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?\b|\b[0-9]{4}-[0-9]{2}-[0-9]{2}\b");
static HOST: Pattern = Pattern::new(
    r#"(?i)(?:enotfound|eai_again|resolve (?:host|proxy|hostname):?|lookup|hostname|host name|address|host address|unknownhostexception:?|resolve|known host)\s+[‘“'"(]?([A-Za-z0-9](?:[\w-]*\.)*[\w-]*[A-Za-z0-9])"#,
);
static HOST_IN_PARENTHESES: Pattern = Pattern::new(r"\(((?:[\w-]+\.)+[\w-]+)(?::[0-9]+)?\)");
static HOST_QUOTED: Pattern = Pattern::new(r#"(?:host=|//)['"]?((?:[\w-]+\.)+[A-Za-z][\w-]*)"#);
static HOST_ALONE: Pattern =
    Pattern::new(r"(?:^|[\s:'])((?:[A-Za-z0-9-]+\.)+[A-Za-z][A-Za-z0-9-]+)(?::[0-9]+)?(?:$|[\s:'])");

fn read_host(message: &str) -> Option<String> {
    const NOT_HOSTS: [&str; 14] = [
        "on",
        "for",
        "information",
        "associated",
        "with",
        "is",
        "or",
        "name",
        "host",
        "address",
        "not",
        "failed",
        "in",
        "to",
    ];
    if let Some(groups) = HOST_QUOTED.captures(message).or_else(|| HOST_IN_PARENTHESES.captures(message)) {
        return Some(groups.get(1).to_owned());
    }
    let mut rest = message;
    while let Some(groups) = HOST.captures(rest) {
        let host = groups.get(1);
        if !NOT_HOSTS.contains(&host.to_ascii_lowercase().as_str()) {
            return Some(host.to_owned());
        }
        rest = rest.get(groups.range().end..).unwrap_or_default();
    }
    HOST_ALONE.captures(message).map(|groups| groups.get(1).to_owned())
}

static QUOTED_FILE: Pattern = Pattern::new(r#"[‘“'"`]([^‘’“”'"`]*[/\\.][^‘’“”'"`]*|[\w.-]+)[’”'"`]"#);
static BARE_FILE: Pattern =
    Pattern::new(r"(?:^|[\s:(=])((?:~|\.{1,2}|[A-Za-z]:)?[/\\][^\s:'()]*[^\s:'().,])");
static BEFORE_WORDS: Pattern = Pattern::new(
    r"(?i)([^\s:'()]+):? (?:\(?no such file or directory|permission denied|operation not permitted|read-only file system|too many open files|is a directory|not a directory|file exists|directory not empty)",
);
static AFTER_WORDS: Pattern = Pattern::new(
    r"(?i)(?:no such file or directory|permission denied|operation not permitted|read-only file system|exception)(?: @ \w+ -|:| -) ([^\s:'()]+)",
);

/// The file that a message is about, without folders.
fn read_file(message: &str) -> Option<String> {
    let groups = QUOTED_FILE
        .captures(message)
        .filter(|groups| !groups.get(1).contains(' ') || groups.get(1).contains('/'))
        .or_else(|| BARE_FILE.captures(message))
        .or_else(|| AFTER_WORDS.captures(message))
        .or_else(|| BEFORE_WORDS.captures(message))?;
    let name = last_part(groups.get(1).trim_end_matches([',', ';', '.']));
    let plain = name.to_ascii_lowercase();
    let is_word =
        ["error", "open", "failed", "oserror", "line", "open()", "exec", "stat"].contains(&plain.as_str());
    (!name.is_empty() && !is_word && name.contains(char::is_alphanumeric)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(message: &str) -> String {
        classify("", message).map(|error| error.text.unwrap_or(error.code)).unwrap_or_default()
    }

    #[test]
    fn one_error_has_one_form_in_every_language() {
        for (message, form) in [
            ("getaddrinfo ENOTFOUND api.shop.invalid", "ENOTFOUND api.shop.invalid"),
            ("Could not resolve host: api.shop.invalid", "ENOTFOUND api.shop.invalid"),
            ("dial tcp: lookup api.shop.invalid on 10.0.0.2:53: no such host", "ENOTFOUND api.shop.invalid"),
            ("<urlopen error [Errno -2] Name or service not known>", "ENOTFOUND"),
            ("UnknownHostException: api.shop.invalid", "ENOTFOUND api.shop.invalid"),
            (
                "could not translate host name \"db.shop.invalid\" to address: Name or service not known",
                "ENOTFOUND db.shop.invalid",
            ),
            ("Name or service not known (api.shop.invalid:443)", "ENOTFOUND api.shop.invalid"),
            (
                "HTTPSConnectionPool(host='api.shop.invalid', port=443): Failed to resolve (NameResolutionError)",
                "ENOTFOUND api.shop.invalid",
            ),
            ("connect ECONNREFUSED 127.0.0.1:5432", "ECONNREFUSED port 5432"),
            ("connect ECONNREFUSED ::1:5432", "ECONNREFUSED port 5432"),
            ("dial tcp 127.0.0.1:6443: connect: connection refused", "ECONNREFUSED port 6443"),
            (
                "connection to server at \"127.0.0.1\", port 5432 failed: Connection refused",
                "ECONNREFUSED port 5432",
            ),
            (
                "Failed to connect to 127.0.0.1 port 8080 after 0 ms: Couldn't connect to server",
                "ECONNREFUSED port 8080",
            ),
            ("[Errno 111] Connection refused", "ECONNREFUSED"),
            ("listen EADDRINUSE: address already in use :::3000", "EADDRINUSE port 3000"),
            ("listen tcp :8080: bind: address already in use", "EADDRINUSE port 8080"),
            (
                "[Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): address already in use",
                "EADDRINUSE port 8000",
            ),
            ("[Errno 13] Permission denied: '/var/log/app/app.log'", "EACCES app.log"),
            ("EACCES: permission denied, open '/srv/data.db'", "EACCES data.db"),
            ("bash: line 1: ./deploy.sh: Permission denied", "EACCES deploy.sh"),
            ("open /etc/app.conf: permission denied", "EACCES app.conf"),
            ("cannot open '/etc/x.conf': No such file or directory", "ENOENT x.conf"),
            ("Could not find file '/srv/shop/appsettings.json'.", "ENOENT appsettings.json"),
            ("java.io.FileNotFoundException: config/app.yml (No such file or directory)", "ENOENT app.yml"),
            ("No such file or directory @ rb_sysopen - config.yml", "ENOENT config.yml"),
            ("cp: error writing '/var/lib/a.log': No space left on device", "ENOSPC"),
            ("read tcp 10.0.0.1:443: connection reset by peer", "ECONNRESET"),
            ("x509: certificate has expired or is not yet valid", "certificate expired"),
            (
                "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate",
                "certificate self-signed",
            ),
            ("unable to get local issuer certificate for ssl", "certificate not verified"),
            ("Request failed with status code 503", "http_503"),
            ("HTTP Error 404: Not Found", "http_404"),
            ("rpc error: code = Unavailable desc = no server", "grpc_Unavailable"),
        ] {
            assert_eq!(text(message), form, "{message}");
        }
        assert_eq!(text("permission denied for table users"), "");
        assert_eq!(text("the list is empty"), "");
    }
}
