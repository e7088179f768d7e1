use super::*;

fn plain(text: &str) -> String {
    TextView::plain(text).text.into_owned()
}

#[test]
fn colours_and_line_starts_are_no_part_of_a_line() {
    for (text, expected) in [
        ("\u{1b}[33mTOKEN\u{1b}[0m=\u{1b}[38;5;12mx\u{1b}[K", "TOKEN=x"),
        ("\u{1b}]8;;https://a.test\u{1b}\\link\u{1b}]8;;\u{7}!", "link!"),
        ("     7→  a: b\n     8→  c", "  a: b\n  c"),
        ("    12\ta\n", "a\n"),
        ("+a\n-b\n c", "a\nb\n c"),
        ("\u{1b}[32m+\u{1b}[m\u{1b}[32m  a\u{1b}[m", "  a"),
        ("> a\n> > b", "a\nb"),
        ("web-1  | a", "a"),
        ("src/a.rs:12:let x", "let x"),
        ("--- a/x\n-----BEGIN", "--- a/x\n-----BEGIN"),
        ("10:30 is a time, 12 eggs", "30 is a time, 12 eggs"),
    ] {
        assert_eq!(plain(text), expected);
    }
}

#[test]
fn a_text_without_any_is_not_copied() {
    for text in ["", "a\nb = c\n", "fn main() {\n    x();\n}\n"] {
        assert!(TextView::plain(text).is_original());
        assert!(TextView::unescaped(text).is_none());
    }
}

#[test]
fn every_byte_of_a_view_knows_where_it_came_from() {
    let text = "x\n\"a\\u001b[1mb\\u001b[0m\\n     1→c\\\\\\\"d\\\\\\\"\"\nplain\n\u{1b}[1mö\u{1b}[0m!\n";
    let plain = TextView::plain(text);
    let once = TextView::unescaped(text).unwrap();
    let twice = once.deeper(TextView::unescaped(&once.text).unwrap());
    assert_eq!(plain.text, "x\n\"a\\u001b[1mb\\u001b[0m\\n     1→c\\\\\\\"d\\\\\\\"\"\nplain\nö!\n");
    assert_eq!(once.text, "\"ab\nc\\\"d\\\"\"\n");
    assert_eq!(twice.text, "c\"d\"\"\n");
    for view in [&plain, &once, &twice] {
        for (at, character) in view.text.char_indices() {
            let from = &text[view.original(at..at + character.len_utf8())];
            assert!(from.ends_with(character) || from == "\\n", "{character:?} from {from:?}");
        }
    }
}

#[test]
fn a_range_of_a_view_covers_what_stood_between() {
    let text = "\u{1b}[1mTO\u{1b}[2mKEN\u{1b}[0m";
    let view = TextView::plain(text);
    assert_eq!(view.text, "TOKEN");
    assert_eq!(&text[view.original(0..5)], "TO\u{1b}[2mKEN");
}
