//! The user's own words, without the marks that the editor puts around them.

const BEGIN: &str = "<user_query>";
const END: &str = "</user_query>";

/// A request, as the user wrote it and as the editor stored it.
pub(super) struct UserRequest {
    /// The whole text without the marks.
    pub(super) prompt: String,
    /// The text as it was, where there is more than one pair of marks around it.
    pub(super) raw: Option<String>,
}

impl UserRequest {
    /// Takes the marks out of a text.
    pub(super) fn parse(text: &str) -> Self {
        if !text.contains(BEGIN) && !text.contains(END) {
            return Self { prompt: text.to_owned(), raw: None };
        }
        let without = text.replace(BEGIN, "").replace(END, "");
        let inner = text.trim().strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END));
        let is_plain = inner.is_some_and(|inner| !inner.contains(BEGIN) && !inner.contains(END));
        Self { prompt: without.trim().to_owned(), raw: (!is_plain).then(|| text.to_owned()) }
    }
}
