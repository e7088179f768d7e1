//! Finding the gene in a model's answer. Pure.

use capsid_model::Object;
use capsid_model::gene::Gene;

/// The most braces that are tried. The reader stops at a fixed depth, so this bounds what a hostile text can cost.
const MAX_TRIES: usize = 2000;

/// The first balanced JSON object of type Gene in a text, whatever surrounds it.
pub fn first_gene(text: &str) -> Option<Object> {
    text.match_indices('{').take(MAX_TRIES).find_map(|(at, _)| {
        serde_json::Deserializer::from_str(&text[at..])
            .into_iter::<Object>()
            .next()
            .and_then(Result::ok)
            .filter(Gene::is_gene)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_gene_is_found_among_prose_fences_and_other_objects() {
        let text = r#"Sure {not json}: {"type":"Capsule","note":"}{"}
```json
{"answer": {"type":"Gene","id":"a","s":"\"}"}}
``` {"type":"Gene","id":"b"}"#;
        assert_eq!(first_gene(text).unwrap()["id"], "a");
        assert_eq!(first_gene("{\"type\":\"Gene\",\"id\":"), None);
        assert_eq!(first_gene(""), None);
    }

    #[test]
    fn a_hostile_answer_is_read_quickly() {
        for text in
            ["{".repeat(1 << 20), "{\"a\":".repeat(1 << 18), format!("{{\"a\":[{}", "{},".repeat(1 << 18))]
        {
            assert_eq!(first_gene(&text), None);
        }
    }
}
