use app::log::format_line;

#[test]
fn an_error_line_begins_with_its_level() {
    assert_eq!(format_line("ERROR", "disk is full").unwrap(), "ERROR disk is full");
}

#[test]
fn an_unknown_level_is_an_error() {
    assert!(format_line("FATAL", "x").is_err());
}
