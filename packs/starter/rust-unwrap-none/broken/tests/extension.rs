#[test]
fn a_name_without_a_dot_has_no_extension() {
    assert_eq!(files::extension("notes.txt"), "txt");
    assert_eq!(files::extension("README"), "");
}
