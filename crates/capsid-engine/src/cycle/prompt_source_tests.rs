use super::*;
use capsid_rules::diagnosis::diagnose;

fn files(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_name_means_the_one_file_that_ends_like_it() {
    let files = files(&["src/order.ts", "lib/order.ts", "src/cart.ts", "index.js", "web/src/app.ts"]);
    let resolve = |name: &str| resolve_file(name, &files, Path::new("/repo"));
    assert_eq!(resolve("cart.ts").as_deref(), Some("src/cart.ts"));
    assert_eq!(resolve("/repo/src/order.ts").as_deref(), Some("src/order.ts"));
    assert_eq!(resolve("/home/ci/work/lib/order.ts").as_deref(), Some("lib/order.ts"));
    assert_eq!(resolve("./src/app.ts").as_deref(), Some("web/src/app.ts"));
    assert_eq!(resolve("C:\\ci\\src\\cart.ts").as_deref(), Some("src/cart.ts"));
    assert_eq!(resolve("order.ts"), None, "two files have that name");
    assert_eq!(resolve("missing.ts"), None);
    assert_eq!(resolve(""), None);
}

#[test]
fn places_are_read_from_compilers_and_stack_traces() {
    for (log, file, line) in [
        (
            "src/order.ts(7,3): error TS2322: Type 'string' is not assignable to type 'number'.\n",
            "src/order.ts",
            7,
        ),
        ("error[E0308]: mismatched types\n --> src/config.rs:12:5\n", "src/config.rs", 12),
        (
            "Traceback (most recent call last):\n  File \"app/shop.py\", line 31, in total\n    x = y\nNameError: name 'y' is not defined\n",
            "app/shop.py",
            31,
        ),
        (
            "TypeError: x is not a function\n    at total (/srv/app/src/cart.js:9:11)\n    at node:internal/main:1:2\n    at f (/srv/app/node_modules/a/b.js:1:1)\n",
            "/srv/app/src/cart.js",
            9,
        ),
    ] {
        let diagnosis = diagnose(log);
        let problem = diagnosis.problem.as_ref().unwrap();
        let found = find_mentions(problem, &diagnosis);
        assert_eq!(found, [NamedPlace { file: file.to_owned(), line }], "{log}");
    }
}

#[test]
fn an_excerpt_has_four_lines_on_each_side_and_follows_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = (1..=20).map(|line| format!("line {line}\n")).collect();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    write_file(&folder.path().join("src/a.rs"), text.as_bytes());
    let excerpt = read_excerpt(folder.path(), "src/a.rs", 7).unwrap();
    assert_eq!((excerpt.first_line, excerpt.focus, excerpt.lines.len()), (3, 4, 9));
    assert_eq!((excerpt.lines[4].as_str(), excerpt.lines[8].as_str()), ("line 7", "line 11"));
    let start = read_excerpt(folder.path(), "src/a.rs", 1).unwrap();
    assert_eq!((start.first_line, start.focus, start.lines.len()), (1, 0, 5));
    assert_eq!(read_excerpt(folder.path(), "src/a.rs", 20).unwrap().lines.len(), 5);
    assert_eq!(read_excerpt(folder.path(), "src/a.rs", 21), None);
    assert_eq!(read_excerpt(folder.path(), "src", 1), None);
    let elsewhere = tempfile::tempdir().unwrap();
    write_file(&elsewhere.path().join("secret"), b"a\nb\n");
    std::os::unix::fs::symlink(elsewhere.path().join("secret"), folder.path().join("link")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("folder")).unwrap();
    assert_eq!(read_excerpt(folder.path(), "link", 1), None);
    assert_eq!(read_excerpt(folder.path(), "folder/secret", 1), None);
    write_file(&folder.path().join("binary"), b"a\0b\n");
    assert_eq!(read_excerpt(folder.path(), "binary", 1), None);
}

fn write_file(path: &Path, bytes: &[u8]) {
    capsid_disk::files::replace_private(path, bytes).unwrap();
}
