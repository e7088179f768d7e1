//! The genes a new store starts with.

use capsid_model::asset::stamp;
use capsid_model::{Object, SCHEMA_VERSION, Value, json};

/// The three genes, stamped, with the commands that prove a change in this repository.
pub fn genes(validation: &[String]) -> Vec<Object> {
    [
        json!({
            "id": "gene_gep_repair_from_errors",
            "category": "repair",
            "signals_match": ["error", "exception", "failed", "crash", "timeout", "unstable"],
            "summary": "Find the cause of an error in the signals and remove it with the smallest change.",
            "preconditions": ["the signals name an error"],
            "strategy": [
                "Read the error signature and find the code that raises it.",
                "Write down the cause in one sentence before changing anything.",
                "Make the smallest change that removes the cause, not the symptom.",
                "Run the validation commands and read what they print.",
                "Leave everything that has nothing to do with the error as it is."
            ],
            "constraints": {"max_files": 20, "forbidden_paths": [".git", "node_modules"]},
        }),
        json!({
            "id": "gene_gep_optimize_prompt_and_assets",
            "category": "optimize",
            "signals_match": ["protocol", "gep", "prompt", "audit", "reusable", "perf_bottleneck"],
            "summary": "Make what works cheaper, clearer or more reusable without changing what it does.",
            "preconditions": ["no error is open"],
            "strategy": [
                "Name what is slow, costly or hard to reuse, with the evidence from the signals.",
                "Measure or count it, so that the gain can be seen afterwards.",
                "Change one thing at a time and keep the behaviour.",
                "Run the validation commands and compare."
            ],
            "constraints": {"max_files": 20, "forbidden_paths": [".git", "node_modules"]},
        }),
        json!({
            "id": "gene_gep_innovate_from_opportunity",
            "category": "innovate",
            "signals_match": [
                "user_feature_request", "user_improvement_suggestion", "perf_bottleneck", "capability_gap",
                "stable_success_plateau", "external_opportunity"
            ],
            "summary": "Build the smallest useful version of something that users ask for or that is missing.",
            "preconditions": ["a request, a gap or a plateau is in the signals"],
            "strategy": [
                "Say in one sentence who needs what, and how one will see that it works.",
                "Build the smallest version that a user can use, with a test.",
                "Fit it into the structure that is there.",
                "Run the validation commands.",
                "Say what was left out."
            ],
            "constraints": {"max_files": 25, "forbidden_paths": [".git", "node_modules"]},
        }),
    ]
    .into_iter()
    .map(|body| finished(body, validation))
    .collect()
}

fn finished(body: Value, validation: &[String]) -> Object {
    let mut gene = Object::new();
    gene.insert("type".to_owned(), Value::from("Gene"));
    gene.insert("schema_version".to_owned(), Value::from(SCHEMA_VERSION));
    if let Value::Object(members) = body {
        gene.extend(members);
    }
    gene.insert("validation".to_owned(), validation.into());
    stamp(&mut gene);
    gene
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::asset;

    #[test]
    fn built_in_genes_verify() {
        for gene in genes(&["npm test".to_owned()]) {
            assert!(asset::verify(&gene).holds(), "{gene:?}");
        }
    }
}
