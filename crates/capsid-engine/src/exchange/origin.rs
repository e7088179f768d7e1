//! The origin that an asset names. Pure.

use capsid_model::{Object, Value};

/// One text member of an asset's origin.
pub fn a2a<'a>(asset: &'a Object, name: &str) -> Option<&'a str> {
    asset.get("a2a")?.get(name).and_then(Value::as_str)
}

/// The sender of an asset, if it came from elsewhere; an empty name counts as a stranger's too.
pub fn source(asset: &Object) -> Option<&str> {
    let source = a2a(asset, "source")?.trim();
    Some(if source.is_empty() { "unknown" } else { source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::json;

    #[test]
    fn what_names_a_source_came_from_elsewhere() {
        let of = |a2a: Value| source(json!({"a2a": a2a}).as_object().unwrap()).map(str::to_owned);
        assert_eq!(of(json!({"source": "node_1"})).as_deref(), Some("node_1"));
        assert_eq!(of(json!({"source": " "})).as_deref(), Some("unknown"));
        for own in [json!({}), json!({"source": null}), json!({"source": 7}), json!("x"), json!(null)] {
            assert_eq!(of(own.clone()), None, "{own}");
        }
    }
}
