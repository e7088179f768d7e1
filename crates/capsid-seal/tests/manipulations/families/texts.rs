//! The text of a record.

use super::super::base::current_key;
use super::super::expected::invalid;
use super::{CHAIN, LAST, Manipulation, at_each, canonical, change_record, replaced, set_text, sign};

pub fn all() -> Vec<Manipulation> {
    let families = [edited(), renewed(), sequence(), previous_hash(), surrounded()];
    families.into_iter().flatten().collect()
}

fn edited() -> Vec<Manipulation> {
    at_each(|position, words| {
        Manipulation::new(format!("1 text edited, {words}"), invalid("hash", CHAIN, position), |draft| {
            change_record(draft, position, |record| {
                record["canonical"] = replaced(&canonical(record), "step", "stop").into();
            });
        })
    })
}

fn renewed() -> Vec<Manipulation> {
    at_each(|position, words| {
        let expected = invalid("signature", CHAIN, position);
        Manipulation::new(format!("2 text edited and hash renewed, {words}"), expected, |draft| {
            change_record(draft, position, |record| {
                let text = replaced(&canonical(record), "step", "stop");
                set_text(record, &text);
            });
        })
    })
}

/// The owner signs a text that is not quite a record, so nothing but its form is wrong.
fn sealed_as(
    name: String,
    position: usize,
    expected: (&'static str, usize),
    change: impl Fn(&str) -> String,
) -> Manipulation {
    Manipulation::new(name, invalid(expected.0, CHAIN, expected.1), |draft| {
        change_record(draft, position, |record| {
            let text = change(&canonical(record));
            set_text(record, &text);
            sign(record, &current_key());
        });
    })
}

fn sequence() -> Vec<Manipulation> {
    at_each(|position, words| {
        let honest = format!("\"sequence\":{position}");
        let (how, odd) = match position {
            0 => ("as `0.0`", "\"sequence\":0.0".to_owned()),
            LAST => ("twice", format!("{honest},{honest}")),
            _ => ("negative", format!("\"sequence\":-{position}")),
        };
        sealed_as(format!("3 sequence {how}, {words}"), position, ("malformed", position), |text| {
            replaced(text, &honest, &odd)
        })
    })
}

fn previous_hash() -> Vec<Manipulation> {
    at_each(|position, words| {
        let member = |text: &str| {
            let start = text.find("\"previous_hash\":").unwrap();
            let length = text[start..].find(',').unwrap();
            text[start..start + length].to_owned()
        };
        let (how, code) =
            if position == 0 || position == LAST { ("twice", "malformed") } else { ("null", "link") };
        sealed_as(format!("4 previous_hash {how}, {words}"), position, (code, position), |text| {
            let honest = member(text);
            let odd = match code {
                "link" => "\"previous_hash\":null".to_owned(),
                _ => format!("{honest},{honest}"),
            };
            replaced(text, &honest, &odd)
        })
    })
}

/// White space around a record is allowed, so the fault is that the next one names another hash.
fn surrounded() -> Vec<Manipulation> {
    at_each(|position, words| {
        let (how, code, at) = match position {
            0 => ("white space around the document", "link", 1),
            LAST => ("text after the document", "malformed", position),
            _ => ("a byte order mark", "malformed", position),
        };
        sealed_as(format!("5 {how}, {words}"), position, (code, at), |text| match position {
            0 => format!(" {text}\n"),
            LAST => format!("{text}x"),
            _ => format!("\u{feff}{text}"),
        })
    })
}
