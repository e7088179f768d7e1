//! Floats as Python prints them.

/// The shortest text that reads back as the same double: positional for exponents from -4 to 15, else scientific.
pub fn float_text(number: f64) -> String {
    format!("{number:?}")
}
