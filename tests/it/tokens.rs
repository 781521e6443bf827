//! Counting by name, and what surrounds it (SPEC §6).

use ctxweave::Code;
use ctxweave::tokens::chat::{ChatMessage, ChatOverhead, count_chat};
use ctxweave::tokens::{Counter, Tokenizers};

use crate::generate::COUNTERS;

fn counter(name: &str) -> &'static dyn Counter {
    COUNTERS.into_iter().find(|counter| counter.name() == name).unwrap()
}

/// The six messages of the cookbook's example, and what its author got from the API for them.
#[test]
fn the_cookbooks_example_costs_what_it_says() {
    let message =
        |name: Option<&'static str>, role: &'static str, content: &'static str| ChatMessage { role, content, name };
    let messages = [
        message(
            None,
            "system",
            "You are a helpful, pattern-following assistant that translates corporate jargon into plain English.",
        ),
        message(Some("example_user"), "system", "New synergies will help drive top-line growth."),
        message(Some("example_assistant"), "system", "Things working well together will increase revenue."),
        message(
            Some("example_user"),
            "system",
            "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
        ),
        message(Some("example_assistant"), "system", "Let's talk later when we're less busy about how to do better."),
        message(None, "user", "This late pivot means we don't have time to boil the ocean for the client deliverable."),
    ];
    assert_eq!(count_chat(messages, ChatOverhead::default(), counter("o200k_base")), 124);
    assert_eq!(count_chat(messages, ChatOverhead::default(), counter("cl100k_base")), 129);
}

#[test]
fn a_name_without_its_vocabulary_says_how_to_load_it() {
    let mut tokenizers = Tokenizers::default();
    let error = tokenizers.get("cl100k_base").unwrap_err();
    assert_eq!((error.code(), error.details()["tokenizer"].as_str()), (Code::VocabularyNotLoaded, Some("cl100k_base")));
    assert!(error.message().contains("loadVocabulary"), "{error}");
    assert_eq!(tokenizers.get("gpt2").unwrap_err().code(), Code::UnknownValue);
    assert_eq!(tokenizers.load("gpt2", &[]).unwrap_err().code(), Code::UnknownValue);
    assert_eq!(tokenizers.load("o200k_base", b"<!doctype html>").unwrap_err().code(), Code::InvalidVocabulary);
    assert_eq!(tokenizers.get("heuristic").unwrap().name(), "heuristic");
}
