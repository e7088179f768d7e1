//! The writers.

use super::Json;

/// The canonical text: names in code-point order, no white space, nothing escaped that need not be.
pub fn canonical(value: &Json) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

/// Appends the canonical text.
pub fn write_canonical(value: &Json, out: &mut String) {
    let _ = (value, out);
}

/// One line in input order with `, ` and `: ` between, as Python's encoder writes by default, non-ASCII as it is.
pub fn spaced(value: &Json) -> String {
    canonical(value)
}

/// Indented by two in input order, as Python's encoder writes with `indent=2`, non-ASCII as it is.
pub fn indented(value: &Json) -> String {
    canonical(value)
}
