//! The texts: how long they are, where their links lead, and phrases that are not used any more.

use super::{all_pages, generated, page, read, root};
use regex::Regex;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// The most words below `docs` that are written by hand.
const MOST_WORDS: usize = 15_000;

/// The words that somebody wrote: without generated parts and without what commands print.
fn written_words(text: &str) -> usize {
    let mut printed: BTreeSet<usize> = BTreeSet::new();
    for block in page::blocks(text).iter().filter(|block| block.is_console()) {
        printed.extend(block.steps().into_iter().flat_map(|step| step.shown));
    }
    let mut is_generated = false;
    let mut words = 0;
    for (number, line) in text.lines().enumerate() {
        is_generated = (is_generated || line.ends_with(":begin -->")) && !line.ends_with(":end -->");
        if !is_generated && !printed.contains(&number) {
            let is_word = |word: &&str| word.contains(char::is_alphanumeric);
            words += line.split_whitespace().filter(is_word).count();
        }
    }
    words
}

#[test]
fn the_documents_stay_short() {
    let pages =
        all_pages().into_iter().filter(|page| page.starts_with("docs/") && !generated::is_generated(page));
    let counts: Vec<(usize, String)> = pages.map(|page| (written_words(&read(&page)), page)).collect();
    let total: usize = counts.iter().map(|(words, _)| words).sum();
    println!("{total} words are written by hand below docs");
    assert!(total <= MOST_WORDS, "{total} words: {counts:#?}");
    let readme = read("README.md");
    let (words, lines) = (written_words(&readme), readme.lines().count());
    assert!(words <= 600 && lines <= 90, "README.md has {words} words and {lines} lines");
}

#[test]
fn what_is_printed_or_generated_is_not_counted_as_written() {
    let text =
        "one two |\n```console\n$ three four\nfive\n```\n<!-- a:begin -->\nsix\n<!-- a:end -->\nseven\n";
    // One two, console, three four, a:end, seven.
    assert_eq!(written_words(text), 7);
}

/// The headings of a page as anchors.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let mut anchors = BTreeSet::new();
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        if let Some(heading) = line.strip_prefix('#').filter(|_| !is_code) {
            let heading = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter(|sign| sign.is_alphanumeric() || " -_".contains(*sign));
            anchors.insert(kept.map(|sign| if sign == ' ' { '-' } else { sign }).collect());
        }
    }
    anchors
}

/// A path without `..`.
fn normalized(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::CurDir => {}
            part => parts.push(part),
        }
    }
    parts
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let mut pages = all_pages();
    pages.extend(["AGENTS.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(str::to_owned));
    for name in ["bench", "crates/capsid-sandbox", "crates/capsid-seal", "sdk/python", "web"] {
        pages.push(format!("{name}/README.md"));
    }
    let mut count = 0;
    for page in &pages {
        let text = read(page);
        for target in link.captures_iter(&text).map(|found| found.get(1).unwrap().as_str()) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = if path.is_empty() {
                PathBuf::from(page)
            } else {
                normalized(&Path::new(page).parent().unwrap().join(path))
            };
            assert!(root().join(&file).exists(), "{page}: {target} is not there");
            if !anchor.is_empty() && file.extension().is_some_and(|ending| ending == "md") {
                let known = anchors(&read(file.to_str().unwrap()));
                assert!(known.contains(anchor), "{page}: {} has no heading for #{anchor}", file.display());
            }
            count += 1;
        }
    }
    assert!(count > 100, "{count} links");
}

#[test]
fn the_index_lists_every_page_once() {
    let link = Regex::new(r"\]\(([^)]+)\)").unwrap();
    let summary = read("docs/SUMMARY.md");
    let mut listed: Vec<String> =
        link.captures_iter(&summary).map(|found| format!("docs/{}", &found[1])).collect();
    listed.sort();
    let pages: Vec<String> = all_pages()
        .into_iter()
        .filter(|page| !["README.md", "docs/SUMMARY.md"].contains(&page.as_str()))
        .collect();
    assert_eq!(listed, pages);
}

/// The phrases are in `scripts/retired-phrases`, one a line, each with what to write instead.
#[test]
fn no_text_uses_a_retired_phrase() {
    let list = read("scripts/retired-phrases");
    let phrases: Vec<(Regex, &str)> = list
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split_once(" -> ").unwrap_or_else(|| panic!("`{line}` has no ` -> `")))
        .map(|(phrase, instead)| (Regex::new(&format!(r"(?i)\b{phrase}\b")).unwrap(), instead))
        .collect();
    assert!(phrases.len() > 30);
    // The words of generated pages are those of the program.
    let mut pages: Vec<String> =
        all_pages().into_iter().filter(|page| !generated::is_generated(page)).collect();
    pages.extend(["AGENTS.md", "CONTRIBUTING.md"].map(str::to_owned));
    let mut wrong = Vec::new();
    for page in &pages {
        for (number, line) in read(page).lines().enumerate() {
            for (phrase, instead) in &phrases {
                if let Some(found) = phrase.find(line) {
                    wrong.push(format!("{page}:{}: `{}`: write {instead}", number + 1, found.as_str()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
