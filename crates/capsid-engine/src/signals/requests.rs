//! What the user wishes for, in four languages: new features and improvements, with a snippet of the words used.

use super::pattern::SignalPattern;
use capsid_model::text::{collapse, cut, cut_front};

/// The two kinds of wishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestKind {
    Feature,
    /// Something that exists, made better.
    Improvement,
}

/// One language's words for one kind of wish. The first that yields a snippet, from top to bottom, is used.
struct RequestWords {
    /// A verb, then a noun in the same sentence: "add a retry option".
    sentence: Option<(SignalPattern, SignalPattern)>,
    /// A phrase; the snippet is what stands around it on its line.
    around: SignalPattern,
    reach: usize,
    /// An opening; the snippet is what follows it on its line.
    after: Option<SignalPattern>,
    /// The snippet when the words stand alone.
    fallback: &'static str,
}

/// English, simplified Chinese, traditional Chinese, Japanese.
static FEATURE: [RequestWords; 4] = [
    RequestWords {
        sentence: Some((
            SignalPattern::new(r"(?i-u:\b(?:add|implement|create|build|make|develop|write|design)\b)"),
            SignalPattern::new(
                r"(?i-u:\b(?:feature|function|module|capability|tool|support|endpoint|command|option|mode)\b)",
            ),
        )),
        around: SignalPattern::new(
            r"(?i-u:\b(?:i want|i need|we need|please add|can you add|could you add|let'?s add)\b)",
        ),
        reach: 80,
        after: None,
        fallback: "feature request",
    },
    RequestWords {
        sentence: None,
        around: SignalPattern::new(
            r"加个|实现一下|做个|想要[\s\u{feff}]*一个|需要[\s\u{feff}]*一个|帮我加|帮我开发|加一下|新增一个",
        ),
        reach: 100,
        after: Some(SignalPattern::new(r"我想[ \t\u{3000}，,.。、]*")),
        fallback: "功能需求",
    },
    RequestWords {
        sentence: None,
        around: SignalPattern::new("加個|實現一下|做個|想要一個|請加|新增一個|幫我加"),
        reach: 100,
        after: None,
        fallback: "功能需求",
    },
    RequestWords {
        sentence: None,
        around: SignalPattern::new("追加|実装|作って|機能を|が欲しい|してほしい"),
        reach: 100,
        after: None,
        fallback: "機能要望",
    },
];

static IMPROVEMENT: [RequestWords; 4] = [
    RequestWords {
        sentence: None,
        around: SignalPattern::new(
            r"(?i-u:\b(?:should be|could be better|improve|enhance|upgrade|refactor|clean up|simplify|streamline)\b)",
        ),
        reach: 80,
        after: None,
        fallback: "improvement suggestion",
    },
    RequestWords {
        sentence: None,
        around: SignalPattern::new("改进一下|优化一下|简化|重构|整理一下|弄得更好"),
        reach: 100,
        after: None,
        fallback: "改进建议",
    },
    RequestWords {
        sentence: None,
        around: SignalPattern::new("改進一下|優化一下|簡化|重構|整理一下|弄得更好"),
        reach: 100,
        after: None,
        fallback: "改進建議",
    },
    RequestWords {
        sentence: None,
        around: SignalPattern::new("改善|最適化|簡素化|リファクタ|良くして|改良"),
        reach: 100,
        after: None,
        fallback: "改善要望",
    },
];

/// Longest snippet.
const SNIPPET_MAX: usize = 200;
/// How much text after an opening is looked at.
const AFTER_MAX: usize = 400;
/// Characters between a verb and its noun.
const GAP: std::ops::RangeInclusive<usize> = 3..=120;
/// The longest noun has ten letters; one more tells whether it ends there.
const NOUN_ROOM: usize = 11;

/// The words of the first language in which the text holds such a wish.
pub(super) fn snippet(text: &str, wish: RequestKind) -> Option<String> {
    let languages = match wish {
        RequestKind::Feature => &FEATURE,
        RequestKind::Improvement => &IMPROVEMENT,
    };
    languages.iter().find_map(|words| words.snippet(text))
}

/// A line that says of itself that the user instructs the agent.
static INSTRUCTION: SignalPattern = SignalPattern::new(
    r"(?im)^[^\S\r\n]*(?:[-*>#]+[^\S\r\n]*)?\**user[ _-]?(?:instruction|request|task)s?\**[^\S\r\n]*[:：]\**|^[^\S\r\n]*用户(?:指令|要求|请求)[^\S\r\n]*[:：]",
);

/// What the user instructs the agent to do, in the words of that line.
pub(super) fn find_instruction(text: &str) -> Option<String> {
    let found = collapse(after(text, &INSTRUCTION)?);
    (!found.is_empty()).then(|| cut(&found, SNIPPET_MAX).to_owned())
}

impl RequestWords {
    fn snippet(&self, text: &str) -> Option<String> {
        let found = self
            .sentence
            .as_ref()
            .and_then(|(verb, noun)| sentence(text, verb, noun))
            .or_else(|| text_near(text, &self.around, self.reach))
            .or_else(|| after(text, self.after.as_ref()?))?;
        let found = collapse(found);
        Some(if found.is_empty() { self.fallback.to_owned() } else { cut(&found, SNIPPET_MAX).to_owned() })
    }
}

/// The first verb that a noun follows in its sentence, up to the last such noun.
fn sentence<'t>(text: &'t str, verb: &SignalPattern, noun: &SignalPattern) -> Option<&'t str> {
    let mut next_noun = 0;
    verb.find_all(text).find_map(|verb| {
        if next_noun < verb.end() {
            next_noun = noun.find_from(text, verb.end()).map_or(text.len(), |found| found.start());
        }
        let rest = cut(&text[verb.end()..], GAP.end() + NOUN_ROOM);
        if next_noun > verb.end() + rest.len() {
            return None;
        }
        let rest = &rest[..rest.find(['.', '?', '!', '\n']).unwrap_or(rest.len())];
        let last = noun
            .find_all(rest)
            .filter(|noun| GAP.contains(&rest[..noun.start()].encode_utf16().count()))
            .last()?;
        Some(&text[verb.start()..verb.end() + last.end()])
    })
}

fn text_near<'t>(text: &'t str, phrase: &SignalPattern, reach: usize) -> Option<&'t str> {
    let found = phrase.find(text)?;
    let before = cut_front(&text[..found.start()], reach);
    let line_start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let start = found.start() - (before.len() - line_start);
    let end = found.end() + on_line(&text[found.end()..], reach).len();
    Some(&text[start..end])
}

fn after<'t>(text: &'t str, opening: &SignalPattern) -> Option<&'t str> {
    let found = opening.find(text)?;
    Some(on_line(&text[found.end()..], AFTER_MAX))
}

fn on_line(text: &str, reach: usize) -> &str {
    let near = cut(text, reach);
    &near[..near.find(['\n', '\r']).unwrap_or(near.len())]
}

#[cfg(test)]
pub(super) fn patterns() -> Vec<&'static SignalPattern> {
    FEATURE
        .iter()
        .chain(&IMPROVEMENT)
        .flat_map(|words| {
            let sentence = words.sentence.iter().flat_map(|(verb, noun)| [verb, noun]);
            sentence.chain([&words.around]).chain(&words.after)
        })
        .chain([&INSTRUCTION])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feature(text: &str) -> Option<String> {
        snippet(text, RequestKind::Feature)
    }

    fn improvement(text: &str) -> Option<String> {
        snippet(text, RequestKind::Improvement)
    }

    #[test]
    fn english_needs_a_verb_and_a_noun_in_one_sentence() {
        assert_eq!(feature("Please ADD a dark\tmode now.").as_deref(), Some("ADD a dark mode"));
        assert_eq!(
            feature("create an export command with a csv option, ok").as_deref(),
            Some("create an export command with a csv option")
        );
        assert_eq!(feature("add it. The mode is on"), None);
        assert_eq!(feature("make\na tool"), None);
        assert_eq!(feature("addition of a feature"), None);
        assert_eq!(feature("add features"), None);
    }

    #[test]
    fn the_gap_between_verb_and_noun_has_both_limits() {
        let gap = |n: usize| format!("add {} tool", "x".repeat(n));
        assert!(feature(&gap(118)).is_some());
        assert!(feature(&gap(119)).is_none());
        assert!(feature("add x tool").is_some());
        assert!(feature("add tool").is_none());
    }

    #[test]
    fn english_phrases_take_eighty_characters_on_each_side_of_the_line() {
        let text = format!("other\n{}I want{}\nmore", "a".repeat(90) + " ", "b".repeat(2));
        assert_eq!(feature(&text), None);
        let text = format!("other\n{} I want {}\nmore", "a".repeat(90), "b".repeat(90));
        assert_eq!(feature(&text).unwrap(), format!("{} I want {}", "a".repeat(79), "b".repeat(79)));
        assert_eq!(feature("lets add tea").as_deref(), Some("lets add tea"));
        assert_eq!(feature("could you add tea?").as_deref(), Some("could you add tea?"));
    }

    #[test]
    fn every_language_knows_its_features() {
        for (text, expected) in [
            ("帮我加 一个按钮", "帮我加 一个按钮"),
            ("这里需要 一个缓存", "这里需要 一个缓存"),
            ("我想，把日志变短", "把日志变短"),
            ("我想", "功能需求"),
            ("請加夜間模式", "請加夜間模式"),
            ("幫我加一個開關", "幫我加一個開關"),
            ("検索を追加してください", "検索を追加してください"),
            ("通知が欲しい", "通知が欲しい"),
        ] {
            assert_eq!(feature(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "。，！？ \n\t", "...", "天气很好", "今日は晴れ"] {
            assert_eq!(feature(text), None, "{text:?}");
        }
    }

    #[test]
    fn every_language_knows_its_improvements() {
        for text in ["the parser should be faster", "把这个函数重构", "把這個函式優化一下", "ログを改善"]
        {
            assert_eq!(improvement(text).as_deref(), Some(text));
        }
        assert_eq!(improvement("an improvement was made"), None);
    }

    #[test]
    fn a_user_instruction_is_a_request() {
        assert_eq!(
            find_instruction("log\nUser instruction: fix the  login page\nmore").as_deref(),
            Some("fix the login page")
        );
        assert_eq!(find_instruction("**User instructions:** make it blue").as_deref(), Some("make it blue"));
        assert_eq!(find_instruction("User instruction:"), None);
        assert_eq!(find_instruction("the user instruction: is read"), None);
    }

    #[test]
    fn the_first_language_wins_and_snippets_are_short() {
        assert_eq!(feature("追加して\nwe need tea").as_deref(), Some("we need tea"));
        let long = format!("我想{}", "词".repeat(500));
        assert_eq!(feature(&long).unwrap().chars().count(), 200);
    }
}
