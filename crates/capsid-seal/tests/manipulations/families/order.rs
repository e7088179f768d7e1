//! The order of records.

use super::super::draft::FIRST;
use super::super::expected::{incomplete, invalid};
use super::{CHAIN, LAST, Manipulation, at_each, canonical, replaced, set_text};
use capsid_model::Value;

pub fn all() -> Vec<Manipulation> {
    let families = [removed(), renumbered(), repeated(), swapped()];
    families.into_iter().flatten().collect()
}

/// Without its last record a chain is one in itself, but shorter than its header says.
fn removed() -> Vec<Manipulation> {
    at_each(|position, words| {
        let expected = match position {
            LAST => invalid("contradiction", CHAIN, None),
            _ => invalid("missing", CHAIN, position),
        };
        Manipulation::new(format!("18 removed, {words}"), expected, |draft| {
            draft.records(FIRST).remove(position);
        })
    })
}

/// The headers are adjusted too. Nobody but the owner can sign the new numbers; behind the last there are none.
fn renumbered() -> Vec<Manipulation> {
    at_each(|position, words| {
        let expected = match position {
            LAST => incomplete("truncated", CHAIN, 5),
            _ => invalid("signature", CHAIN, position),
        };
        Manipulation::new(format!("19 removed and renumbered, {words}"), expected, |draft| {
            let records = draft.records(FIRST);
            records.remove(position);
            for number in position..records.len() {
                let before = number.checked_sub(1).map(|before| records[before]["hash"].clone());
                renumber(&mut records[number], number, before.as_ref());
            }
            draft.adjust(FIRST);
        })
    })
}

fn renumber(record: &mut Value, number: usize, before: Option<&Value>) {
    let text = canonical(record);
    let text = replaced(&text, &format!("\"sequence\":{}", number + 1), &format!("\"sequence\":{number}"));
    let start = text.find("\"previous_hash\":").unwrap();
    let end = start + text[start..].find(',').unwrap();
    let link = before.map_or("null".to_owned(), Value::to_string);
    set_text(record, &format!("{}\"previous_hash\":{link}{}", &text[..start], &text[end..]));
}

fn repeated() -> Vec<Manipulation> {
    at_each(|position, words| {
        let name = format!("20 repeated, {words}");
        Manipulation::new(name, invalid("link", CHAIN, position + 1), |draft| {
            let records = draft.records(FIRST);
            records.insert(position, records[position].clone());
        })
    })
}

fn swapped() -> Vec<Manipulation> {
    at_each(|position, words| {
        let earlier = position.min(LAST - 1);
        let name = format!("21 swapped with its neighbour, {words}");
        Manipulation::new(name, invalid("link", CHAIN, earlier), |draft| {
            draft.records(FIRST).swap(earlier, earlier + 1);
        })
    })
}
