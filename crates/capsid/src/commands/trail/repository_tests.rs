use super::*;

fn folder(environment: &str) -> Option<PathBuf> {
    folder_in(&parse(&format!(r#"{{"context":{{"environment":{environment}}}}}"#)).unwrap())
}

#[test]
fn a_record_names_its_folder_by_cwd_repository_or_workspace() {
    assert_eq!(folder(r#"{"cwd":"/a","repository":"/b"}"#), Some("/a".into()));
    assert_eq!(folder(r#"{"cwd":"","workspace_roots":["/c","/d"]}"#), Some("/c".into()));
    assert_eq!(folder(r#"{"repository":"/b"}"#), Some("/b".into()));
    assert_eq!(folder(r#"{"cwd":7}"#), None);
}

#[test]
fn a_folder_belongs_to_the_nearest_repository_even_when_it_is_gone() {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("inner");
    for root in [outer.path(), &inner] {
        std::fs::create_dir_all(root.join(".git")).unwrap();
    }
    let root = |path: &Path| repository_of(path).map(|root| root.canonicalize().unwrap());
    assert_eq!(root(&inner.join("gone/deep")), Some(inner.canonicalize().unwrap()));
    assert_eq!(root(&outer.path().join("gone")), Some(outer.path().canonicalize().unwrap()));
}
