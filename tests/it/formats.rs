//! Native concatenation of each format (docs/sessions.md).

use ctxweave::commits::formats::{BlobSource, Concatenated, Concatenator, Format};
use ctxweave::{Code, DiagnosticCode, Limits};
use proptest::prelude::*;

fn concatenate(format: &str, blobs: &[&[u8]]) -> Concatenated {
    let mut joined = Concatenator::new(Format::named(format).unwrap(), &Limits::default(), 0);
    for blob in blobs {
        joined.push(blob, BlobSource::default()).unwrap();
    }
    joined.finish().unwrap()
}

fn join(format: &str, blobs: &[&[u8]]) -> Vec<u8> {
    let joined = concatenate(format, blobs);
    assert!(joined.diagnostics.is_empty(), "{:?}", joined.diagnostics);
    joined.bytes
}

fn join_text(format: &str, blobs: &[&str]) -> String {
    let blobs: Vec<&[u8]> = blobs.iter().map(|blob| blob.as_bytes()).collect();
    String::from_utf8(join(format, &blobs)).unwrap()
}

fn refuse(format: &str, blob: &[u8]) -> ctxweave::Error {
    let mut joined = Concatenator::new(Format::named(format).unwrap(), &Limits::default(), 0);
    joined.push(blob, BlobSource { commit: "ctx-1", artifact_ref: "blake3:00" }).unwrap_err()
}

/// All formats of the registry.
#[test]
fn the_registry_knows_its_formats() {
    let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
    let known = [
        "atif-1.7",
        "bureau-agent-v1",
        "claude-code-v1",
        "cline-v1",
        "codex-v0",
        "codex-v1",
        "continue-v1",
        "copilot-cli-v1",
        "events-v1",
        "gemini-v1",
        "generic-v1",
        "opencode-export",
        "otel-genai",
        "pi-v3",
        "qwen-code-v1",
        "sts",
    ];
    assert_eq!(names, known);
    assert!(names.iter().all(|name| Format::from_name(name).is_some()));
    assert!(Format::from_name("claude-code-v2").is_none());
    let error = Format::named("x").unwrap_err();
    assert_eq!(error.code(), Code::UnknownValue);
    assert_eq!(error.details()["expected"].as_array().unwrap().len(), known.len());
}

/// If one delta ends without a newline and the next does not start with one, a newline is put between; nothing else
/// changes.
#[test]
fn jsonl_is_appended_with_a_newline_only_where_one_is_missing() {
    for format in ["claude-code-v1", "codex-v1", "codex-v0", "generic-v1"] {
        assert_eq!(join_text(format, &["{\"a\":1}\n", "{\"b\":1}\n"]), "{\"a\":1}\n{\"b\":1}\n");
        assert_eq!(join_text(format, &["{\"a\":1}", "{\"b\":1}"]), "{\"a\":1}\n{\"b\":1}");
        assert_eq!(join_text(format, &["{\"a\":1}", "\n{\"b\":1}"]), "{\"a\":1}\n{\"b\":1}");
        assert_eq!(join_text(format, &["{\"a\":1}", "\r\n{\"b\":1}\r\n"]), "{\"a\":1}\r\n{\"b\":1}\r\n");
        assert_eq!(join_text(format, &["{\"a\":1}", "", "", "{\"b\":1}"]), "{\"a\":1}\n{\"b\":1}");
        assert_eq!(join_text(format, &[]), "");
        assert_eq!(join_text(format, &["", ""]), "");
        // Whatever stands in it is kept byte for byte: unknown types, white space, key order, numbers.
        let strange = "  {\"type\":\"from-the-future\", \"n\":1.50e0}\t\n\n{\"z\":1,\"a\":\"\\ud800\"}\n";
        assert_eq!(join_text(format, &[strange]), strange);
    }
}

#[test]
fn a_truncated_delta_is_kept_and_reported() {
    let joined = concatenate("claude-code-v1", &[b"{\"a\":1}\n{\"b\":", b"{\"c\":1}"]);
    assert_eq!(joined.bytes, b"{\"a\":1}\n{\"b\":\n{\"c\":1}");
    assert_eq!(joined.diagnostics.len(), 1);
    assert_eq!(joined.diagnostics[0].code, DiagnosticCode::TornLine);
}

/// Items are spliced verbatim under one definite-length header; `80` if empty; null is accepted as empty.
#[test]
fn cbor_items_are_spliced_verbatim() {
    let format = "bureau-agent-v1";
    assert_eq!(join(format, &[]), [0x80]);
    assert_eq!(join(format, &[&[0x80], &[0xf6], &[0x9f, 0xff]]), [0x80]);
    // A number that is not in its shortest form, and an item of indefinite length, stay as they are.
    assert_eq!(
        join(format, &[&[0x82, 0x18, 0x01, 0x9f, 0x02, 0xff], &[0x9f, 0x03, 0xff]]),
        [0x83, 0x18, 0x01, 0x9f, 0x02, 0xff, 0x03]
    );
    let many: Vec<u8> = [0x98, 30].into_iter().chain([0xf6; 30]).collect();
    assert_eq!(join(format, &[&many, &many])[..2], [0x98, 60]);
    assert_eq!(join(format, &[&many, &many]).len(), 62);
}

/// A declared length of 2^63, nesting of 10,000, indefinite lengths, trailing bytes.
#[test]
fn cbor_is_bounded() {
    let nested = |depth: usize| [vec![0x81], vec![0x81; depth], vec![0x80]].concat();
    assert_eq!(refuse("bureau-agent-v1", &nested(10_000)).code(), Code::LimitExceeded);
    assert_eq!(refuse("bureau-agent-v1", &nested(10_000)).details()["limit"], "cborDepth");
    assert_eq!(
        refuse("bureau-agent-v1", &[vec![0x81], vec![0xc1; 10_000], vec![0x00]].concat()).code(),
        Code::LimitExceeded
    );
    let huge = [0x80, 0, 0, 0, 0, 0, 0, 0];
    for (major, what) in [(0x9b, "array"), (0xbb, "map"), (0x5b, "bytes"), (0x7b, "text")] {
        let blob = [&[0x81, major][..], &huge].concat();
        assert_eq!(refuse("bureau-agent-v1", &blob).code(), Code::InvalidBlob, "{what}");
    }
    for blob in [
        &[0x9b, 0x80, 0, 0, 0, 0, 0, 0, 0][..],
        &[],
        &[0x80, 0x00],
        &[0xf6, 0xf6],
        &[0xa0],
        &[0x01],
        &[0x82, 0x01],
        &[0x9f, 0x01],
        &[0x81, 0xff],
        &[0x81, 0xbf, 0x01, 0xff],
        &[0x81, 0xc1, 0xff],
        &[0x81, 0x61, 0xff],
        &[0x81, 0xf9, 0x00],
        &[0x81, 0x1c],
        &[0x81, 0x5f, 0x61, 0x61, 0xff],
        &[0x9f, 0xff, 0x00],
    ] {
        let error = refuse("bureau-agent-v1", blob);
        assert_eq!(error.code(), Code::InvalidBlob, "{blob:02x?}");
        assert_eq!(
            (&error.details()["commitId"], &error.details()["artifactRef"]),
            (&"ctx-1".into(), &"blake3:00".into())
        );
        assert!(error.message().contains("`ctx-1`") && error.message().contains("`blake3:00`"));
    }
}

/// One JSON object with `messages`, or JSONL with a header line, message lines and `$set` lines.
#[test]
fn gemini_files_are_joined_as_they_are() {
    let format = "gemini-v1";
    let lines =
        ["{\"sessionId\":\"s\",\"projectHash\":\"p\"}\n{\"id\":\"1\"}", "{\"$set\":{\"a\":1}}\n{\"id\":\"1\"}\n"];
    assert_eq!(join_text(format, &lines), [lines[0], "\n", lines[1]].concat());
    let pretty = "{\n  \"sessionId\": \"s\",\n  \"lastUpdated\": \"1\",\n  \"messages\": [\n    {\n      \"id\": \"1\",\n      \"content\": \"a\\\" b\"\n    }\n  ]\n}";
    assert_eq!(join_text(format, &[pretty]), pretty);
    let second = r#"{"sessionId":"s","lastUpdated":"2","messages":[{"id":"2"},{"id":"1", "x":1}],"summary":"t"}"#;
    assert_eq!(
        join_text(format, &[pretty, second]),
        r#"{"sessionId":"s","lastUpdated":"2","summary":"t","messages":[{"id":"1", "x":1},{"id":"2"}]}"#
    );
    assert_eq!(
        join_text(format, &[pretty, "{\"id\":\"2\"}\n", second]),
        concat!(
            r#"{"sessionId":"s","lastUpdated":"1"}"#,
            "\n",
            r#"{"id":"1","content":"a\" b"}"#,
            "\n",
            r#"{"id":"2"}"#,
            "\n",
            r#"{"$set":{"sessionId":"s","lastUpdated":"2","summary":"t"}}"#,
            "\n",
            r#"{"id":"2"}"#,
            "\n",
            r#"{"id":"1","x":1}"#,
            "\n"
        )
    );
    for cut in 1..pretty.len() {
        assert_eq!(refuse(format, &pretty.as_bytes()[..cut]).code(), Code::InvalidBlob, "cut at {cut}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::generate::cases(256)))]

    /// Any cut of a JSONL file at line ends gives the same file again.
    #[test]
    fn batching_does_not_matter(lines in prop::collection::vec("\\{\"[a-z]\":[0-9]\\}", 0..20), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let whole: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(lines.len() + 1)).collect();
        cuts.push(0);
        cuts.push(lines.len());
        cuts.sort_unstable();
        let deltas: Vec<String> = cuts.windows(2).map(|pair| lines[pair[0]..pair[1]].join("\n")).collect();
        let deltas: Vec<&[u8]> = deltas.iter().map(|delta| delta.as_bytes()).collect();
        let joined = join("claude-code-v1", &deltas);
        let joined = String::from_utf8(joined).unwrap();
        prop_assert_eq!(joined.trim_end(), whole.trim_end());
    }

    /// No bytes make the joiners panic, and what bureau-agent-v1 accepts it gives back as a well-formed array.
    #[test]
    fn joining_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for format in Format::WRITTEN.iter().chain(&[Format::EventsV1]) {
            let mut joined = Concatenator::new(*format, &Limits::default(), 0);
            let took = joined.push(&bytes, BlobSource::default()).is_ok();
            let joined = joined.finish().unwrap();
            if took && matches!(format, Format::BureauAgentV1 | Format::EventsV1) {
                prop_assert_eq!(join(format.name(), &[&joined.bytes]), joined.bytes);
            }
        }
    }
}
