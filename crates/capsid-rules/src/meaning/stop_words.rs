//! Words that say nothing or little, and where each of them is left out. Searches, phrases, stems and remembered errors
//! share most of these words; the groups say where they differ.

use super::WordMap;
use std::sync::LazyLock;

/// In every sentence: left out of searches, phrases and errors.
#[rustfmt::skip]
const EVERYWHERE: &[&str] = &[
    "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "have", "is", "it", "of", "or",
    "that", "the", "this", "to", "was", "with",
];
/// Left out of searches and phrases.
#[rustfmt::skip]
const GRAMMAR: &[&str] = &[
    "been", "but", "can", "do", "does", "had", "its", "our", "so", "such", "than", "their", "them", "then",
    "there", "these", "they", "those", "we", "were", "will", "you", "your",
];
/// Left out of phrases.
#[rustfmt::skip]
const TALK: &[&str] = &[
    "a", "am", "any", "because", "being", "could", "did", "doing", "having", "he", "her", "his", "i", "ill",
    "im", "ive", "just", "may", "me", "might", "my", "please", "really", "shall", "she", "should", "some",
    "us", "very", "would",
];
/// Left out of searches and single stems, though phrases need them.
const RELATIONS: &[&str] = &["if", "into", "no", "when", "which", "while"];
/// The same, and left out of errors too.
const PLACES: &[&str] = &["in", "not", "on"];
/// Left out of single stems and errors.
const ORDER: &[&str] = &["last", "most"];
/// In every error.
#[rustfmt::skip]
const ERRORS: &[&str] = &[
    "call", "err", "error", "errors", "errsig", "exception", "fatal", "message", "recent", "traceback",
    "uncaught",
];
/// Stems that say nothing on their own, though they do in phrases.
#[rustfmt::skip]
const STEMS: &[&str] = &[
    "about", "abov", "after", "again", "all", "alreadi", "also", "alway", "anoth", "anyth", "around",
    "back", "befor", "below", "both", "come", "down", "dure", "each", "either", "els", "etc", "even",
    "ever", "everi", "few", "find", "first", "get", "give", "go", "good", "help", "here", "how", "insid",
    "instead", "keep", "kind", "know", "let", "like", "look", "lot", "made", "make", "mani", "more", "much",
    "must", "need", "never", "next", "noth", "now", "off", "okay", "old", "one", "onli", "other", "out",
    "over", "own", "per", "put", "realli", "same", "say", "see", "seem", "show", "sinc", "someth", "still",
    "sure", "take", "thank", "thing", "think", "though", "through", "too", "tri", "two", "under", "until",
    "up", "upon", "use", "via", "want", "way", "well", "what", "whenev", "where", "whether", "whi", "who",
    "whole", "whose", "within", "without", "yet",
];
/// Stems that stand in half of all texts about trouble.
#[rustfmt::skip]
const DULL: &[&str] = &[
    "add", "applic", "bug", "call", "case", "caus", "chang", "check", "code", "correct", "creat", "differ",
    "ensur", "error", "except", "fail", "failur", "fix", "handl", "happen", "implement", "issu", "mean",
    "new", "part", "problem", "project", "right", "run", "set", "start", "stop", "support", "system",
    "time", "valu", "work", "wrong",
];
/// Pairs of Chinese characters that stand in every other sentence.
#[rustfmt::skip]
const PAIRS: &[&str] = &[
    "一下", "一个", "一些", "一直", "不会", "不能", "为什", "之前", "之后", "什么", "他们", "以前", "以及",
    "以后", "但是", "你们", "使用", "出现", "发生", "可以", "因为", "如何", "如果", "导致", "已经", "应该",
    "怎么", "总是", "情况", "我们", "或者", "所以", "时候", "时间", "每次", "没有", "然后", "现在", "还是",
    "这个", "进行", "那个", "问题", "需要",
];

/// The groups of each word, one bit each: a text is looked up word by word.
static GROUPS: LazyLock<WordMap<&'static str, u16>> = LazyLock::new(|| {
    let lists =
        [EVERYWHERE, GRAMMAR, TALK, RELATIONS, PLACES, ORDER, ERRORS, STEMS, DULL].into_iter().enumerate();
    let mut groups = WordMap::default();
    for (at, word) in lists.flat_map(|(at, list)| list.iter().map(move |word| (at, *word))) {
        *groups.entry(word).or_default() |= 1 << at;
    }
    groups
});

/// The bits of the groups, in the order of their lists.
mod group {
    pub const EVERYWHERE: u16 = 1;
    pub const GRAMMAR: u16 = 1 << 1;
    pub const TALK: u16 = 1 << 2;
    pub const RELATIONS: u16 = 1 << 3;
    pub const PLACES: u16 = 1 << 4;
    pub const ORDER: u16 = 1 << 5;
    pub const ERRORS: u16 = 1 << 6;
    pub const STEMS: u16 = 1 << 7;
    pub const DULL: u16 = 1 << 8;
}

fn is_in(groups: u16, word: &str) -> bool {
    GROUPS.get(word).is_some_and(|found| found & groups != 0)
}

/// Whether a search leaves a word out.
pub(super) fn is_search_stop_word(word: &str) -> bool {
    is_in(group::EVERYWHERE | group::GRAMMAR | group::RELATIONS | group::PLACES, word)
}

/// Whether phrases are compared without a word.
pub(super) fn is_phrase_stop_word(word: &str) -> bool {
    is_in(group::EVERYWHERE | group::GRAMMAR | group::TALK, word)
}

/// Whether errors are compared without a word.
pub fn is_error_stop_word(word: &str) -> bool {
    is_in(group::EVERYWHERE | group::PLACES | group::ORDER | group::ERRORS, word)
}

/// Whether a stem says nothing on its own.
pub(super) fn is_stop_stem(stem: &str) -> bool {
    is_in(group::STEMS | group::RELATIONS | group::PLACES | group::ORDER, stem)
}

/// Whether a stem says little.
pub(super) fn is_dull_stem(stem: &str) -> bool {
    is_in(group::DULL, stem)
}

/// Whether two neighbouring characters stand in every other sentence.
pub(super) fn is_stop_pair(pair: &str) -> bool {
    PAIRS.binary_search(&pair).is_ok()
}

/// Whether a character only holds a sentence together.
#[rustfmt::skip]
pub(super) fn is_stop_character(character: &str) -> bool {
    matches!(character.chars().next(), Some(
        '的' | '了' | '吗' | '呢' | '吧' | '啊' | '呀' | '嘛' | '么' | '们' | '这' | '那' | '我' | '你' | '您' | '他'
        | '她' | '它' | '就' | '都' | '也' | '很' | '太' | '又' | '还' | '再' | '才' | '把' | '给' | '让' | '跟' | '与'
        | '和' | '及' | '或' | '而' | '且' | '但' | '却' | '因' | '所' | '以' | '其' | '之' | '于'
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_in_the_groups_of_its_lists() {
        let lists = [EVERYWHERE, GRAMMAR, TALK, RELATIONS, PLACES, ORDER, ERRORS, STEMS, DULL];
        let groups = [
            group::EVERYWHERE,
            group::GRAMMAR,
            group::TALK,
            group::RELATIONS,
            group::PLACES,
            group::ORDER,
            group::ERRORS,
            group::STEMS,
            group::DULL,
        ];
        for (list, bit) in lists.into_iter().zip(groups) {
            for word in lists.into_iter().flatten() {
                assert_eq!(is_in(bit, word), list.contains(word), "{word}");
            }
        }
        assert!(!is_in(u16::MAX, "retry"));
    }

    #[test]
    fn lists_are_sorted_for_the_search_in_them() {
        for list in [EVERYWHERE, GRAMMAR, TALK, RELATIONS, PLACES, ORDER, ERRORS, STEMS, DULL, PAIRS] {
            assert!(list.is_sorted(), "{list:?}");
        }
    }
}
