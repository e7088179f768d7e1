//! Words that say nothing or little, and where each of them is left out. Searches, phrases, stems and remembered errors
//! share most of these words; the groups say where they differ.

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

fn is_in(lists: &[&[&str]], word: &str) -> bool {
    lists.iter().any(|list| list.binary_search(&word).is_ok())
}

/// Whether a search leaves a word out.
pub(super) fn is_search_stop_word(word: &str) -> bool {
    is_in(&[EVERYWHERE, GRAMMAR, RELATIONS, PLACES], word)
}

/// Whether phrases are compared without a word.
pub(super) fn is_phrase_stop_word(word: &str) -> bool {
    is_in(&[EVERYWHERE, GRAMMAR, TALK], word)
}

/// Whether errors are compared without a word.
pub fn is_error_stop_word(word: &str) -> bool {
    is_in(&[EVERYWHERE, PLACES, ORDER, ERRORS], word)
}

/// Whether a stem says nothing on its own.
pub(super) fn is_stop_stem(stem: &str) -> bool {
    is_in(&[STEMS, RELATIONS, PLACES, ORDER], stem)
}

/// Whether a stem says little.
pub(super) fn is_dull_stem(stem: &str) -> bool {
    is_in(&[DULL], stem)
}

/// Whether two neighbouring characters stand in every other sentence.
pub(super) fn is_stop_pair(pair: &str) -> bool {
    is_in(&[PAIRS], pair)
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
    fn lists_are_sorted_for_the_search_in_them() {
        for list in [EVERYWHERE, GRAMMAR, TALK, RELATIONS, PLACES, ORDER, ERRORS, STEMS, DULL, PAIRS] {
            assert!(list.is_sorted(), "{list:?}");
        }
    }
}
