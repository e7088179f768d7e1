//! Lines for the log.

/// Formats one line.
pub fn format_line(level: &str, text: &str) -> Result<String, String> {
    match level {
        "DEBUG" | "INFO" | "WARN" | "ERROR" => Ok(format!("{level} {text}")),
        _ => Err(format!("unknown level: {level}")),
    }
}
