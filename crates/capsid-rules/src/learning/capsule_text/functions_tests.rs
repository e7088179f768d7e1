use super::*;

#[test]
fn names_are_found_in_hunk_headers_of_many_languages() {
    for (header, name) in [
        ("fn parse_port(text: &str) -> u16 {", Some("parse_port")),
        ("    pub(crate) async fn load<T>(&self) {", Some("load")),
        ("def price(items, discount):", Some("price")),
        ("func (s *Shelf) Count() int {", Some("Count")),
        ("export async function total(items) {", Some("total")),
        ("export default class Cart extends Base {", Some("Cart")),
        ("impl<'a> Config<'a> {", Some("Config")),
        ("static int parse_port(const char *text)", Some("parse_port")),
        ("public BigDecimal roundUp(BigDecimal value) {", Some("roundUp")),
        ("describe(\"cart\", () => {", None),
        ("if (x) {", None),
        ("const a = 1;", None),
        ("", None),
        ("größe(é", Some("größe")),
    ] {
        assert_eq!(find_in_header(header), name, "{header}");
    }
}

#[test]
fn a_sentence_defines_nothing() {
    assert_eq!(find_definition("// the class of the problem"), None);
    assert_eq!(find_definition("let port = parse(text);"), None);
}
