use super::*;

const REDUCE: &str =
    "errsig:not ok 1 - total error: \"Cannot read properties of undefined (reading 'reduce')\"";
const PLAIN: &str = "errsig:error: \"Cannot read properties of undefined (reading 'reduce')\"";

fn tells(text: &str, written: &str) -> bool {
    ErrorQuery::parse(text).match_share(&ErrorWords::parse(written)).is_some()
}

/// What Node.js prints, with the message among thirty lines.
fn trace(message: &str) -> String {
    let mut text = format!(
        "/home/ada/shop/src/cart.js:12\n  return cart.items.reduce((sum, item) => sum + item.price, 0);\n                    ^\n\n{message}\n"
    );
    for line in 0..24 {
        text += &format!("    at Object.total{line} (/home/ada/shop/src/cart.js:{line}:21)\n");
    }
    text + "    at node:internal/main/run_main_module:28:49\n\nNode.js v20.11.1\n"
}

#[test]
fn a_message_is_known_however_it_is_quoted() {
    for text in [
        "TypeError: Cannot read properties of undefined (reading 'reduce')",
        "Cannot read properties of undefined (reading 'reduce')",
        "cannot read properties of undefined reading reduce",
        "Cannot read properties of undefined",
        "2026-02-07T15:20:54.155Z [worker-3] Uncaught TypeError: Cannot read properties of undefined (reading \"reduce\") at /srv/a.js:3:1",
        "{\"error\":\"Cannot read properties of undefined (reading 'reduce')\\n    at total (/a/b.js:1:2)\"}",
        "TypeError: Cannot read properties of\nundefined (reading 'reduce')",
        &trace("TypeError: Cannot read properties of undefined (reading 'reduce')"),
    ] {
        assert!(tells(text, PLAIN), "{text}");
    }
    assert!(tells("Cannot read properties of undefined (reading 'reduce')", REDUCE));
    let logged = "errsig:{\"type\":\"tool_result\",\"is_error\":true,\"content\":\"> shop@1.0.0 test > node --test run cart suite error: Cannot read properties of undefined (reading 'reduce')";
    assert!(tells(&trace("TypeError: Cannot read properties of undefined (reading 'reduce')"), logged));
    assert!(!tells(&trace("TypeError: Cannot read properties of undefined (reading 'map')"), logged));
    assert!(tells(
        "error[E0308]: mismatched types\n --> src/a.rs:3:4",
        "errsig:error[E0308]: mismatched types"
    ));
    assert!(tells(
        "ENOENT: no such file or directory, open '/b/x.json'",
        "errsig:Error: ENOENT: no such file or directory, open '/a/y.json'"
    ));
    assert!(tells("KeyError: 'price'", "errsig:KeyError: 'price'"));
    assert!(tells("boom", "errsig:Error: boom"));
}

#[test]
fn another_error_is_another() {
    for text in [
        "TypeError: x is not a function",
        "TypeError: Cannot read properties of undefined (reading 'map')",
        "cannot read properties of undefined reading map",
        "TypeError: undefined is not iterable",
        "ReferenceError: reduce is not defined",
        "Cannot find module 'reduce'",
        "reduce",
        "make it faster",
        "",
        "error:",
        &trace("TypeError: sum is not a function"),
        &trace("ReferenceError: undefined_properties is not defined"),
    ] {
        assert!(!tells(text, PLAIN), "{text}");
        assert!(!tells(text, REDUCE), "{text}");
    }
    assert!(!tells("error[E0277]: mismatched types", "errsig:error[E0308]: mismatched types"));
    assert!(!tells("KeyError: 'name'", "errsig:KeyError: 'price'"));
    assert!(!tells("the boom of the nineties", "errsig:Error: boom"));
    assert!(!tells(
        "Traceback (most recent call last):\nValueError: x",
        "errsig:Traceback (most recent call last):"
    ));
}

#[test]
fn lines_that_lie_apart_make_no_error_together() {
    let apart =
        "cannot start\nread the manual\nproperties are set\nundefined symbol\nreading a file\nreduce it";
    assert!(!tells(apart, PLAIN));
}

#[test]
fn a_change_is_found_by_what_was_done() {
    let summary = "Guard the cart total against an empty list of items";
    assert!(tells("cart total with empty items", summary));
    assert!(!tells("the cart is slow on mobile phones", summary));
    assert!(!tells("cart", summary));
}

#[test]
fn nothing_that_can_be_pasted_takes_long() {
    for part in ["/", "a/", "'", "\\n", "a.b:1", "9", "é\u{1f9ec} ", "x y\n"] {
        ErrorQuery::parse(&part.repeat(200_000 / part.len())).match_share(&ErrorWords::parse(PLAIN));
    }
}
