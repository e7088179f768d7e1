//! Floats as Python prints them.

/// The shortest text that reads back as the same double: positional for exponents from -4 to 15, else scientific.
pub fn float_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let shortest = shortest(number);
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    match exponent.parse::<i32>().unwrap_or(0) {
        exponent @ -4..16 => format!("{sign}{}", positional(&mantissa.replace('.', ""), exponent)),
        exponent => {
            let direction = if exponent < 0 { '-' } else { '+' };
            format!("{sign}{mantissa}e{direction}{:02}", exponent.unsigned_abs())
        }
    }
}

/// The fewest digits that read back, in scientific notation. Where two such texts are equally near, Python takes the
/// one with the even last digit; Rust's formatter does so only when it is told how many digits to print.
fn shortest(number: f64) -> String {
    let shortest = format!("{number:e}");
    let digits = shortest.split('e').next().unwrap_or_default().trim_start_matches('-');
    if digits.ends_with(['0', '2', '4', '6', '8']) {
        return shortest;
    }
    let even = format!("{number:.*e}", digits.len().saturating_sub(2));
    if even.parse() == Ok(number) { even } else { shortest }
}

/// Puts the point where the exponent says: after the first digit and as many more.
fn positional(digits: &str, exponent: i32) -> String {
    let Ok(more) = usize::try_from(exponent) else {
        return format!("0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1));
    };
    let whole = more + 1;
    match digits.split_at_checked(whole) {
        Some((whole, rest)) if !rest.is_empty() => format!("{whole}.{rest}"),
        _ => format!("{digits:0<whole$}.0"),
    }
}
