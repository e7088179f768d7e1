//! Terraform, Ansible, systemd, cloud command lines, and linters of configuration files.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

static TF_PLACE: Pattern = Pattern::new(r"^[│|]?\s+on (\S+) line ([0-9]+)");
static TF_NAME: Pattern = Pattern::new(
    r#"(?:with the name|named|called|resource type|argument named|block type|variable) "([^"]+)""#,
);
static TFLINT: Pattern = Pattern::new(r"^(.+) \((\w+)\)$");
static ANSIBLE_LINT: Pattern = Pattern::new(r"^([a-z][\w-]+(?:\[[\w-]+\])?): (.+?)\.?$");
static ANSIBLE_LINT_PLACE: Pattern =
    Pattern::new(r"^(\S+\.ya?ml):([0-9]+)(?::[0-9]+)?(?: Task/Handler: .*)?$");
static ANSIBLE: Pattern =
    Pattern::new(r"^(?:fatal|failed): \[([^\]]+)\](?: \(item=.*?\))?: (FAILED|UNREACHABLE)! => (.*)$");
static ANSIBLE_MSG: Pattern = Pattern::new(r#""(?:msg|stderr)": "((?:[^"\\]|\\.)+)""#);
static SYSTEMD: Pattern = Pattern::new(
    r"^(?:\S+ systemd\[[0-9]+\]: )?(\S+\.(?:service|mount|socket|timer)): (?:Failed at step (\w+) spawning (\S+): (.+)|(Main process exited|Control process exited), code=(\w+), status=(\S+)|Failed with result '([\w-]+)'\.)$",
);
static AWS: Pattern = Pattern::new(
    r"^(?:aws: \[ERROR\]: |(?:upload|download|delete|copy|move|make_bucket|remove_bucket) failed: .*? |fatal error: )?An error occurred \((\w+)\) when calling the (\w+) operation(?: \(reached max retries: [0-9]+\))?: (.+)$",
);
static MARKDOWNLINT: Pattern = Pattern::new(
    r"^(\S+\.(?:md|markdown|mdx)):([0-9]+)(?::[0-9]+)? (?:error )?(MD[0-9]{3})/([\w/-]+) (.+?)(?: \[.*\])?$",
);
static YAMLLINT: Pattern =
    Pattern::new(r"^(\S+\.ya?ml):([0-9]+):[0-9]+: \[(error|warning)\] (.+?)(?: \(([\w-]+)\))?$");
static ACTIONLINT: Pattern = Pattern::new(r"^(\.?\S*\.ya?ml):([0-9]+):[0-9]+: (.+?) \[([\w-]+)\]$");
static GCLOUD: Pattern = Pattern::new(r"^ERROR: \((gcloud[\w.-]*)\) (?:([A-Z_]+): )?(.+)$");
static NGINX: Pattern = Pattern::new(r"^nginx: \[(?:emerg|error|alert|crit)\] (.+?)(?: in (\S+):([0-9]+))?$");

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.starts_with("│ Error: ") || text.starts_with("Error: ") && is_terraform(log, at) {
        return recognize_terraform(log, at);
    }
    if text.contains("! => ") {
        return recognize_ansible(log, at);
    }
    if text.starts_with("ERROR! ") {
        let message = text.trim_start_matches("ERROR! ");
        return Some(
            Finding::new("ansible", "ansible", ProblemClass::ConfigError, at).code("error").message(message),
        );
    }
    if text.contains(".service: ") || text.contains(".mount: ") || text.contains(".socket: ") {
        return recognize_systemd(log, at);
    }
    if text.contains("An error occurred (") {
        let groups = AWS.captures(text)?;
        let class = match groups.get(1) {
            code if code.contains("AccessDenied")
                || code.contains("Unauthorized")
                || code.contains("ExpiredToken")
                || code.contains("InvalidClientToken") =>
            {
                ProblemClass::PermissionDenied
            }
            code if code.starts_with("NoSuch") || code.contains("NotFound") => ProblemClass::NotFound,
            code if code.contains("Throttl") || code.contains("LimitExceeded") => ProblemClass::ResourceLimit,
            _ => ProblemClass::ConfigError,
        };
        return Some(Finding::new("aws", "aws", class, at).code(groups.get(1)).message(format!(
            "{}: {}",
            groups.get(2),
            groups.get(3)
        )));
    }
    if text.starts_with("Unable to locate credentials")
        || text.starts_with("fatal error: Unable to locate credentials")
    {
        return Some(
            Finding::new("aws", "aws", ProblemClass::ConfigError, at)
                .code("no_credentials")
                .message("Unable to locate credentials"),
        );
    }
    if text.starts_with("ERROR: (gcloud") {
        let groups = GCLOUD.captures(text)?;
        return Some(
            Finding::new("gcloud", "gcloud", ProblemClass::ConfigError, at)
                .code(groups.get(2))
                .message(groups.get(3)),
        );
    }
    if text.starts_with("nginx: [") {
        let groups = NGINX.captures(text)?;
        let finding = Finding::new("nginx", "nginx", ProblemClass::ConfigError, at).message(groups.get(1));
        let finding = if groups.get(2).is_empty() {
            finding
        } else {
            finding.position(groups.get(2), groups.number(3))
        };
        return Some(finding.or_system());
    }
    let next = log.text(at + 1);
    if (next.contains(".yml:") || next.contains(".yaml:"))
        && let Some(place) = ANSIBLE_LINT_PLACE.captures(next)
        && let Some(groups) = ANSIBLE_LINT.captures(text)
    {
        return Some(
            Finding::new("ansible-lint", "ansible-lint", ProblemClass::LintError, at)
                .code(groups.get(1))
                .message(groups.get(2))
                .position(place.get(1), place.number(2))
                .until(at + 1),
        );
    }
    recognize_config_lint(text, at)
}

fn recognize_config_lint(text: &str, at: usize) -> Option<Finding> {
    if text.contains(" MD") || text.contains("error MD") {
        let groups = MARKDOWNLINT.captures(text)?;
        return Some(
            Finding::new("markdownlint", "markdownlint", ProblemClass::LintError, at)
                .code(groups.get(3))
                .message(groups.get(5))
                .position(groups.get(1), groups.number(2)),
        );
    }
    if text.contains(".yml:") || text.contains(".yaml:") {
        if let Some(groups) = YAMLLINT.captures(text) {
            if groups.get(3) == "warning" {
                return Some(Finding::noise(at, at));
            }
            let class = if groups.get(4).starts_with("syntax error") {
                ProblemClass::SyntaxError
            } else {
                ProblemClass::LintError
            };
            return Some(
                Finding::new("yamllint", "yamllint", class, at)
                    .code(groups.get(5))
                    .message(groups.get(4))
                    .position(groups.get(1), groups.number(2)),
            );
        }
        let groups = ACTIONLINT.captures(text)?;
        return Some(
            Finding::new("actionlint", "actionlint", ProblemClass::LintError, at)
                .code(groups.get(4))
                .message(groups.get(3))
                .position(groups.get(1), groups.number(2)),
        );
    }
    None
}

fn is_terraform(log: &LogView<'_>, at: usize) -> bool {
    let names = |text: &str| (text.contains("erraform") || text.contains("provider registry")).then_some(());
    log.find_after(at, 4, |text| TF_PLACE.is_match(text).then_some(())).is_some()
        || log.find_after(at, 6, names).is_some()
        || log.find_before(at, 12, names).is_some()
}

fn recognize_terraform(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at).trim_start_matches('│').trim_start();
    let title = text.strip_prefix("Error: ")?;
    let last =
        log.end_of(at, 40, |text| text.starts_with('│') || text.starts_with("  ") || text.trim().is_empty());
    let last = log.end_of(last, 1, |text| text.starts_with('╵'));
    let place = (at..=last).find_map(|index| TF_PLACE.captures(log.text(index)));
    let name = (at + 1..=last)
        .find_map(|index| TF_NAME.captures(log.text(index)).map(|groups| groups.get(1).to_owned()));
    let message = match name {
        Some(name) if !title.contains('"') => format!("{title}: {}", symbol(&name)),
        _ => title.to_owned(),
    };
    let rule = TFLINT
        .captures(title)
        .filter(|_| log.find_before(at, 60, |text| text.contains("issue(s) found").then_some(())).is_some());
    let finding = match &rule {
        Some(rule) => Finding::new("tflint", "tflint", ProblemClass::LintError, at)
            .code(rule.get(2))
            .message(rule.get(1)),
        None => Finding::new("terraform", "terraform", ProblemClass::ConfigError, at).message(message),
    }
    .until(last);
    Some(match place {
        Some(groups) => finding.position(groups.get(1), groups.number(2)),
        None => finding,
    })
}

fn recognize_ansible(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = ANSIBLE.captures(log.text(at))?;
    let mut detail = groups.get(3).to_owned();
    let mut last = at;
    // The answer may be spread over several lines.
    if detail.trim() == "{" {
        last = log.end_of(at, 60, |text| text.starts_with(' ') || text.starts_with('}'));
        detail = (at + 1..=last).map(|index| log.text(index).trim()).collect::<Vec<_>>().join(" ");
    }
    if log.find_after(last, 1, |text| text.starts_with("...ignoring").then_some(())).is_some() {
        return Some(Finding::noise(at, last + 1));
    }
    let message = ANSIBLE_MSG
        .captures(&detail)
        .map_or(detail.as_str(), |groups| groups.get(1))
        .replace("\\\"", "\"")
        .replace("\\n", " ");
    let unreachable = groups.get(2) == "UNREACHABLE";
    let class = if unreachable { ProblemClass::NetworkError } else { ProblemClass::ConfigError };
    Some(
        Finding::new("ansible", "ansible", class, at)
            .code(if unreachable { "unreachable" } else { "failed" })
            .message(message)
            .until(last),
    )
}

fn recognize_systemd(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = SYSTEMD.captures(log.text(at))?;
    let unit = groups.get(1);
    let finding = Finding::new("systemd", "systemd", ProblemClass::ConfigError, at);
    if let Some(step) = groups.some(2) {
        let program = groups.get(3).rsplit('/').next().unwrap_or_default();
        return Some(finding.code(step).message(format!(
            "{} failed at step {step} spawning {}: {}",
            symbol(unit),
            symbol(program),
            groups.get(4)
        )));
    }
    let role = crate::diagnosis::diagnostic::DiagnosticRole::Summary;
    let code = groups.some(6).or_else(|| groups.some(8)).unwrap_or("failed");
    Some(finding.code(code).message(format!("{} failed", symbol(unit))).role(role))
}
