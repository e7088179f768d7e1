use super::*;

#[test]
fn the_content_of_protected_files_is_left_out() {
    let patch = "diff --git a/.env b/.env\n-SECRET=old\n+SECRET=new\ndiff --git a/x b/x\n+fine\n";
    let shown = without_protected(patch, &[".env".to_owned()]);
    assert!(!shown.contains("SECRET") && shown.contains("+fine"), "{shown}");
    assert!(shown.contains("left out"));
}
