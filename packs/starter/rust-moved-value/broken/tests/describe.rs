#[test]
fn names_are_counted_and_joined() {
    let names = vec!["Ada".to_owned(), "Ben".to_owned()];
    assert_eq!(names::describe(names), "2 names: Ada, Ben");
}
