/// The extension of a file name; empty where it has none.
pub fn extension(name: &str) -> &str {
    name.rsplit_once('.').unwrap().1
}
