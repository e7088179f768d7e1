use super::*;

const TOML: &str = r#"
    id = "gene_ours"
    category = "repair"
    signals_match = ["timeout"]
    strategy = ["Raise the limit."]
    validation = ["node check.js"]
    constraints = { max_files = 3, forbidden_paths = [".git"] }
"#;

#[test]
fn one_gene_or_several_are_read_from_toml_and_stamped() {
    let one = parse_toml(TOML).unwrap();
    let gene = prepare(one[0].clone(), "g.toml").unwrap();
    assert!(capsid_model::asset::verify(&gene).holds());
    let lines = TOML.trim();
    let two =
        parse_toml(&format!("[[genes]]\n{lines}\n[[genes]]\n{}", lines.replace("ours", "other"))).unwrap();
    assert_eq!(two.len(), 2);
    assert_eq!(parse_toml("id = ").unwrap_err().code, Code::InputInvalid);
}

#[test]
fn what_is_no_gene_is_refused_with_the_reason() {
    let mut gene = parse_toml(TOML).unwrap().remove(0);
    gene["category"] = "mend".into();
    let problem = prepare(gene.clone(), "g.toml").unwrap_err();
    assert_eq!(problem.code, Code::SchemaViolation);
    assert!(problem.message.contains("`category`"), "{}", problem.message);
    gene["type"] = "Capsule".into();
    assert_eq!(prepare(gene, "g.toml").unwrap_err().code, Code::InputInvalid);
    assert_eq!(prepare(Value::Null, "g.toml").unwrap_err().code, Code::InputInvalid);
}

#[test]
fn an_id_that_is_taken_is_refused_and_nothing_is_added() {
    let folder = tempfile::tempdir().unwrap();
    let store = AssetStore::at(folder.path());
    let gene = prepare(parse_toml(TOML).unwrap().remove(0), "g.toml").unwrap();
    assert_eq!(add(&store, &[gene.clone(), gene.clone()]).unwrap_err().code, Code::GeneExists);
    assert!(store.genes.documents().unwrap().is_empty());
    add(&store, std::slice::from_ref(&gene)).unwrap();
    assert_eq!(add(&store, &[gene]).unwrap_err().code, Code::GeneExists);
}
