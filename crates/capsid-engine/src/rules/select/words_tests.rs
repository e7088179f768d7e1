use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

proptest! {
    #[test]
    fn it_finds_what_a_plain_search_finds(
        words in proptest::collection::btree_set("[ab错]{1,6}", 0..40),
        text in "[abc错]{0,30}",
    ) {
        let index = WordSet::new(words.iter().map(String::as_str));
        let mut matched = BTreeSet::new();
        index.find(&text, |number| {
            matched.insert(number);
        });
        let plain: BTreeSet<u32> = (0..)
            .zip(&words)
            .filter(|(_, word)| text.contains(word.as_str()))
            .map(|(number, _)| number)
            .collect();
        prop_assert_eq!(matched, plain);
    }
}
