//! Looking at chains in the browser: who is answered, what is served, and the page that works from disk.

use capsid_model::{Value, exact};
use capsid_testkit::served_program::ServedProgram;
use capsid_testkit::trail_user::{SESSION, TrailUser};

/// A request that would end the element around it, if it were written as it is.
const HOSTILE: &str = "</script><script>alert(1)</script><!-- \u{2028}";

const NEEDS_PAGES: &str = "run `make web` first";

fn sealed() -> TrailUser {
    let desk = TrailUser::new(env!("CARGO_BIN_EXE_capsid"));
    let path = desk.transcript(SESSION, 2);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines[0]["message"]["content"] = HOSTILE.into();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, text).unwrap();
    desk.expect(0, &["trail", "seal", "--tool", "claude-code", "--session", SESSION, "--finalize"]);
    desk
}

/// The same, where a page on disk can be written.
fn sealed_with_pages() -> TrailUser {
    let desk = sealed();
    let ran = desk.run(&["trail", "export", "--html", "first.html"]);
    assert!(!ran.stderr.contains("pages_missing"), "{NEEDS_PAGES}");
    desk
}

/// Starts `capsid trail explore`.
fn explore(desk: &TrailUser, more: &[&str]) -> ServedProgram {
    let words = [&["trail", "explore", "--port", "0"], more].concat();
    ServedProgram::start(desk.program.command(desk.home(), &words), "/explorer")
}

#[test]
fn only_who_has_the_key_and_means_this_machine_is_answered() {
    let desk = sealed();
    let explored = explore(&desk, &[]);
    let (host, key) = (explored.host.as_str(), format!("authorization: Bearer {}\r\n", explored.key));
    let index = "/local/trail/index.json";
    assert_eq!(explored.get(index).status, 200);
    for wrong in ["", "authorization: Bearer 0\r\n", "authorization: Basic 0\r\n"] {
        let got = explored.send("GET", index, host, wrong);
        assert_eq!(got.status, 401, "{wrong}");
        assert!(got.text().contains("\"fix\"") && !got.text().contains(SESSION));
    }
    for other in ["evil.example", &host.replace("127.0.0.1", "evil.example"), "127.0.0.1", ""] {
        for path in [index, "/explorer", "/favicon.svg"] {
            assert_eq!(explored.send("GET", path, other, &key).status, 403, "{other} {path}");
        }
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        let got = explored.send(method, index, host, &key);
        assert_eq!(got.status, 405, "{method}");
        assert!(!got.head.contains("access-control"));
    }
    let page = explored.send("GET", "/explorer", host, "");
    assert_eq!(page.status, 200);
    assert!(page.text().contains("/_app/immutable/"), "{NEEDS_PAGES}");
    assert!(page.text().contains(r#"<meta name="capsid-place" content="local" />"#));
    assert!(page.head.contains("content-security-policy: default-src 'none'"), "{}", page.head);
    let first = explored.send("GET", "/", host, "");
    assert_eq!(first.status, 307);
    assert!(first.head.contains("location: /explorer"), "{}", first.head);
    assert_eq!(explored.send("GET", "/browse", host, "").status, 404, "the hub's pages are not here");
    let head = explored.send("HEAD", "/favicon.svg", host, "");
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert!(explored.get(index).head.contains("cache-control: no-store"));
}

#[test]
fn what_is_served_is_what_an_export_holds_and_grows_with_the_chains() {
    let desk = sealed();
    let explored = explore(&desk, &[]);
    desk.expect(0, &["trail", "export", "--out", "bundle"]);
    let file = |name: &str| std::fs::read_to_string(desk.home().join("bundle").join(name)).unwrap();
    let chain = format!("claude-code-{SESSION}.json");
    let index = explored.get("/local/trail/index.json").json();
    let exported: Value = serde_json::from_str(&file("index.json")).unwrap();
    assert_eq!(
        (&index["chains"], &index["meta"], &index["keys"]),
        (&exported["chains"], &exported["meta"], &exported["keys"])
    );
    for name in [chain.as_str(), "meta.json"] {
        assert_eq!(explored.get(&format!("/local/trail/{name}")).text(), file(name));
    }
    assert_eq!(explored.get(&format!("/local/trail/{}", chain.replace('-', "%2D"))).status, 200);
    for name in ["nothing.json", "..%2f..%2fkey", "../key", "key", "%ff"] {
        assert_eq!(explored.get(&format!("/local/trail/{name}")).status, 404, "{name}");
    }
    let keys = explored.get("/local/trail/keys.json").json();
    assert_eq!(keys["own"], exported["public_key"]);
    assert_eq!((keys["pinned"].as_array().unwrap().len(), &keys["pq"]), (0, &Value::Null));
    std::fs::write(desk.trail().join("key.ml.pub"), [0xab; 1952]).unwrap();
    let keys = explored.get("/local/trail/keys.json").json();
    assert_eq!(keys["pq"], "ab".repeat(1952));
    let about = explored.get("/local/about").json();
    assert_eq!((&about["has_trail"], &about["repository"]), (&Value::Bool(true), &Value::Null));

    desk.transcript("other-session", 1);
    desk.expect(0, &["trail", "seal", "--all"]);
    let index = explored.get("/local/trail/index.json").json();
    assert_eq!(index["chain_count"], 2);

    let bundle = explore(&desk, &["bundle"]);
    for name in [chain.as_str(), "meta.json", "index.json"] {
        assert_eq!(
            bundle.get(&format!("/local/trail/{name}")).text(),
            file(name),
            "a bundle is shown as it lies there"
        );
    }
    assert_eq!(bundle.get("/local/trail/..%2f.claude").status, 404);
    let keys = bundle.get("/local/trail/keys.json").json();
    let files: Vec<&str> = keys["files"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(files.contains(&chain.as_str()) && files.contains(&"heads.json"), "{files:?}");

    // One record is read again without all that is in front of it, of a bundle and of a home.
    let whole = file(&chain);
    let part = |viewer: &ServedProgram, range: &str| {
        let headers = format!("authorization: Bearer {}\r\nrange: bytes={range}\r\n", viewer.key);
        viewer.send("GET", &format!("/local/trail/{chain}"), &viewer.host, &headers)
    };
    for viewer in [&bundle, &explored] {
        let got = part(viewer, "10-29");
        assert_eq!((got.status, got.text()), (206, &whole[10..30]));
    }
    assert_eq!(part(&bundle, "99999999-99999999").status, 416);
    desk.expect(2, &["trail", "explore", "nowhere"]);
}

#[test]
fn chains_that_cannot_be_read_are_shown_as_such() {
    let desk = sealed();
    std::fs::write(desk.chain("torn"), "no database at all").unwrap();
    let explored = explore(&desk, &[]);
    let index = explored.get("/local/trail/index.json").json();
    let chains = index["chains"].as_array().unwrap();
    let torn = chains.iter().find(|chain| chain["id"] == "claude-code-torn").unwrap();
    assert_eq!((chains.len(), &torn["length"]), (2, &Value::from(0)));
    assert!(!torn["unreadable"].as_str().unwrap().is_empty());
    let file = explored.get("/local/trail/claude-code-torn.json");
    let file: Value = serde_json::from_slice(&file.body).unwrap();
    assert_eq!(file["capsules"].as_array().unwrap().len(), 0);
}

/// The files that lie in a page: their names and their text.
fn files_in(page: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for part in page.split("<script type=\"application/json\" data-file=\"").skip(1) {
        let (name, rest) = part.split_once("\">").unwrap();
        files.push((name.to_owned(), rest.split_once("</script>").unwrap().0.to_owned()));
    }
    files
}

#[test]
fn one_page_holds_the_whole_bundle_and_nothing_in_it_can_act() {
    let desk = sealed_with_pages();
    desk.expect(0, &["trail", "export", "--html", "trail.html", "--out", "bundle"]);
    let page = std::fs::read_to_string(desk.home().join("trail.html")).unwrap();
    let files = files_in(&page);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, [&format!("claude-code-{SESSION}.json"), "meta.json", "heads.json", "index.json"]);
    for (name, text) in &files {
        assert!(!text.contains('<') && !text.contains('\u{2028}'), "{name}");
        let exported = std::fs::read_to_string(desk.home().join("bundle").join(name)).unwrap();
        assert_eq!(exact::parse(text).unwrap(), exact::parse(&exported).unwrap(), "{name}");
        assert_eq!(text.replace("\\u003c", "<").replace("\\u2028", "\u{2028}"), exported, "{name}");
    }
    assert!(files[0].1.contains("\\u003c/script>\\u003cscript>alert(1)"), "the title is there, and inert");
    assert_eq!(page.matches("<script").count(), files.len() + 1, "one script runs");
    assert_eq!(page.matches("</script>").count(), files.len() + 1);
    assert!(page.contains("<meta name=\"capsid-place\" content=\"file\">"));
    assert!(page.contains("content=\"default-src 'none'; script-src 'sha256-"));
    desk.expect(0, &["trail", "verify", "--signatures", "bundle"]);
}

#[test]
fn a_page_replaces_only_its_own_kind() {
    let desk = sealed_with_pages();
    let alone = ["trail", "export", "--html", "trail.html"];
    desk.expect(0, &alone);
    desk.expect(0, &alone);
    assert!(!desk.home().join("bundle").exists());
    std::fs::write(desk.home().join("trail.html"), "mine").unwrap();
    let refused = desk.expect(1, &alone);
    assert!(refused.stderr.contains("change_refused") && refused.stderr.contains("--force"), "{refused}");
    assert_eq!(std::fs::read_to_string(desk.home().join("trail.html")).unwrap(), "mine");
    desk.expect(0, &["trail", "export", "--html", "trail.html", "--force"]);
    desk.expect(2, &["trail", "export"]);
}
