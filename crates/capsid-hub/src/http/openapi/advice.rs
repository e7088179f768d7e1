//! What somebody's own memory advises.

use super::describe::told;

told! {
    /// Advice on genes. Its names are those that clients of a memory graph know.
    Advice {
        /// The key of the signals, by which outcomes are learned.
        #[serde(rename = "currentSignalKey")]
        current_signal_key: String,
        /// The gene that did best for the asker.
        #[serde(rename = "preferredGeneId")]
        preferred_gene_id: Option<String>,
        /// Genes that keep failing for the asker.
        #[serde(rename = "bannedGeneIds")]
        banned_gene_ids: Vec<String>,
        /// Why, one reason a line.
        explanation: Vec<String>,
        basis: AdviceBasis,
    }

    /// What the advice stands on.
    AdviceBasis {
        /// Outcomes that the asker recorded.
        own: i64,
        /// Solutions of others that were found to work on such signals and follow one of the genes.
        hub: i64,
    }
}
