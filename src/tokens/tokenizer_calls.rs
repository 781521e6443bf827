//! The calls that encode, decode, cut and split texts.

use super::cut::{split_text, truncate_text};
use super::text_calls::{calibrated, decode_token_bytes, encode_tokens, token_spans, vocabulary_of};
use crate::call::Call;

/// The calls by their names.
pub const TOKENIZER_CALLS: &[Call] = &[
    Call::new("encodeTokens", &["text", "options"], |_, request, host| encode_tokens(request, host)),
    Call::new("decodeTokenBytes", &["ids", "options"], |_, request, host| decode_token_bytes(request, host)),
    Call::new("calibrate", &["samples"], |_, request, _| calibrated(request)),
    Call::new("tokenSpans", &["text", "options"], |_, request, host| token_spans(request, host)),
    Call::new("vocabularyOf", &["tokenizerJson"], |_, request, _| vocabulary_of(request)),
    Call::new("truncateText", &["text", "maxTokens", "options"], |_, request, host| truncate_text(request, host)),
    Call::new("splitText", &["text", "options"], |_, request, host| split_text(request, host)),
];
