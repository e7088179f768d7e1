//! Where a list goes on. Clients hand a cursor back as they got it and read nothing into it.

use crate::error::{ApiError, ApiResult, HubCode};
use capsid_store::assets::list::ListPosition;

/// The longest cursor.
const MAX_LEN: usize = 1000;
/// Between the parts of a cursor.
const BETWEEN: char = '\u{1f}';

/// The cursor of a position in a list. `list` names the list and its order, so that another one refuses it.
pub fn write(list: &str, position: ListPosition) -> String {
    write_parts(&[list, &position.key.to_string(), &position.seq.to_string()])
}

/// The position that a cursor stands for; the start when there is none.
pub fn read(list: &str, cursor: Option<&str>) -> ApiResult<ListPosition> {
    let Some([key, seq]) = read_parts(list, cursor)? else { return Ok(ListPosition::START) };
    match (key.parse(), seq.parse()) {
        (Ok(key), Ok(seq)) => Ok(ListPosition { key, seq }),
        _ => Err(invalid()),
    }
}

/// How far a list goes that is put in order anew for every page.
pub const DEEPEST: usize = 1000;

/// How many rows of such a list come before the page that is asked for.
pub fn skipped(list: &str, cursor: Option<&str>, offset: Option<&str>) -> ApiResult<usize> {
    let asked = match read_parts(list, cursor)? {
        Some([offset]) => return offset.parse().ok().filter(|n| *n <= DEEPEST).ok_or_else(invalid),
        None => offset.map(str::trim).filter(|offset| !offset.is_empty()).unwrap_or("0"),
    };
    asked.parse().ok().filter(|n| *n <= DEEPEST).ok_or_else(|| {
        ApiError::field("offset", format!("a whole number from 0 to {DEEPEST}"), "something else")
    })
}

/// The cursor after so many rows of such a list, unless it ends there.
pub fn after(list: &str, rows: usize) -> Option<String> {
    (rows <= DEEPEST).then(|| write_parts(&[list, &rows.to_string()]))
}

/// A cursor of some parts, the first of which names the list.
pub fn write_parts(parts: &[&str]) -> String {
    let between = String::from(BETWEEN);
    capsid_model::hash::hex(parts.join(&between).as_bytes())
}

/// The parts of a cursor after the name of its list.
pub fn read_parts<const N: usize>(list: &str, cursor: Option<&str>) -> ApiResult<Option<[String; N]>> {
    let Some(cursor) = cursor.filter(|cursor| !cursor.is_empty()) else { return Ok(None) };
    let text = unhex(cursor).and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(invalid)?;
    let mut parts = text.split(BETWEEN).map(str::to_owned);
    if parts.next().as_deref() != Some(list) {
        return Err(invalid());
    }
    let parts: Vec<String> = parts.collect();
    parts.try_into().map(Some).map_err(|_| invalid())
}

pub(crate) fn invalid() -> ApiError {
    ApiError::new(
        HubCode::InvalidCursor,
        "The cursor was not given out by this hub for this list.",
        "Use `next_cursor` of the answer before as it is, with the same `sort`, or leave `cursor` out to begin again.",
    )
}

/// The bytes that hexadecimal digits stand for; nothing when there are too many or something else.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    if text.len() > MAX_LEN || !text.len().is_multiple_of(2) {
        return None;
    }
    let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
    Some(
        digits?
            .chunks_exact(2)
            .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | *digit as u8))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_for_its_own_list_only() {
        let position = ListPosition { key: 3680, seq: 12 };
        let cursor = write("assets.ranked", position);
        assert_eq!(read("assets.ranked", Some(&cursor)).unwrap(), position);
        assert_eq!(read("assets.ranked", None).unwrap(), ListPosition::START);
        assert!(read("assets.newest", Some(&cursor)).is_err());
    }

    #[test]
    fn nothing_else_is_a_cursor() {
        for text in ["x", "zz", "é", "00", "ff", "2e2e", &"ab".repeat(600), "611f311f78", "611f31", "'; --"]
        {
            assert_eq!(read("a", Some(text)).unwrap_err().code, HubCode::InvalidCursor, "{text}");
        }
    }
}
