use super::*;
use proptest::prelude::*;

const FIX: &str = "\
diff --git a/src/config.rs b/src/config.rs
--- a/src/config.rs
+++ b/src/config.rs
@@ -10,7 +10,12 @@ fn parse_port(text: &str) -> u16 {
 fn parse_port(text: &str) -> u16 {
-    let port = text;
-    port
+    let trimmed = text.trim();
+    let port = trimmed.parse::<u16>().unwrap_or(DEFAULT_PORT);
+    if port < LOWEST_PORT {
+        log::warn!(\"port {port} needs a privilege\");
+        return DEFAULT_PORT;
+    }
+    port
 }
 ";

const OTHER: &str = "\
--- a/src/config.rs
+++ b/src/config.rs
@@ -40,4 +40,6 @@ impl Config {
     pub fn reload(&mut self) -> io::Result<()> {
-        self.values.clear();
+        let text = fs::read_to_string(&self.path)?;
+        self.values = Values::from_text(&text);
+        self.loaded_at = Instant::now();
         Ok(())
";

const SHORT: &str = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a + 1\n+a + 2\n";

#[test]
fn a_change_is_the_same_solution_as_itself() {
    assert!(is_same_solution(FIX, FIX));
    assert_eq!(change_coverage(FIX, FIX), ChangeCoverage { capsule: 1.0, result: 1.0 });
}

#[test]
fn a_third_of_the_identifiers_renamed_is_the_same_solution() {
    let renamed = FIX
        .replace("trimmed", "clean")
        .replace("LOWEST_PORT", "MIN_PORT")
        .replace("warn", "error")
        .replace("privilege", "permission");
    assert!(is_same_solution(FIX, &renamed), "{:?}", change_coverage(FIX, &renamed));
}

#[test]
fn another_change_of_the_same_file_is_another_solution() {
    assert!(!is_same_solution(FIX, OTHER), "{:?}", change_coverage(FIX, OTHER));
    assert!(!is_same_solution(OTHER, FIX));
}

#[test]
fn the_same_change_in_other_lines_and_another_file_is_the_same_solution() {
    let moved =
        FIX.replace("@@ -10,7 +10,12 @@", "@@ -70,7 +72,12 @@").replace("src/config.rs", "src/port.rs");
    assert!(is_same_solution(FIX, &moved));
}

#[test]
fn a_change_that_is_lost_in_a_large_one_is_no_reuse() {
    let mut large = FIX.to_owned();
    large.push_str("--- a/b.rs\n+++ b/b.rs\n@@ -0,0 +1,200 @@\n");
    for number in 0..200 {
        large.push_str(&format!("+let value_{number} = other_{number}(first, second);\n"));
    }
    let coverage = change_coverage(FIX, &large);
    assert!(coverage.capsule > 0.99 && coverage.result < 0.3, "{coverage:?}");
    assert!(!is_same_solution(FIX, &large));
}

#[test]
fn the_reverse_of_a_change_is_another_solution() {
    let reverse: String = FIX
        .lines()
        .map(|line| match line.split_at_checked(1) {
            Some(("+", rest)) if !rest.starts_with("++") => format!("-{rest}\n"),
            Some(("-", rest)) if !rest.starts_with("--") => format!("+{rest}\n"),
            _ => format!("{line}\n"),
        })
        .collect::<String>()
        .replace("@@ -10,7 +10,12 @@", "@@ -10,12 +10,7 @@");
    assert!(!is_same_solution(FIX, &reverse));
}

#[test]
fn a_short_change_must_be_equal() {
    assert!(is_same_solution(SHORT, SHORT));
    assert!(is_same_solution(SHORT, &SHORT.replace("/x", "/y")));
    assert!(!is_same_solution(SHORT, &SHORT.replace("a + 2", "a + 3")));
    assert!(!is_same_solution(SHORT, FIX));
}

#[test]
fn an_empty_change_is_no_solution() {
    assert!(!is_same_solution("", ""));
    assert!(!is_same_solution(FIX, ""));
    assert!(!is_same_solution("", FIX));
}

#[test]
fn the_headers_of_a_diff_are_no_lines_of_it() {
    let one = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n";
    let two = "diff --git a/y b/y\nindex 1..2 100644\n--- a/y\n+++ b/y\n@@ -5 +5 @@ fn f\n-one\n+two\n";
    assert!(is_same_solution(one, two));
    let with_dashes = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- one\n+++ two\n";
    assert!(!is_same_solution(one, with_dashes), "`-- one` is a removed line here");
}

#[test]
fn files_may_come_in_any_order() {
    let file = |name: &str, word: &str| format!("--- a/{name}\n+++ b/{name}\n@@ -0,0 +1 @@\n+{word}\n");
    let one = file("a", "first") + &file("b", "second");
    let two = file("b", "second") + &file("a", "first");
    assert!(is_same_solution(&one, &two));
}

fn change() -> impl Strategy<Value = String> {
    prop::collection::vec(prop_oneof!["[-+ ][a-d_0-9(){};. ]{0,30}", "[-+ ]\\PC{0,20}"], 0..20).prop_map(
        |lines| format!("--- a/f\n+++ b/f\n@@ -1,{0} +1,{0} @@\n{1}\n", lines.len(), lines.join("\n")),
    )
}

proptest! {
    #[test]
    fn swapped_changes_have_swapped_coverage(a in change(), b in change()) {
        let (there, back) = (change_coverage(&a, &b), change_coverage(&b, &a));
        prop_assert_eq!(there.capsule, back.result);
        prop_assert_eq!(there.result, back.capsule);
        prop_assert!((0.0..=1.0).contains(&there.capsule) && (0.0..=1.0).contains(&there.result));
    }

    #[test]
    fn no_text_panics_the_comparison(a in "\\PC{0,200}", b in "(?s).{0,200}") {
        is_same_solution(&a, &b);
        change_coverage(&a, &b);
    }
}

#[test]
fn two_fixes_of_one_long_line_are_two_solutions() {
    let line = |price: &str, lines: &str| {
        format!(
            "    total = sum(line[\"{price}\"] * line[\"count\"] for line in order[\"{lines}\"] if line[\"count\"] > 0)"
        )
    };
    let diff = |old: &str, new: &str| format!("--- a/o.py\n+++ b/o.py\n@@ -1 +1 @@\n-{old}\n+{new}\n");
    let first = diff(&line("prize", "lines"), &line("price", "lines"));
    let second = diff(&line("price", "line"), &line("price", "lines"));
    assert!(!is_same_solution(&first, &second));
    assert!(is_same_solution(&first, &first));
}
