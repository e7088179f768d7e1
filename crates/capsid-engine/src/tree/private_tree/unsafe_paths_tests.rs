use super::*;

#[test]
fn every_spelling_of_the_git_directory_is_known() {
    for part in [
        ".git",
        ".GIT",
        ".Git ",
        ".git.",
        ".git. .",
        "git~1",
        "GIT~1",
        ".git::$INDEX_ALLOCATION",
        ".git:x",
        ".g\u{200c}it",
        "\u{feff}.gIt",
        ".git\u{206f}",
    ] {
        assert!(is_git_spelling(part.as_bytes()), "{part:?}");
    }
    for part in [".gitignore", ".gitmodules", "git", "git~2", ".gitx", "x.git", ".git-hooks", "git~10"] {
        assert!(!is_git_spelling(part.as_bytes()), "{part:?}");
    }
}

#[test]
fn a_link_that_leaves_the_tree_is_noticed_also_through_others() {
    let links = |name: &[u8]| match name {
        b"sub/up" => Some(b"..".to_vec()),
        b"out" => Some(b"/mnt".to_vec()),
        b"loop" => Some(b"loop".to_vec()),
        _ => None,
    };
    let leads = |name: &str, target: &str| leads_out(name.as_bytes(), target.as_bytes(), &links);
    for (name, target) in [
        ("x", "/etc/passwd"),
        ("x", ".."),
        ("a/x", "../../y"),
        ("sub/x", "up/.."),
        ("x", "out/file"),
        ("x", "a/../../b"),
    ] {
        assert!(leads(name, target), "{name} -> {target}");
    }
    for (name, target) in
        [("x", "y"), ("a/x", "../y"), ("sub/x", "up/file"), ("x", "loop"), ("a/b/x", "../../c"), ("x", ".")]
    {
        assert!(!leads(name, target), "{name} -> {target}");
    }
}
