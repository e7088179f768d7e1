use super::*;
use crate::Code;

fn canonical_of(text: &str) -> String {
    canonical(&parse(text).unwrap())
}

#[test]
fn numbers_keep_their_kind_and_size() {
    for (text, expected) in [
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("0e0", "0.0"),
        ("1E5", "100000.0"),
        ("1.00", "1.0"),
        ("1e-400", "0.0"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "9223372036854775808"),
        ("-9223372036854775809", "-9223372036854775809"),
        ("9007199254740993.0", "9007199254740992.0"),
        ("1e400", "Infinity"),
        ("[NaN,Infinity,-Infinity,-1e999]", "[NaN,Infinity,-Infinity,-Infinity]"),
    ] {
        assert_eq!(canonical_of(text), expected, "{text}");
    }
    let longest = format!("-{}", "9".repeat(4300));
    assert_eq!(canonical_of(&longest), longest);
    assert_eq!(parse(&format!("{longest}9")).unwrap_err().code, Code::JsonInvalid);
}

#[test]
fn floats_print_as_python_prints_them() {
    for (number, text) in [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (100.0, "100.0"),
        (0.1 + 0.7, "0.7999999999999999"),
        (-1e-4, "-0.0001"),
        (0.00123, "0.00123"),
        (1e-5, "1e-05"),
        (-1.2345e-5, "-1.2345e-05"),
        (1e15, "1000000000000000.0"),
        (9999999999999998.0, "9999999999999998.0"),
        (1234567890123456.7, "1234567890123456.8"),
        // Two texts of 16 digits are equally near: the even one.
        (-736209221398973.0 / 8.0, "-92026152674871.62"),
        (736209221398975.0 / 8.0, "92026152674871.88"),
        (1e16, "1e+16"),
        (123456789012345678.0, "1.2345678901234568e+17"),
        (1e100, "1e+100"),
        (5e-324, "5e-324"),
        (f64::MAX, "1.7976931348623157e+308"),
    ] {
        assert_eq!(float_text(number), text);
    }
}

#[test]
fn a_name_that_comes_twice_keeps_its_first_place_and_last_value() {
    let value = parse(r#"{"b":1,"a":2,"b":3,"\u0062":4}"#).unwrap();
    assert_eq!(spaced(&value), r#"{"b": 4, "a": 2}"#);
}

#[test]
fn names_are_sorted_by_code_point_at_every_level() {
    let text = "{\"\u{10000}\":1,\"\u{ffff}\":[{\"b\":1,\"a\":2}],\"\":0,\"aa\":1,\"a\":1,\"Z\":1}";
    let expected = "{\"\":0,\"Z\":1,\"a\":1,\"aa\":1,\"\u{ffff}\":[{\"a\":2,\"b\":1}],\"\u{10000}\":1}";
    assert_eq!(canonical_of(text), expected);
}

#[test]
fn only_what_must_be_is_escaped() {
    let text = "\"\\/<&'\u{7f}\u{80}\u{2028}\u{feff}é😀\0\u{1}\u{b}\u{1f}\n\r\t\u{8}\u{c}";
    let value = ExactJson::from(text);
    let expected =
        "\"\\\"\\\\/<&'\u{7f}\u{80}\u{2028}\u{feff}é😀\\u0000\\u0001\\u000b\\u001f\\n\\r\\t\\b\\f\"";
    assert_eq!(canonical(&value), expected);
    assert_eq!(parse(expected).unwrap(), value);
    let ascii = canonical_ascii(&ExactJson::from("é\u{7f}~😀x\u{ffff}"));
    assert_eq!(ascii, r#""\u00e9\u007f~\ud83d\ude00x\uffff""#);
}

#[test]
fn the_other_layouts_are_pythons() {
    let value = parse(r#"{"b":[1,[],{}],"a":{"é":null,"x":[true,false]}}"#).unwrap();
    assert_eq!(spaced(&value), r#"{"b": [1, [], {}], "a": {"é": null, "x": [true, false]}}"#);
    let lines = "{\n  \"b\": [\n    1,\n    [],\n    {}\n  ],\n  \"a\": {\n    \"é\": null,\n    \"x\": [\n      true,\n      false\n    ]\n  }\n}";
    assert_eq!(indented(&value), lines);
    assert_eq!(indented(&parse(" [ ] ").unwrap()), "[]");
    assert_eq!(indented(&parse(" { } ").unwrap()), "{}");
}

#[test]
fn broken_text_is_refused_with_its_place() {
    for text in [
        "",
        " ",
        "{",
        "[",
        "[1",
        "[1,]",
        "[,1]",
        "{\"a\" 1}",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "01",
        "-",
        "-01",
        "1.",
        ".5",
        "1e",
        "1e+",
        "+1",
        "0x1",
        "-NaN",
        "nan",
        "Inf",
        "nul",
        "truex",
        "1 2",
        "[1]]",
        "'a'",
        "\"a",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\u+123\"",
        "\"\\u123é\"",
        "\"\u{1}\"",
        "\"\n\"",
        "\"12345678\n\"",
        "\u{feff}1",
        "\u{a0}1",
        "1\0",
        "[1}",
        "{\"a\":1]",
        "\"\\ud83d\"",
        "\"\\ude00\"",
        "\"\\ud83d\\u0041\"",
        "\"\\ud83d\\ud83d\"",
        "\"\\ud83dx\"",
    ] {
        let problem = parse(text).expect_err(text);
        assert_eq!(problem.code, Code::JsonInvalid, "{text:?}");
    }
    let problem = parse("{\n\"a\": \"\\ud83d\"}").unwrap_err();
    assert_eq!(problem.message, "Not JSON: half a surrogate pair at byte 8 (line 2).");
}

#[test]
fn what_some_program_wrote_is_read_with_marks_for_what_is_no_text() {
    let read = |bytes: &[u8]| canonical(&parse_lossy(bytes).unwrap());
    assert_eq!(read(br#""\ud83d""#), "\"\u{fffd}\"");
    assert_eq!(read(br#""\ud83d\u0041\ude00\ud83d\ude00""#), "\"\u{fffd}A\u{fffd}😀\"");
    assert_eq!(read(b"\"a\xff\xc3\""), "\"a\u{fffd}\u{fffd}\"");
    assert_eq!(read(b"\xef\xbb\xbf{}"), "{}");
    assert!(parse_lossy(b"\"\\u12\"").is_err());
}

#[test]
fn a_text_is_read_wherever_its_end_lies() {
    for length in 0..40 {
        for special in ["", "\\\"", "é", "\\u00e9"] {
            let text = format!("\"{}{special}{}\"", "x".repeat(length), "ÿ".repeat(length % 9));
            let expected: String = text[1..text.len() - 1].replace("\\\"", "\"").replace("\\u00e9", "é");
            assert_eq!(parse(&text).unwrap(), ExactJson::from(expected));
        }
    }
}

#[test]
fn depth_has_an_end_and_never_costs_the_stack() {
    let work = || {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
            let levels = 1000 / open.matches(['[', '{']).count();
            let text = format!("{}[]{}", open.repeat(levels), close.repeat(levels));
            assert_eq!(parse(&text).unwrap_err().code, Code::JsonTooDeep);
            let text = text.replace("[]", "0");
            let value = parse(&text).unwrap();
            assert_eq!(canonical(&value), text);
            assert_eq!(parse(&spaced(&value)).unwrap(), value.clone());
            assert_eq!(parse(&indented(&value)).unwrap(), value);
            assert!(value.is_sealable());
            assert_eq!(parse(&open.repeat(100_000)).unwrap_err().code, Code::JsonTooDeep);
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn a_float_that_cannot_be_sealed_is_found() {
    assert_eq!(parse(r#"{"a":[1,{"b":1e400}]}"#).unwrap().unsealable().unwrap(), "a/1/b");
    assert_eq!(parse("NaN").unwrap().unsealable().unwrap(), "");
    assert!(parse(r#"{"a":[1,1.5,"NaN"]}"#).unwrap().is_sealable());
}
