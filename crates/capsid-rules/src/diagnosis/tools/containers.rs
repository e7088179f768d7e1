//! Docker, BuildKit, compose, hadolint, Kubernetes and Helm.

use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::errno;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

static COPY: Pattern = Pattern::new(
    r#"(?:failed to (?:calculate checksum|compute cache key|solve)|(?:COPY|ADD) failed).*?(?:"([^"]+)"|\s(/[^\s":]+)): (?:not found|no such file or directory|file does not exist)$"#,
);
static COPY_OLD: Pattern =
    Pattern::new(r"^(?:COPY|ADD) failed: (?:file not found in build context.*?: stat |stat )(\S+?):");
static DAEMON: Pattern = Pattern::new(
    r"(?:Error response from daemon|error during connect|docker: Error response from daemon): (.+?)\.?$",
);
static PULL: Pattern = Pattern::new(
    r#"(?:Failed to pull image|failed to pull image|failed to resolve source metadata for|Back-off pulling image|pull access denied for|manifest for|repository) "?([\w./:@-]+?)"?(?:[:,;]| not found| does not exist|$)"#,
);
static SERVER: Pattern =
    Pattern::new(r"^(?:error: |Error: (?:.*?: )?)?Error from server(?: \((\w+)\))?: (.+)$");
static HADOLINT: Pattern =
    Pattern::new(r"^(\S+):([0-9]+) ((?:DL|SC)[0-9]{4}) (error|warning|info|style): (.+)$");

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let docker = |code: &str, message: String| {
        Finding::new("docker", "docker", ProblemClass::ContainerError, at).code(code).message(message)
    };
    if text.contains("Cannot connect to the Docker daemon")
        || text.contains("error during connect") && text.contains("docker")
    {
        return Some(docker("daemon_unreachable", "Cannot connect to the Docker daemon".to_owned()));
    }
    if (text.contains(": not found") || text.contains("COPY failed") || text.contains("ADD failed"))
        && let Some(groups) = COPY_OLD.captures(text).or_else(|| COPY.captures(text))
    {
        let name = groups.some(1).unwrap_or_else(|| groups.get(2)).rsplit('/').next().unwrap_or_default();
        return Some(docker("copy_not_found", format!("COPY source {} not found", symbol(name))));
    }
    if text.contains("exec format error") {
        return Some(docker("exec_format", "exec format error".to_owned()));
    }
    if text.contains("from daemon: ") {
        return recognize_daemon(log, at);
    }
    if (text.contains("mage")
        || (text.contains("manifest") || text.contains("source metadata"))
        || text.contains("pull access"))
        && let Some(finding) = recognize_image(log, at)
    {
        return Some(finding);
    }
    if text.contains("dockerfile parse error")
        || text.contains("Dockerfile parse error")
        || text.contains("unknown instruction:")
    {
        let message = text.rsplit("parse error ").next().unwrap_or(text);
        return Some(
            Finding::new("docker", "docker", ProblemClass::SyntaxError, at)
                .code("dockerfile")
                .message(message),
        );
    }
    if (text.contains("DL") || text.contains("SC"))
        && let Some(groups) = HADOLINT.captures(text)
    {
        if matches!(groups.get(4), "info" | "style") {
            return Some(Finding::noise(at, at));
        }
        return Some(
            Finding::new("hadolint", "hadolint", ProblemClass::LintError, at)
                .code(groups.get(3))
                .message(groups.get(5))
                .position(groups.get(1), groups.number(2)),
        );
    }
    recognize_compose(log, at).or_else(|| recognize_kubernetes(log, at))
}

fn recognize_daemon(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = DAEMON.captures(log.text(at))?;
    let message = groups.get(1);
    let mut finding = Finding::new("docker", "docker", ProblemClass::ContainerError, at).message(message);
    if let Some(found) = recognize_image(log, at) {
        return Some(found);
    }
    if let Some(error) = errno::classify("", message).filter(|error| {
        matches!(error.code.as_str(), "EADDRINUSE" | "ENOSPC" | "EACCES" | "ENOTFOUND")
            || error.family == "tls"
    }) {
        finding.apply_system(error);
        return Some(finding);
    }
    let code = [
        ("No such container", "no_container"),
        ("No such image", "no_image"),
        ("Conflict. The container name", "name_conflict"),
        ("OCI runtime create failed", "runtime"),
        ("failed to create task", "runtime"),
        ("network ", "network"),
        ("No such network", "network"),
    ];
    let code = code.iter().find(|(words, _)| message.contains(words)).map_or("", |(_, code)| *code);
    Some(finding.code(code))
}

static RPC: Pattern = Pattern::new(r"rpc error: code = (\w+)");

/// An image that cannot be pulled: its name without registry and tag.
fn recognize_image(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.contains("InvalidImageName")
        || !(text.contains("pull")
            || (text.contains("manifest") || text.contains("source metadata"))
            || text.contains("ErrImage")
            || text.contains("ImagePull"))
    {
        return None;
    }
    if text.contains("Error: ErrImagePull")
        || text.contains("Error: ImagePullBackOff")
        || text.contains("Reason:       ErrImagePull")
    {
        return Some(
            Finding::new("kubernetes", "kubernetes", ProblemClass::ContainerError, at)
                .code("ErrImagePull")
                .message("Failed to pull image")
                .role(DiagnosticRole::Summary),
        );
    }
    let groups = PULL.captures(text)?;
    let name = groups.get(1);
    if text.contains("not found in manifest") {
        return None;
    }
    let name = name.split('@').next().unwrap_or(name);
    let last = name.rsplit('/').next().unwrap_or(name);
    let image = last.split(':').next().unwrap_or(last);
    let is_kubernetes = RPC.is_match(text)
        || text.contains("Back-off")
        || text.contains("Failed to pull image")
        || text.contains("Warning");
    let (tool, code) =
        if is_kubernetes { ("kubernetes", "ErrImagePull") } else { ("docker", "image_not_found") };
    Some(
        Finding::new(tool, tool, ProblemClass::ContainerError, at)
            .code(code)
            .message(format!("Failed to pull image {}", symbol(image))),
    )
}

static COMPOSE_SERVICE: Pattern = Pattern::new(r#"^(?:service|no such service:) "?([\w-]+)"? ?(.*)$"#);
static EXITED: Pattern = Pattern::new(
    r"^(?:container|dependency failed to start: container) (\S+) (?:exited \(([0-9]+)\)|is unhealthy|.*unhealthy)$",
);

fn recognize_compose(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let compose = |code: &str, message: String, class: ProblemClass| {
        Finding::new("compose", "docker", class, at).code(code).message(message)
    };
    if text.starts_with("dependency failed to start")
        || text.starts_with("container ") && text.ends_with("unhealthy")
    {
        let groups = EXITED.captures(text)?;
        return Some(compose(
            "unhealthy",
            format!("container {} is unhealthy", symbol(groups.get(1))),
            ProblemClass::ContainerError,
        ));
    }
    if text.starts_with("no such service:")
        || text.starts_with("service \"")
            && (text.contains("refers to undefined")
                || text.contains("has neither an image")
                || text.contains("depends on undefined"))
    {
        let groups = COMPOSE_SERVICE.captures(text)?;
        return Some(compose(
            "service",
            text.replace(groups.get(1), &symbol(groups.get(1))).replace('"', ""),
            ProblemClass::ConfigError,
        ));
    }
    if text.contains("compose")
        && (text.starts_with("validating ")
            || text.starts_with("yaml: ")
            || text.contains("no configuration file provided"))
    {
        return Some(compose("config", text.to_owned(), ProblemClass::ConfigError));
    }
    if text.starts_with("no configuration file provided") {
        return Some(compose("config", text.to_owned(), ProblemClass::ConfigError));
    }
    None
}

static OOM_REASON: Pattern = Pattern::new(r#"(?i)(?:reason|state)"?\s*[:=]\s*"?OOMKilled|^\s*OOMKilled"#);
static NAME: Pattern = Pattern::new(r"^Name: +(\S+)$");
static POD_SUFFIX: Pattern = Pattern::new(r"-[a-z0-9]{8,10}-[a-z0-9]{5}$|-[a-z0-9]{5}$");
static SCHEDULING: Pattern = Pattern::new(
    r"FailedScheduling\s.*?([0-9]+/[0-9]+ nodes are available: .+|no nodes available.*|persistentvolumeclaim .+)$",
);
static EVENT: Pattern = Pattern::new(
    r"^\s*(?:<?[0-9a-z()~ ]+>?\s+)?Warning\s+(FailedMount|FailedAttachVolume|Unhealthy|FailedCreate|FailedCreatePodSandBox|Evicted|BackOff|Failed)\s+(?:\S+\s+)?(?:(?:pod|deployment|replicaset|job)/\S+\s+|kubelet\s+|(?:[0-9]+[smhd])+.*?kubelet\s+)?(.+)$",
);
static POD_ROW: Pattern = Pattern::new(
    r"^(\S+)\s+[0-9]+/[0-9]+\s+(CrashLoopBackOff|ImagePullBackOff|ErrImagePull|OOMKilled|CreateContainerConfigError|Error|InvalidImageName|RunContainerError)\s+[0-9]+",
);

fn recognize_kubernetes(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let finding =
        |code: &str, class: ProblemClass| Finding::new("kubernetes", "kubernetes", class, at).code(code);
    if text.contains("OOMKilled") && (OOM_REASON.is_match(text) || POD_ROW.is_match(text)) {
        let pod = POD_ROW
            .captures(text)
            .map(|groups| groups.get(1).to_owned())
            .or_else(|| find_name(log, at))
            .unwrap_or_default();
        let name = POD_SUFFIX.replace_all(&pod, |_| String::new());
        return Some(
            finding("OOMKilled", ProblemClass::OutOfMemory)
                .message(format!("OOMKilled {pod}"))
                .text(format!("OOMKilled {name}").trim_end().to_owned()),
        );
    }
    if text.contains("The connection to the server ") && text.contains("was refused") {
        let mut finding = finding("", ProblemClass::NetworkError).message(text);
        finding.apply_system(errno::classify("", text)?);
        return Some(finding);
    }
    if text.contains("FailedScheduling") {
        let groups = SCHEDULING.captures(text)?;
        return Some(finding("FailedScheduling", ProblemClass::ContainerError).message(groups.get(1)));
    }
    if text.contains("rror from server") {
        let groups = SERVER.captures(text)?;
        let reason = groups.get(1);
        let class = match reason {
            "Forbidden" => ProblemClass::PermissionDenied,
            "NotFound" => ProblemClass::NotFound,
            _ => ProblemClass::ContainerError,
        };
        return Some(finding(reason, class).message(groups.get(2)));
    }
    if text.contains("Warning ") && text.contains("  ") {
        let groups = EVENT.captures(text)?;
        if groups.get(1) == "Failed" && groups.get(2).starts_with("Error: ") {
            return Some(
                finding(groups.get(2).trim_start_matches("Error: "), ProblemClass::ContainerError)
                    .message(groups.get(2))
                    .role(DiagnosticRole::Summary),
            );
        }
        let role = if groups.get(1) == "BackOff" { DiagnosticRole::Summary } else { DiagnosticRole::Cause };
        return Some(finding(groups.get(1), ProblemClass::ContainerError).message(groups.get(2)).role(role));
    }
    if let Some(groups) = POD_ROW.captures(text) {
        let name = POD_SUFFIX.replace_all(groups.get(1), |_| String::new());
        return Some(finding(groups.get(2), ProblemClass::ContainerError).message(format!(
            "{} {}",
            groups.get(2),
            symbol(&name)
        )));
    }
    if let Some(message) = text.strip_prefix("error: ") {
        let is_kubectl = [
            "error validating ",
            "unable to recognize ",
            "the server doesn't have a resource type",
            "You must be logged in to the server",
            "no matches for kind",
            "context \"",
            "unable to connect to the server",
            "error parsing ",
        ]
        .iter()
        .any(|start| message.starts_with(start));
        return is_kubectl.then(|| finding("", ProblemClass::ConfigError).message(message));
    }
    if text.starts_with("Unable to connect to the server: ") {
        return Some(
            finding("", ProblemClass::NetworkError)
                .message(text.trim_start_matches("Unable to connect to the server: "))
                .or_system(),
        );
    }
    if text.starts_with("Error: INSTALLATION FAILED: ") || text.starts_with("Error: UPGRADE FAILED: ") {
        let message = text.split_once("FAILED: ")?.1;
        return Some(
            Finding::new("helm", "helm", ProblemClass::ConfigError, at).message(message).or_system(),
        );
    }
    if text.starts_with("Error: ")
        && (text.contains("/templates/") || text.contains("chart") || text.contains("template:"))
    {
        return Some(
            Finding::new("helm", "helm", ProblemClass::ConfigError, at)
                .message(text.trim_start_matches("Error: ")),
        );
    }
    None
}

/// The pod that a description is about.
fn find_name(log: &LogView<'_>, at: usize) -> Option<String> {
    let rule = |text: &str| NAME.captures(text).map(|groups| groups.get(1).to_owned());
    log.find_before(at, 80, rule).or_else(|| log.find_after(at, 40, rule)).map(|(_, name)| name)
}
