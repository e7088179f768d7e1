/// A list of names with how many there are.
pub fn describe(names: Vec<String>) -> String {
    let text = join(names);
    format!("{} names: {text}", names.len())
}

fn join(names: Vec<String>) -> String {
    names.join(", ")
}
