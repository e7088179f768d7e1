//! The options of `capsid-bench learning`.

use crate::Result;
use std::path::PathBuf;

/// Which rules run.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum RuleChoice {
    Ours,
    Reference,
    #[default]
    Both,
}

impl RuleChoice {
    pub fn has_ours(self) -> bool {
        self != Self::Reference
    }

    pub fn has_reference(self) -> bool {
        self != Self::Ours
    }
}

/// The two halves of the bench.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BenchHalf {
    /// Rules that read logs.
    Diagnosis,
    /// Cycles in repositories.
    Engine,
}

/// What to run.
#[derive(Clone, Debug, Default)]
pub struct LearningOptions {
    /// A tenth of the work.
    pub is_quick: bool,
    pub rules: RuleChoice,
    /// The seed of the held-out variants and of the simulated agents.
    pub seed: Option<u64>,
    /// Score another folder with labelled logs, and nothing else.
    pub logs: Option<PathBuf>,
    /// Write the generated logs into this folder.
    pub kept_variants: Option<PathBuf>,
    /// The families whose repositories are used; all of them if it is empty.
    pub families: Vec<String>,
    /// Print what takes how long.
    pub is_verbose: bool,
    /// Leave out the other half.
    pub only: Option<BenchHalf>,
}

impl LearningOptions {
    /// Whether the repositories of a family are used.
    pub fn accepts_family(&self, name: &str) -> bool {
        self.families.is_empty() || self.families.iter().any(|known| known == name)
    }

    pub fn parse(words: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--quick" => options.is_quick = true,
                "--families" => options.families = value()?.split(',').map(str::to_owned).collect(),
                "--verbose" => options.is_verbose = true,
                "--only" => {
                    options.only = match value()?.as_str() {
                        "diagnosis" => Some(BenchHalf::Diagnosis),
                        "engine" => Some(BenchHalf::Engine),
                        other => {
                            return Err(format!("--only is diagnosis or engine, not `{other}`").into());
                        }
                    }
                }
                "--seed" => options.seed = Some(value()?.parse().map_err(|_| "--seed is a whole number")?),
                "--logs" => options.logs = Some(PathBuf::from(value()?)),
                "--keep-variants" => options.kept_variants = Some(PathBuf::from(value()?)),
                "--rules" => {
                    options.rules = match value()?.as_str() {
                        "ours" => RuleChoice::Ours,
                        "reference" => RuleChoice::Reference,
                        "both" => RuleChoice::Both,
                        other => {
                            return Err(format!("--rules is ours, reference or both, not `{other}`").into());
                        }
                    }
                }
                other => {
                    return Err(format!(
                        "no option `{other}`; there are --quick, --only, --families, --verbose, --rules, --seed, --keep-variants and --logs"
                    )
                    .into());
                }
            }
        }
        Ok(options)
    }
}
