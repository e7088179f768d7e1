//! What a skill says of itself at its beginning: lines of `name: value` between two lines of `---`.

/// The longest value that is read.
const MAX_LEN: usize = 500;

/// The part of a skill's front matter that lists show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrontMatter {
    pub name: Option<String>,
    pub description: Option<String>,
    pub tags: Vec<String>,
}

impl FrontMatter {
    /// Reads it from the text of a skill; nothing where there is none.
    pub fn read(text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let Some((block, _)) = text.strip_prefix("---").and_then(|rest| rest.split_once("\n---")) else {
            return Self::default();
        };
        let value = |wanted: &str| {
            let mut lines = block.lines().filter_map(|line| line.split_once(':'));
            let (_, value) = lines.find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted))?;
            let value = unquoted(value.trim());
            (!value.is_empty() && value.len() <= MAX_LEN).then(|| value.to_owned())
        };
        let tags = value("tags").unwrap_or_default();
        let tags = tags.trim_matches(['[', ']']).split(',').map(|tag| unquoted(tag.trim()).to_owned());
        Self {
            name: value("name"),
            description: value("description"),
            tags: tags.filter(|tag| !tag.is_empty()).collect(),
        }
    }
}

fn unquoted(text: &str) -> &str {
    let inside = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    inside('"').or_else(|| inside('\'')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::FrontMatter;

    #[test]
    fn name_description_and_tags_are_read() {
        let read = FrontMatter::read(
            "---\nName: \"Retry: well\"\ndescription: how\ntags: [a, 'b c',]\n---\n# Retry",
        );
        assert_eq!(read.name.as_deref(), Some("Retry: well"));
        assert_eq!(read.description.as_deref(), Some("how"));
        assert_eq!(read.tags, ["a", "b c"]);
    }

    #[test]
    fn a_text_without_it_says_nothing() {
        for text in [
            "",
            "# Retry\nname: x",
            "---\nname: x",
            "---\nname:\n---\n",
            &format!("---\nname: {}\n---", "x".repeat(501)),
        ] {
            assert_eq!(FrontMatter::read(text), FrontMatter::default(), "{text}");
        }
    }
}
