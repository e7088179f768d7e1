//! What a log says is wrong: diagnostics, and the diagnosis that is made of them.

use super::RULES_VERSION;
use super::ids::DiagnosisIds;
use serde::{Deserialize, Serialize};

/// The kind of a problem. Each is also the name of a signal.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemClass {
    CompileError,
    SyntaxError,
    LintError,
    LinkError,
    BuildError,
    TestFailure,
    Exception,
    Crash,
    Timeout,
    OutOfMemory,
    DiskFull,
    ResourceLimit,
    PermissionDenied,
    NotFound,
    DependencyError,
    NetworkError,
    TlsError,
    HttpError,
    DatabaseError,
    ContainerError,
    VcsError,
    ConfigError,
    CiError,
    UnknownError,
}

impl ProblemClass {
    pub const ALL: [Self; 24] = [
        Self::CompileError,
        Self::SyntaxError,
        Self::LintError,
        Self::LinkError,
        Self::BuildError,
        Self::TestFailure,
        Self::Exception,
        Self::Crash,
        Self::Timeout,
        Self::OutOfMemory,
        Self::DiskFull,
        Self::ResourceLimit,
        Self::PermissionDenied,
        Self::NotFound,
        Self::DependencyError,
        Self::NetworkError,
        Self::TlsError,
        Self::HttpError,
        Self::DatabaseError,
        Self::ContainerError,
        Self::VcsError,
        Self::ConfigError,
        Self::CiError,
        Self::UnknownError,
    ];

    /// The name of the class, which is the signal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CompileError => "compile_error",
            Self::SyntaxError => "syntax_error",
            Self::LintError => "lint_error",
            Self::LinkError => "link_error",
            Self::BuildError => "build_error",
            Self::TestFailure => "test_failure",
            Self::Exception => "exception",
            Self::Crash => "crash",
            Self::Timeout => "timeout",
            Self::OutOfMemory => "out_of_memory",
            Self::DiskFull => "disk_full",
            Self::ResourceLimit => "resource_limit",
            Self::PermissionDenied => "permission_denied",
            Self::NotFound => "not_found",
            Self::DependencyError => "dependency_error",
            Self::NetworkError => "network_error",
            Self::TlsError => "tls_error",
            Self::HttpError => "http_error",
            Self::DatabaseError => "database_error",
            Self::ContainerError => "container_error",
            Self::VcsError => "vcs_error",
            Self::ConfigError => "config_error",
            Self::CiError => "ci_error",
            Self::UnknownError => "unknown_error",
        }
    }
}

/// How much a diagnostic says. A lower role is used only where no diagnostic has a higher one.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosticRole {
    /// A line that only reports that a command or step failed.
    Wrapper,
    /// A line of level ERROR.
    Generic,
    /// A line that a CI system shows beside the source.
    Annotation,
    /// A failing test without detail.
    Summary,
    /// A tool names a defect.
    Cause,
}

/// One thing that a tool reported.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Diagnostic {
    /// The program that printed it.
    pub tool: String,
    /// What several tools share, and what enters the ids.
    pub family: String,
    pub code: Option<String>,
    pub class: ProblemClass,
    /// The message as it was printed.
    pub message: String,
    /// The message without what differs from run to run.
    pub text: String,
    /// The text without symbols and hosts.
    pub template: String,
    pub symbols: Vec<String>,
    pub test: Option<String>,
    /// The function of the topmost in-app frame.
    pub frame: Option<String>,
    /// The file, without folders.
    pub place: Option<String>,
    pub line: Option<u32>,
    pub role: DiagnosticRole,
    /// Lines of the log, counted from one.
    pub first_line: usize,
    pub last_line: usize,
    /// How often the log shows it.
    pub count: usize,
    /// The line as it stands, where no tool's rule recognized it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain: Option<String>,
}

impl Diagnostic {
    /// The ids of the problem, one per level.
    pub fn ids(&self) -> DiagnosisIds {
        DiagnosisIds::from_diagnostic(self)
    }

    /// The signal `errsig:…`, which stands for the message level.
    pub fn errsig(&self) -> String {
        super::errsig::render_errsig(self)
    }

    /// What a file stores about this problem; `also` holds the exact ids of the others.
    pub fn to_record(&self, also: &[Self]) -> ProblemRecord {
        ProblemRecord {
            v: RULES_VERSION,
            tool: self.tool.clone(),
            family: self.family.clone(),
            code: self.code.clone(),
            class: self.class,
            text: self.text.clone(),
            symbols: self.symbols.clone(),
            test: self.test.clone(),
            frame: self.frame.clone(),
            place: self.place.clone(),
            ids: self.ids(),
            also: also.iter().map(|other| other.ids().exact).collect(),
            raw: self.plain.clone(),
        }
    }
}

/// The member `problem` of runs, events and capsules.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ProblemRecord {
    pub v: u32,
    pub tool: String,
    pub family: String,
    pub code: Option<String>,
    pub class: ProblemClass,
    pub text: String,
    #[serde(default)]
    pub symbols: Vec<String>,
    #[serde(default)]
    pub test: Option<String>,
    #[serde(default)]
    pub frame: Option<String>,
    #[serde(default)]
    pub place: Option<String>,
    pub ids: DiagnosisIds,
    /// The exact ids of the other problems of the same log.
    #[serde(default)]
    pub also: Vec<String>,
    /// The line that names the problem, as it was printed, for engines that compare lines. It is part of no key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

impl ProblemRecord {
    /// The signature that an engine which compares lines makes of this problem.
    pub fn raw_errsig(&self) -> Option<String> {
        self.raw.as_deref().map(super::errsig::render_raw_errsig)
    }
}

/// Lines of the log around a diagnostic.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct LogWindow {
    pub first_line: usize,
    pub last_line: usize,
    pub lines: Vec<String>,
}

/// What a log shows.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Diagnosis {
    /// The live problem.
    pub problem: Option<Diagnostic>,
    /// Other problems of the log, at most eight.
    pub also: Vec<Diagnostic>,
    pub windows: Vec<LogWindow>,
    /// The command whose output shows the problem.
    pub command: Option<String>,
    /// Whether a summary says that everything passed.
    pub passed: bool,
    pub lines: usize,
    pub warnings: usize,
}

impl Diagnosis {
    /// What a file stores about the live problem.
    pub fn to_record(&self) -> Option<ProblemRecord> {
        let problem = self.problem.as_ref()?;
        let mut record = problem.to_record(&self.also);
        record.raw = record.raw.or_else(|| self.find_raw_line(problem));
        Some(record)
    }

    /// The first of a problem's lines that an engine which compares lines takes for its signature: the first that says
    /// `error:` or the like, otherwise the first of all.
    fn find_raw_line(&self, problem: &Diagnostic) -> Option<String> {
        let own = problem.first_line..=problem.last_line;
        let numbered = self.windows.iter().flat_map(|window| (window.first_line..).zip(&window.lines));
        let lines: Vec<&String> =
            numbered.filter(|(number, _)| own.contains(number)).map(|(_, line)| line).collect();
        let named = lines.iter().find(|line| super::errsig::names_error(line));
        named.or_else(|| lines.first()).map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
    }
}
