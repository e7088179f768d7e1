use super::*;
use proptest::prelude::*;

fn text<'a>(signals: &'a [&'a str], title: &'a str, body: &'a str) -> MeaningTerms {
    MeaningTerms::parse(&SearchableText { signals, title, body })
}

fn corpus(meanings: &[MeaningTerms]) -> TermFrequencies {
    let mut corpus =
        TermFrequencies { texts: meanings.len() as u64, counts: std::collections::HashMap::new() };
    for term in meanings.iter().flat_map(MeaningTerms::terms) {
        *corpus.counts.entry(term.to_owned()).or_default() += 1;
    }
    corpus
}

/// The numbers of the texts that answer, the best first.
fn ranked(question: &str, meanings: &[MeaningTerms]) -> Vec<usize> {
    let (question, corpus) = (SemanticQuestion::parse(question, &[]), corpus(meanings));
    let judged = meanings
        .iter()
        .enumerate()
        .filter_map(|(at, meaning)| Some((at, score(&question, meaning, &corpus)?.score)));
    let mut judged: Vec<(usize, f64)> = judged.collect();
    judged.sort_by(|a, b| b.1.total_cmp(&a.1));
    judged.into_iter().map(|(at, _)| at).collect()
}

fn some_texts() -> Vec<MeaningTerms> {
    vec![
        text(&["oom_killed"], "Raise the heap limit and stream the rows", "Read the file in chunks"),
        text(&["ECONNREFUSED"], "Wait until the database takes connections", "Retry with backoff at startup"),
        text(&["stale_cache"], "Purge the cache after a deploy", "Bump the cache key"),
        text(&["时区错误"], "日期统一按 UTC 存储", "显示时再转换为本地时间"),
        text(
            &["duplicate_charge"],
            "Send an idempotency key with each payment",
            "The second request is recognised",
        ),
        text(&["flaky_test"], "Wait for the element instead of sleeping", "Fixed pauses are replaced"),
    ]
}

#[test]
fn a_text_becomes_stems_and_ideas() {
    let meaning = text(&["errsig:TimeoutError: request to /api/v1 failed after 3000 ms"], "Retry later", "");
    assert!(meaning.signals.contains(&"c_timeout".to_owned()), "{meaning:?}");
    assert!(
        meaning.signals.contains(&"m_timeout".to_owned())
            && !meaning.signals.contains(&"m_errsig".to_owned())
    );
    assert_eq!(meaning.title, ["m_retri", "m_later", "c_retry"]);
}

#[test]
fn a_question_to_the_letter_asks_for_nothing_that_merely_lies_near() {
    let question = SemanticQuestion::parse("heartbeat timed out", &["keepalive".to_owned()]);
    let letter = question.exact_terms();
    let has = |question: &SemanticQuestion, term: &str| question.terms.iter().any(|asked| asked.term == term);
    for said in ["c_heartbeat", "c_timeout", "c_keepalive", "m_heartbeat"] {
        assert!(has(&question, said) && has(&letter, said), "{said}: {letter:?}");
    }
    for near in ["c_health_check", "c_hang", "c_slow"] {
        assert!(has(&question, near) && !has(&letter, near), "{near}: {letter:?}");
    }
    // What both is said and lies near is said.
    let said: Vec<_> = question.terms.iter().filter(|asked| !asked.is_near).cloned().collect();
    assert_eq!(letter.terms, said);
    assert_eq!(letter.exact_terms(), letter);
    assert!(SemanticQuestion::default().exact_terms().is_empty());
}

#[test]
fn symptoms_find_causes_in_either_language() {
    let texts = some_texts();
    for (question, best) in [
        ("the worker gets killed because it eats all memory", 0),
        ("内存爆了，进程被杀", 0),
        ("connection refused when the app boots before postgres", 1),
        ("数据库还没准备好就连接，连接被拒绝", 1),
        ("users still see the old page after we ship", 2),
        ("上线之后还是旧数据", 2),
        ("dates are one day earlier for users in another time zone", 3),
        ("customers were charged twice", 4),
        ("用户被重复扣款", 4),
        ("CI is red now and then, green on rerun", 5),
    ] {
        assert_eq!(ranked(question, &texts).first(), Some(&best), "{question}");
    }
}

#[test]
fn a_pasted_trace_is_read_by_its_message() {
    let trace = "Error: connect ECONNREFUSED 10.1.2.3:5432\n    at TCPConnectWrap.afterConnect (node:net:1494:16)\n    \
        at purgeCache (/srv/app/src/cache/stale.js:10:2)\n    at idempotency (/srv/app/payment.js:1:1)";
    assert_eq!(ranked(trace, &some_texts()).first(), Some(&1));
    let question = SemanticQuestion::parse(trace, &[]);
    assert_eq!(question.terms.first().map(|asked| asked.term.as_str()), Some("m_econnrefus"), "{question:?}");
}

#[test]
fn answering_several_words_beats_repeating_one() {
    let texts = [
        text(&["cache"], "Cache the cache", "cache cached caching"),
        text(&[], "The cache grows until the disk is full", ""),
        text(&[], "Unrelated", ""),
    ];
    assert_eq!(ranked("cache fills the disk", &texts).first(), Some(&1));
}

#[test]
fn signals_ask_for_more_than_words() {
    let weight = |question: &SemanticQuestion, term: &str| {
        question.terms.iter().find(|asked| asked.term == term).map(|asked| asked.weight)
    };
    let (word, signal) =
        (SemanticQuestion::parse("deadlock", &[]), SemanticQuestion::parse("", &["deadlock".to_owned()]));
    assert!(weight(&signal, "m_deadlock") > weight(&word, "m_deadlock"));
    assert!(weight(&word, "m_deadlock") > weight(&word, "c_deadlock"));
    assert!(weight(&word, "c_deadlock") > weight(&word, "c_lock"));
}

#[test]
fn the_answered_words_are_named() {
    let texts = some_texts();
    let question = SemanticQuestion::parse("out of memory on tuesday", &[]);
    let answer = score(&question, &texts[0], &corpus(&texts)).expect("an answer");
    assert!(answer.words.contains(&"out of memory".to_owned()), "{answer:?}");
    assert!(!answer.words.contains(&"tuesday".to_owned()), "{answer:?}");
    assert_eq!(score(&SemanticQuestion::parse("the of and", &[]), &texts[0], &corpus(&texts)), None);
}

#[test]
fn long_texts_keep_what_they_say_most() {
    let filler: String = (0..300)
        .map(|n| format!("word{} ", char::from(b'a' + (n % 26) as u8).to_string().repeat(n / 26 + 1)))
        .collect();
    let body = format!("{filler} deadlock deadlock deadlock");
    assert!(text(&[], "", &body).body.contains(&"m_deadlock".to_owned()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_gives_few_clean_terms(signals in prop::collection::vec(any::<String>(), 0..5), title: String, body in "(?s).{0,400}") {
        let signals: Vec<&str> = signals.iter().map(String::as_str).collect();
        let meaning = text(&signals, &title, &body);
        prop_assert_eq!(&meaning, &text(&signals, &title, &body));
        prop_assert_eq!(&MeaningTerms::read(&meaning.line()), &meaning);
        let terms = meaning.terms();
        prop_assert!(terms.len() <= MAX_TERMS);
        for term in terms {
            prop_assert!(term.chars().count() <= crate::meaning::tokenizer::MAX_CHARS + 2, "{term:?}");
            prop_assert!(term.chars().all(|c| c == '_' || c.is_alphanumeric()), "{term:?}");
        }
    }

    #[test]
    fn any_question_is_bounded_and_can_be_judged(words in "(?s).{0,400}", signals in prop::collection::vec(any::<String>(), 0..4)) {
        let question = SemanticQuestion::parse(&words, &signals);
        prop_assert_eq!(&question, &SemanticQuestion::parse(&words, &signals));
        prop_assert!(question.terms.len() <= MAX_ASKED);
        prop_assert!(question.terms.iter().all(|asked| asked.weight > 0.0 && asked.weight.is_finite() && !asked.word.is_empty()));
        prop_assert!(question.terms.is_sorted_by(|a, b| a.weight >= b.weight));
        let meaning = text(&[], &words, "");
        if let Some(answer) = score(&question, &meaning, &corpus(std::slice::from_ref(&meaning))) {
            prop_assert!(answer.score > 0.0 && answer.score.is_finite());
        }
    }

    #[test]
    fn words_of_the_field_in_any_order(words in prop::collection::vec("[ -~]{0,12}|内存|超时|…|\n|\tat |[0-9a-f]{8}|/tmp/|TypeError:", 0..60)) {
        let joined = words.concat();
        let meaning = text(&[&joined], &joined, &joined);
        prop_assert_eq!(&MeaningTerms::read(&meaning.line()), &meaning);
        prop_assert!(SemanticQuestion::parse(&joined, &[]).terms.len() <= MAX_ASKED);
    }
}
