//! Copies of a capsule under another id: as it is, so that its validation passes, or with its change emptied, so that it
//! fails.

use crate::assets::id::AssetId;
use capsid_model::Object;
use capsid_model::asset::stamp;
use capsid_rules::learning::check_files::is_check_file;

/// Files that say how tests are run stay as they are.
const MANIFESTS: [&str; 3] = ["package.json", "Cargo.toml", "pyproject.toml"];

/// A copy, and the id that its content has. None of a capsule that changes files which are not its own, for nobody but its
/// publisher could try that without its change.
pub(super) fn make_copy(
    body: &str,
    commands: &[String],
    passes: bool,
    fresh: &str,
) -> Option<(AssetId, String)> {
    let mut object: Object = serde_json::from_str(body).ok()?;
    // The publisher's own id is the part that can be another without any difference.
    if object.contains_key("reproduction") || !object.contains_key("id") {
        return None;
    }
    let emptied = empty_change(object.get("diff")?.as_str()?, commands)?;
    if !passes {
        object.insert("diff".to_owned(), emptied.into());
    }
    object.insert("id".to_owned(), format!("capsule_{fresh}").into());
    stamp(&mut object);
    let id = AssetId::parse(object.get("asset_id")?.as_str()?)?;
    Some((id, serde_json::to_string(&object).ok()?))
}

/// A diff with every file emptied that is no test. None where it does anything but make new files, or makes nothing but
/// tests.
fn empty_change(diff: &str, commands: &[String]) -> Option<String> {
    let mut lines = diff.lines().peekable();
    let (mut emptied, mut has_source) = (String::new(), false);
    while let Some(header) = lines.next() {
        let (_, path) = header.strip_prefix("diff --git a/")?.split_once(" b/")?;
        let mode = lines.next().filter(|line| line.starts_with("new file mode 100"))?;
        let mut rest = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("@@") && !line.starts_with("diff ")) {
            rest.push(line);
        }
        if let Some(range) = lines.next_if(|line| line.starts_with("@@")) {
            rest.push(range);
            let added = range.strip_prefix("@@ -0,0 +1")?.split_once(" @@")?.0;
            let count: usize = if added.is_empty() { 1 } else { added.strip_prefix(',')?.parse().ok()? };
            for _ in 0..count {
                rest.push(lines.next().filter(|line| line.starts_with('+'))?);
            }
            rest.extend(lines.next_if(|line| line.starts_with('\\')));
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        let stays = MANIFESTS.contains(&name) || is_check_file(path, commands);
        has_source |= !stays && rest.iter().any(|line| line.starts_with("@@"));
        let kept = if stays { rest } else { vec!["index 0000000..e69de29"] };
        for line in [header, mode].into_iter().chain(kept) {
            emptied.push_str(line);
            emptied.push('\n');
        }
    }
    has_source.then_some(emptied)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn made(path: &str, line: &str) -> String {
        format!(
            "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{line}\n"
        )
    }

    #[test]
    fn the_change_is_emptied_and_its_test_stays() {
        let commands = ["node adder.test.js".to_owned()];
        let test = made("adder.test.js", "require('./adder')");
        let emptied =
            empty_change(&format!("{}{test}", made("adder.js", "exports.add = 1")), &commands).unwrap();
        assert!(emptied.contains(&test) && !emptied.contains("exports.add"), "{emptied}");
        assert!(emptied.starts_with("diff --git a/adder.js b/adder.js\nnew file mode 100644\nindex "));
        let changed = "--- a/a.js\n+++ b/a.js\n@@ -1 +1 @@\n-a\n+b\n";
        for odd in
            ["", test.as_str(), changed, "diff --git a/x b/x\nnew file mode 100644\n@@ -0,0 +1,9 @@\n+x\n"]
        {
            assert_eq!(empty_change(odd, &commands), None, "{odd}");
        }
    }

    #[test]
    fn a_copy_has_an_id_of_its_own_that_holds() {
        let commands = ["node adder.test.js".to_owned()];
        let diff = format!("{}{}", made("adder.js", "exports.add = 1"), made("adder.test.js", "1"));
        let body =
            json!({"type": "Capsule", "id": "capsule_adder", "diff": diff, "confidence": 0.5}).to_string();
        for passes in [true, false] {
            let (id, copy) = make_copy(&body, &commands, passes, "0a1b").unwrap();
            assert!(capsid_model::asset::verify_text(&copy).unwrap().holds(), "{copy}");
            assert!(copy.contains(&id.to_string()) && copy.contains("capsule_0a1b"));
            assert_eq!(copy.contains("exports.add"), passes);
        }
        let bundled = body.replace("\"confidence\"", "\"reproduction\"");
        assert_eq!(make_copy(&bundled, &commands, true, "0a1b"), None);
        let nameless = body.replace("\"id\"", "\"name\"");
        assert_eq!(make_copy(&nameless, &commands, true, "0a1b"), None);
    }
}
