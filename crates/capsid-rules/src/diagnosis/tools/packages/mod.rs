//! Package managers: npm, pnpm, yarn, pip, uv, poetry, conda, Bundler, Composer, apt and apk.

use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::errno;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if npm_line(text).is_some() {
        return recognize_npm(log, at);
    }
    if text.contains("ERR_PNPM_") {
        return recognize_pnpm(log, at);
    }
    if text.starts_with("error ") || text.contains("➤ YN") {
        return recognize_yarn(log, at);
    }
    recognize_pip(log, at).or_else(|| recognize_resolver(log, at)).or_else(|| recognize_other(log, at))
}

/// The text of a line that npm marks as an error.
fn npm_line(text: &str) -> Option<&str> {
    let rest = text
        .strip_prefix("npm error")
        .or_else(|| text.strip_prefix("npm ERR!"))
        .or_else(|| text.strip_prefix("npm  error"))?;
    Some(rest.trim())
}

static NPM_404: Pattern =
    Pattern::new(r"^(?:404)?\s*['\x22]?(@?[\w./-]+)@.*?['\x22]? is not in (?:this|the npm) registry");
static NPM_404_URL: Pattern = Pattern::new(r"^404 Not Found - GET \S+/((?:@[\w.-]+(?:/|%2[fF]))?[\w.-]+) ");
static NPM_TARGET: Pattern = Pattern::new(r"No matching version found for (@?[\w./-]+?)@");
static NPM_PEER: Pattern =
    Pattern::new(r#"^peer (@?[\w./-]+)@"?[\^~>=<v ]*([0-9]+)?[^"]*"? from (@?[\w./-]+)@"#);
static NPM_SCRIPT: Pattern = Pattern::new(r#"^Missing script: "?([\w:.-]+)"?"#);
static NPM_ENGINE: Pattern =
    Pattern::new(r#"^notsup Not compatible with your version of node|Unsupported engine"#);

/// A block of lines of npm is one diagnostic.
fn recognize_npm(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let last = log.end_of(at, 200, |text| npm_line(text).is_some() || text.trim().is_empty());
    let lines: Vec<&str> = (at..=last).filter_map(|index| npm_line(log.text(index))).collect();
    let code = lines.iter().find_map(|line| line.strip_prefix("code ")).unwrap_or_default();
    let npm = |code: &str, class: ProblemClass, message: String| {
        Finding::new("npm", "npm", class, at).code(code).message(message).until(last)
    };
    if let Some(groups) = lines.iter().find_map(|line| NPM_SCRIPT.captures(line)) {
        return Some(npm(
            "missing_script",
            ProblemClass::ConfigError,
            format!("Missing script: {}", symbol(groups.get(1))),
        ));
    }
    match code {
        "E404" => {
            let name = lines
                .iter()
                .find_map(|line| NPM_404.captures(line))
                .or_else(|| lines.iter().find_map(|line| NPM_404_URL.captures(line)));
            let name =
                name.map(|groups| groups.get(1).replace("%2f", "/").replace("%2F", "/")).unwrap_or_default();
            return Some(npm(
                code,
                ProblemClass::DependencyError,
                format!("{} is not in this registry", symbol(&name)),
            ));
        }
        "ETARGET" => {
            let name = lines
                .iter()
                .find_map(|line| NPM_TARGET.captures(line))
                .map(|groups| groups.get(1).to_owned())
                .unwrap_or_default();
            return Some(npm(
                code,
                ProblemClass::DependencyError,
                format!("no matching version for {}", symbol(&name)),
            ));
        }
        "ERESOLVE" => {
            let groups = lines.iter().find_map(|line| NPM_PEER.captures(line));
            let message = groups.map_or_else(
                || "unable to resolve dependency tree".to_owned(),
                |groups| {
                    let major = groups.some(2).map(|major| format!("v{major} ")).unwrap_or_default();
                    format!("peer {} {major}wanted by {}", symbol(groups.get(1)), symbol(groups.get(3)))
                },
            );
            return Some(npm(code, ProblemClass::DependencyError, message));
        }
        "ELIFECYCLE" | "" | "1" | "2" | "127" | "126" => {
            let role = DiagnosticRole::Wrapper;
            let message = lines
                .iter()
                .find(|line| {
                    line.contains("Lifecycle") || line.contains("failed") || line.contains("Failed at")
                })
                .copied()
                .unwrap_or("npm script failed");
            return Some(npm("ELIFECYCLE", ProblemClass::BuildError, message.to_owned()).role(role));
        }
        _ => {}
    }
    let said = lines
        .iter()
        .find(|line| {
            line.len() > 12
                && !line.starts_with("code ")
                && !line.starts_with("errno ")
                && !line.starts_with("syscall ")
                && !line.starts_with("path ")
                && !line.starts_with("A complete log")
        })
        .copied()
        .unwrap_or(code);
    let joined = lines.join(" ");
    if let Some(error) = errno::classify(code, said).or_else(|| errno::classify(code, &joined)) {
        let mut finding = npm(code, error.class, said.to_owned());
        finding.apply_system(error);
        return Some(finding);
    }
    let class = match code {
        "EBADENGINE" | "ENOLOCK" | "EUSAGE" | "EJSONPARSE" | "ENOWORKSPACES" => ProblemClass::ConfigError,
        "E401" | "E403" | "ENEEDAUTH" => ProblemClass::PermissionDenied,
        _ if lines.iter().any(|line| NPM_ENGINE.is_match(line)) => ProblemClass::ConfigError,
        _ => ProblemClass::DependencyError,
    };
    let said = said.strip_prefix(code).unwrap_or(said).trim();
    Some(npm(code, class, said.to_owned()))
}

static PNPM: Pattern = Pattern::new(r"(ERR_PNPM_\w+)\s+(.+)$");
static PNPM_404: Pattern = Pattern::new(r"(?:^|/)((?:@[\w.-]+/)?[\w.-]+): Not Found - 404");

fn recognize_pnpm(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = PNPM.captures(log.text(at))?;
    let (code, message) = (groups.get(1), groups.get(2));
    if code == "ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL"
        || code.contains("EXEC_FIRST_FAIL")
        || code.contains("LIFECYCLE")
    {
        return Some(
            Finding::new("pnpm", "npm", ProblemClass::BuildError, at)
                .code(code)
                .message(message)
                .role(DiagnosticRole::Wrapper),
        );
    }
    let message = match PNPM_404.captures(message) {
        Some(groups) => format!("{} is not in this registry", symbol(groups.get(1))),
        None => message.to_owned(),
    };
    let class = if code.contains("NO_SCRIPT") || code.contains("ENGINE") || code.contains("NO_IMPORTER") {
        ProblemClass::ConfigError
    } else {
        ProblemClass::DependencyError
    };
    Some(Finding::new("pnpm", "npm", class, at).code(code).message(message))
}

static YARN: Pattern = Pattern::new(
    r#"^error (?:(Couldn't find (?:package|any versions for) "([^"]+)".*)|(Command "([^"]+)" not found\.)|(An unexpected error occurred: "(.+)"\.)|(.* The engine .*)|(Received malformed response.*|Package ".*|Your lockfile needs.*))$"#,
);
static BERRY: Pattern = Pattern::new(r"➤ (YN[0-9]{4}): (?:[│┌└]\s*)?(.+)$");

fn recognize_yarn(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let yarn = |code: &str, class: ProblemClass, message: String| {
        Finding::new("yarn", "npm", class, at).code(code).message(message)
    };
    if text.contains("➤ YN") {
        let groups = BERRY.captures(text)?;
        let code = groups.get(1);
        // Codes of lines that only inform.
        if [
            "YN0000", "YN0002", "YN0013", "YN0019", "YN0007", "YN0008", "YN0060", "YN0061", "YN0085",
            "YN0086",
        ]
        .contains(&code)
        {
            return None;
        }
        return Some(yarn(code, ProblemClass::DependencyError, groups.get(2).to_owned()));
    }
    let groups = YARN.captures(text)?;
    if let Some(name) = groups.some(2) {
        return Some(yarn(
            "not_found",
            ProblemClass::DependencyError,
            format!("{} is not in this registry", symbol(name)),
        ));
    }
    if let Some(name) = groups.some(4) {
        return Some(yarn(
            "missing_script",
            ProblemClass::ConfigError,
            format!("Missing script: {}", symbol(name)),
        ));
    }
    let said = groups.some(6).unwrap_or_else(|| text.trim_start_matches("error "));
    Some(yarn("", ProblemClass::DependencyError, said.to_owned()).or_system())
}

static PIP_NONE: Pattern = Pattern::new(
    r"(?:No matching distribution found for|Could not find a version that satisfies the requirement) ([A-Za-z0-9._-]+?)(?:\[[^\]]*\])?(?:[ =<>!~;(].*)?$",
);
static PIP_NAMES: Pattern = Pattern::new(
    r"^\s+(?:The user requested (?:\(constraint\) )?([A-Za-z0-9._-]+?)(?:[=<>!~ ].*)?|([A-Za-z0-9._-]+?)(?:\[[^\]]*\])? \S+ depends on ([A-Za-z0-9._-]+?)(?:[\[=<>!~ ;].*)?)$",
);

fn recognize_pip(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let pip = |code: &str, message: String| {
        Finding::new("pip", "pip", ProblemClass::DependencyError, at).code(code).message(message)
    };
    if text.contains("No matching distribution found for")
        || text.contains("Could not find a version that satisfies")
    {
        let groups = PIP_NONE.captures(text)?;
        let last = log.end_of(at, 1, |text| text.contains("No matching distribution found for"));
        let name = groups.get(1).trim_end_matches('.');
        return Some(
            pip("no_matching_distribution", format!("no matching distribution for {}", symbol(name)))
                .until(last),
        );
    }
    if text.contains("conflicting dependencies") {
        let last = log.end_of(at, 40, |text| !text.contains("ResolutionImpossible"));
        let last = log.end_of(last, 1, |text| text.contains("ResolutionImpossible"));
        let mut names: Vec<String> = Vec::new();
        for index in at..=last {
            if let Some(groups) = PIP_NAMES.captures(log.text(index)) {
                names.extend((1..=3).filter_map(|index| groups.some(index)).map(str::to_owned));
            }
        }
        names.sort();
        names.dedup();
        let names: Vec<String> = names.iter().map(|name| symbol(name)).collect();
        return Some(
            pip("ResolutionImpossible", format!("conflicting requirements of {}", names.join(", ")))
                .until(last),
        );
    }
    if text.contains("ERROR: Failed building wheel for ")
        || text.contains("ERROR: Failed to build installable wheels")
    {
        let name = text.rsplit(" for ").next().unwrap_or_default();
        return Some(
            pip("build_wheel", format!("Failed building wheel for {}", symbol(name)))
                .role(DiagnosticRole::Summary),
        );
    }
    if let Some(message) = text.strip_prefix("ERROR: ") {
        let starts = [
            "Could not open requirements file",
            "Invalid requirement",
            "Could not install packages due to",
            "THESE PACKAGES DO NOT MATCH THE HASHES",
            "Package '",
            "Cannot uninstall",
        ];
        if starts.iter().any(|start| message.starts_with(start)) {
            return Some(pip("", message.to_owned()).or_system());
        }
    }
    None
}

static UV_BECAUSE: Pattern = Pattern::new(
    r"[Bb]ecause (?:there (?:is|are) no versions? of )?(?:only )?(\S+?)(?:[=<>~!]\S*)? (was not found|depends on|requires|is available|and|has no|needs)",
);

/// Resolvers that explain themselves in sentences: uv, poetry, pub.
fn recognize_resolver(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.contains("No solution found when resolving") {
        let (index, said) = log.find_after(at, 3, |text| {
            text.contains("ecause ").then(|| text.trim_start_matches([' ', '╰', '─', '▶']).trim())
        })?;
        let last = log.end_of(index, 10, |text| text.starts_with("   "));
        let name = UV_BECAUSE.captures(said).map(|groups| groups.get(1).to_owned()).unwrap_or_default();
        let missing = said.contains("was not found in the package registry")
            || said.contains("there are no versions of")
            || said.contains("there is no version of");
        let (code, message) = if missing {
            ("no_matching_distribution", format!("no matching distribution for {}", symbol(&name)))
        } else {
            ("no_solution", said.to_owned())
        };
        return Some(
            Finding::new("uv", "pip", ProblemClass::DependencyError, at)
                .code(code)
                .message(message)
                .until(last),
        );
    }
    if text.contains("version solving failed") || text.starts_with("Because ") {
        let last =
            log.end_of(at, 8, |text| !text.trim().is_empty() && !text.contains("version solving failed"));
        let last = log.end_of(last, 1, |text| text.contains("version solving failed"));
        if !(at..=last).any(|index| log.text(index).contains("version solving failed")) {
            return None;
        }
        let tool = if log
            .find_before(at, 60, |text| {
                (text.contains("pubspec") || text.contains("flutter") || text.contains("dart pub"))
                    .then_some(())
            })
            .is_some()
        {
            "pub"
        } else {
            "poetry"
        };
        let family = if tool == "pub" { "pub" } else { "pip" };
        return Some(
            Finding::new(tool, family, ProblemClass::DependencyError, at)
                .code("version_solving")
                .message(text.trim_end_matches(", version solving failed."))
                .until(last),
        );
    }
    None
}

static GEM: Pattern = Pattern::new(
    r"^(?:Could not find gem '([^' ]+)|Bundler could not find compatible versions for gem \x22([^\x22]+)\x22|Could not find ([\w-]+)-[0-9][\w.]* in (?:any of the sources|locally installed gems|cached gems)|ERROR: +Could not find a valid gem '([^']+)')",
);
static COMPOSER: Pattern = Pattern::new(
    r"^\s+- (?:Root )?(\S+?)(?: \S+)? requires ([\w./-]+)(?: \S+)?[, ].*(?:could not be found|not found|does not satisfy|conflict|it does not match|not loaded|missing)",
);
static APT: Pattern = Pattern::new(
    r"^E: (?:Unable to locate package (\S+)|Package '([^']+)' has no installation candidate|Couldn't find any package by .* '([^']+)')",
);
static APK: Pattern = Pattern::new(r"^\s+([\w.+-]+) \(no such package\):");
static CONDA: Pattern = Pattern::new(r"^\s+- ([\w.-]+)(?:[=<>].*)?$");
static BREW: Pattern = Pattern::new(
    r#"^Error: No (?:available formula|formulae or casks found).* (?:with the name|for) "?([\w@./-]+?)"?\.?$"#,
);

fn recognize_other(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let missing = |tool: &str, family: &str, name: &str| {
        Finding::new(tool, family, ProblemClass::DependencyError, at)
            .code("not_found")
            .message(format!("Could not find {}", symbol(name)))
    };
    if (text.contains("gem") || text.contains("Could not find "))
        && let Some(groups) = GEM.captures(text)
    {
        let name = (1..=4).find_map(|index| groups.some(index))?;
        return Some(missing("bundler", "bundler", name));
    }
    if text.contains(" requires ") && text.contains("  - ") {
        let groups = COMPOSER.captures(text)?;
        return Some(
            Finding::new("composer", "composer", ProblemClass::DependencyError, at)
                .code("requires")
                .message(format!("{} requires {}", symbol(groups.get(1)), symbol(groups.get(2)))),
        );
    }
    if text.starts_with("E: ") {
        if let Some(groups) = APT.captures(text) {
            let name = (1..=3).find_map(|index| groups.some(index))?;
            return Some(missing("apt", "apt", name));
        }
        let message = text.trim_start_matches("E: ");
        return Some(
            Finding::new("apt", "apt", ProblemClass::DependencyError, at).message(message).or_system(),
        );
    }
    if text.contains("(no such package)") {
        return Some(missing("apk", "apk", APK.captures(text)?.get(1)));
    }
    if text.starts_with("PackagesNotFoundError:") || text.starts_with("ResolvePackageNotFound") {
        let (last, name) =
            log.find_after(at, 4, |text| CONDA.captures(text).map(|groups| groups.get(1).to_owned()))?;
        return Some(missing("conda", "conda", &name).until(last));
    }
    if text.starts_with("Error: No ") {
        return Some(missing("brew", "brew", BREW.captures(text)?.get(1)));
    }
    None
}
