//! Formats that a host registers, single deltas of unknown formats, and refs of other stores (docs/commits.md).

use ctxweave::commits::formats::{CustomFormat, Format, Join};
use ctxweave::commits::translate::{CrossFamily, Delta, Materialized, Tier, TranslateOptions, translate};
use ctxweave::commits::{
    AppendAction, CheckpointFields, Checkpointer, CheckpointerOptions, CommitGraph, CommitType, Materializer,
    PlanRequest, Record, Trigger, Verification, artifact_ref, materialize, short_ref,
};
use ctxweave::tokens::Heuristic;
use ctxweave::{Code, DiagnosticCode, Limits};
use proptest::prelude::*;
use serde_json::json;

use crate::calls::call;
use crate::generate::cases;

const TIME: &str = "2026-03-02T10:00:00Z";

fn custom(join: Join, like: Option<Format>) -> Vec<CustomFormat> {
    vec![CustomFormat::new("acme-v2", join, like).unwrap()]
}

fn chain(format: &str, blobs: &[&[u8]]) -> (CommitGraph, Option<String>) {
    let mut graph = CommitGraph::default();
    let mut tip = None;
    for (at, blob) in blobs.iter().enumerate() {
        let time = format!("2026-03-02T10:00:{at:02}Z");
        let record = Record { parent: tip, ..Record::new(CommitType::Delta, &artifact_ref(blob), format, &time) };
        tip = Some(graph.checkpoint(record).unwrap().id.clone());
    }
    (graph, tip)
}

fn result(format: &str, blobs: &[&[u8]], formats: &[CustomFormat], target: Option<&str>) -> Materialized {
    let (graph, commit) = chain(format, blobs);
    let request =
        PlanRequest { commit, format: target.map(str::to_owned), formats: formats.to_vec(), ..PlanRequest::default() };
    let done =
        materialize(&graph, request, |wanted| blobs.iter().copied().find(|blob| artifact_ref(blob) == wanted)).unwrap();
    let deltas: Vec<Delta<'_>> = blobs
        .iter()
        .map(|blob| Delta { format, blob, source: Default::default(), summary: None, time: None })
        .collect();
    let limits = Limits::default();
    let options = TranslateOptions {
        cross_family: CrossFamily::Render,
        through_compactions: true,
        limits: &limits,
        counter: &Heuristic,
        formats,
    };
    let translated = translate(&deltas, target.unwrap_or(format), &options).unwrap();
    assert_eq!((&translated.format, translated.tier), (&done.format, done.tier));
    if done.tier == Tier::Native {
        assert_eq!(String::from_utf8_lossy(&translated.bytes), String::from_utf8_lossy(&done.bytes));
        assert_eq!(translated.message_count, done.message_count);
    }
    done
}

#[test]
fn deltas_are_joined_as_the_format_states() {
    let joined = |join: Join, blobs: &[&[u8]]| {
        let done = result("acme-v2", blobs, &custom(join, None), None);
        assert_eq!((done.tier, done.format.as_str(), done.diagnostics.len()), (Tier::Native, "acme-v2", 0));
        assert_eq!(done.artifact_ref, artifact_ref(&done.bytes));
        done.bytes
    };
    assert_eq!(joined(Join::Bytes, &[b"a", b"b\n", b"c"]), b"ab\nc");
    assert_eq!(joined(Join::Lines, &[b"a", b"b\n", b"c"]), b"a\nb\nc");
    assert_eq!(joined(Join::CborArray, &[b"\x81\x01", b"\xf6", b"\x9f\x02\x03\xff"]), b"\x83\x01\x02\x03");
    let arrays: [&[u8]; 4] = [b"\xef\xbb\xbf[ 1, {\"a\" : 2}\n]\n", b"[]", b"null", b"[ 3 ]"];
    assert_eq!(joined(Join::JsonArray, &arrays), b"[1, {\"a\" : 2},3]");
    assert_eq!(joined(Join::JsonArray, &[b"[]"]), b"[]");
    for (join, nothing) in [(Join::Bytes, &b""[..]), (Join::CborArray, b"\x80"), (Join::JsonArray, b"[]")] {
        assert_eq!(result("acme-v2", &[], &custom(join, None), Some("acme-v2")).bytes, nothing);
    }
    for (join, wrong) in [(Join::JsonArray, &b"{}"[..]), (Join::JsonArray, b"[1"), (Join::CborArray, b"[1]")] {
        let (graph, commit) = chain("acme-v2", &[wrong]);
        let request = PlanRequest { commit, formats: custom(join, None), ..PlanRequest::default() };
        let error = materialize(&graph, request, |_| Some(wrong)).unwrap_err();
        assert_eq!(error.code(), Code::InvalidBlob);
        assert!(error.message().contains("`acme-v2`"), "{error}");
    }
}

/// Nothing of a blob is a request, so no error calls it one.
#[test]
fn errors_about_a_json_array_name_the_blob() {
    let deep = "[".repeat(2000) + &"]".repeat(2000);
    for (wrong, code, expected) in [
        (b"[1".as_slice(), Code::InvalidBlob, "as `acme-v2`: it is not JSON: expected"),
        (b"[1] 2", Code::InvalidBlob, "as `acme-v2`: it has trailing data after the JSON value at byte 3"),
        (b"[1],[2]", Code::InvalidBlob, "as `acme-v2`: it has trailing data"),
        (deep.as_bytes(), Code::LimitExceeded, "jsonDepth"),
    ] {
        let (graph, commit) = chain("acme-v2", &[wrong]);
        let request =
            PlanRequest { commit: commit.clone(), formats: custom(Join::JsonArray, None), ..PlanRequest::default() };
        let error = materialize(&graph, request, |_| Some(wrong)).unwrap_err();
        assert_eq!((error.code(), &error.details()["commitId"]), (code, &json!(commit)));
        assert!(error.message().contains(expected) && !error.message().contains("request"), "{error}");
    }
    let options = CheckpointerOptions::new("bureau-agent-v1");
    let mut session = Checkpointer::new(options, &Limits::default()).unwrap();
    for (message, expected) in [
        (b"{\"role\":".as_slice(), "the message is not JSON: expected"),
        (b"{}{}", "the message has trailing data after the JSON value at byte 2"),
        (b"{\"\xff\":1}", "the message is not UTF-8"),
    ] {
        let error = session.push(message).unwrap_err();
        assert_eq!((error.code(), &error.details()["path"]), (Code::InvalidInput, &json!("message")));
        assert!(error.message().starts_with(expected), "{error}");
    }
}

#[test]
fn the_reader_of_a_built_in_format_applies() {
    let line = |text: &str| json!({ "role": "user", "content": text }).to_string();
    let (one, two) = (line("one"), line("two"));
    let array = format!("[{one}, {two}]");
    let expected = format!("{one}\n{two}\n");
    for (join, blobs) in
        [(Join::Lines, vec![one.as_bytes(), two.as_bytes()]), (Join::JsonArray, vec![array.as_bytes()])]
    {
        let formats = custom(join, Some(Format::GenericV1));
        let done = result("acme-v2", &blobs, &formats, None);
        assert_eq!((done.tier, done.message_count), (Tier::Native, 2));
        let rendered = result("acme-v2", &blobs, &formats, Some("generic-v1"));
        assert_eq!(rendered.tier, Tier::Rendering);
        let narrative = String::from_utf8(rendered.bytes).unwrap();
        assert!(narrative.contains("`acme-v2`") && narrative.contains("two"), "{narrative}");
        let (graph, commit) = chain("acme-v2", &blobs);
        let request = PlanRequest {
            commit,
            format: Some("generic-v1".to_owned()),
            cross_family: CrossFamily::Transcode,
            formats,
            ..PlanRequest::default()
        };
        let turned =
            materialize(&graph, request, |wanted| blobs.iter().copied().find(|blob| artifact_ref(blob) == wanted))
                .unwrap();
        let said = String::from_utf8(turned.bytes).unwrap();
        assert_eq!(turned.tier, Tier::Transcode);
        assert!(said.contains("\"one\"") && said.contains("\"two\"") && said.len() >= expected.len(), "{said}");
    }
    // Damage is reported as in the format that it is like.
    let damaged = result("acme-v2", &[b"{\"role\":\"user\""], &custom(Join::Lines, Some(Format::GenericV1)), None);
    assert_eq!(damaged.diagnostics[0].code, DiagnosticCode::TornLine);
}

/// Sessions of Gemini CLI are objects or lines: joined as `gemini-v1` joins them, no message is lost.
#[test]
fn a_format_like_that_of_gemini_is_joined_like_it() {
    let message = |id: &str| json!({ "id": id, "type": "user", "content": format!("hi {id}") });
    let object = |id: &str| json!({ "sessionId": "s", "messages": [message(id)] }).to_string();
    let header = json!({ "sessionId": "s" });
    let formats = custom(Join::Lines, Some(Format::GeminiV1));
    for (one, two) in [
        (object("1"), object("2")),
        (format!("{header}\n{}", message("1")), message("2").to_string()),
        (format!("{header}\n{}\n", message("1")), object("2")),
    ] {
        let blobs = [one.as_bytes(), two.as_bytes()];
        let done = result("acme-v2", &blobs, &formats, None);
        assert_eq!((done.tier, done.message_count, done.diagnostics.len()), (Tier::Native, 2, 0));
        assert_eq!(done.bytes, result("gemini-v1", &blobs, &[], None).bytes);
        let (graph, commit) = chain("acme-v2", &blobs);
        let request = PlanRequest {
            commit,
            format: Some("generic-v1".to_owned()),
            cross_family: CrossFamily::Transcode,
            formats: formats.clone(),
            ..PlanRequest::default()
        };
        let blob_of = |wanted: &str| blobs.into_iter().find(|blob| artifact_ref(blob) == wanted);
        let turned = materialize(&graph, request, blob_of).unwrap();
        let text = String::from_utf8(turned.bytes).unwrap();
        assert_eq!((turned.message_count, turned.diagnostics.len()), (2, 0), "{text}");
        assert!(text.contains("hi 1") && text.contains("hi 2"), "{text}");
    }
    // Its deltas are parts of a file.
    let file = format!("{header}\n{}\n", message("1"));
    let format = json!([{ "name": "acme-v2", "join": "lines", "like": "gemini-v1" }]);
    let args = [json!("acme-v2"), json!(file), json!({ "createdAt": TIME }), format];
    assert_eq!(call("importTranscript", &args, None).unwrap()["records"][0]["format"], "acme-v2");
}

#[test]
fn a_single_delta_of_an_unknown_format_is_unchanged() {
    for blob in [&b"\x00\xff"[..], b"text", b""] {
        let done = result("odd-v1", &[blob], &[], None);
        assert_eq!((done.tier, done.format.as_str(), done.bytes.as_slice()), (Tier::Native, "odd-v1", blob));
        assert_eq!(done.diagnostics, []);
    }
    // Several cannot be joined, and the result is not labeled as what it is not.
    let two = result("odd-v1", &[b"a", b"b"], &[], None);
    assert_eq!((two.tier, two.format.as_str()), (Tier::Raw, "markdown"));
    let codes: Vec<DiagnosticCode> = two.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, [DiagnosticCode::UnknownFormat; 3]);
    // A registered format has no writer.
    let mixed =
        result("generic-v1", &[b"{\"role\":\"user\",\"content\":\"x\"}"], &custom(Join::Lines, None), Some("acme-v2"));
    assert_eq!((mixed.tier, mixed.format.as_str()), (Tier::Rendering, "markdown"));
}

/// A registered format without `like` is known; what it lacks is a reader.
#[test]
fn a_format_without_a_reader_is_reported_as_such() {
    for (formats, expected) in [
        (Vec::new(), ["`acme-v2`", "is unknown; its blob is returned unchanged, with a description"]),
        (
            custom(Join::Lines, None),
            ["`acme-v2`", "has no reader; its blob is returned unchanged, with a description; register it with `like`"],
        ),
    ] {
        let (graph, commit) = chain("acme-v2", &[b"x"]);
        let format = Some("generic-v1".to_owned());
        let plan = graph.plan(PlanRequest { commit, format, formats: formats.clone(), ..PlanRequest::default() });
        let limits = Limits::default();
        let options = TranslateOptions {
            cross_family: CrossFamily::Render,
            through_compactions: false,
            limits: &limits,
            counter: &Heuristic,
            formats: &formats,
        };
        let delta = Delta { format: "acme-v2", blob: b"x", source: Default::default(), summary: None, time: None };
        let done = translate(&[delta], "generic-v1", &options).unwrap();
        assert_eq!(done.tier, Tier::Raw);
        for found in [&plan.unwrap().diagnostics, &done.diagnostics] {
            assert_eq!((found.len(), found[0].code), (1, DiagnosticCode::UnknownFormat));
            assert!(expected.iter().all(|part| found[0].message.contains(part)), "{}", found[0].message);
            assert!(found[0].message.ends_with(expected[1]), "{}", found[0].message);
        }
        let text = String::from_utf8(done.bytes).unwrap();
        assert!(text.contains("its format cannot be read here"), "{text}");
    }
}

#[test]
fn a_cache_key_depends_on_the_definition() {
    let (graph, commit) = chain("acme-v2", &[b"[1]", b"[2]"]);
    let key = |formats: Vec<CustomFormat>| {
        graph.plan(PlanRequest { commit: commit.clone(), formats, ..PlanRequest::default() }).unwrap().cache_key
    };
    let keys = [Vec::new(), custom(Join::Lines, None), custom(Join::JsonArray, None)].map(key);
    assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2], "{keys:?}");
    let unused = vec![CustomFormat::new("other", Join::Bytes, None).unwrap()];
    assert_eq!(key(unused), key(Vec::new()), "formats that are not used change nothing");
}

#[test]
fn definitions_are_checked() {
    let refused = |name: &str, join: Join, like: Option<Format>| {
        let error = CustomFormat::new(name, join, like).unwrap_err();
        (error.code(), error.details()["path"].clone())
    };
    assert_eq!(refused(" ", Join::Bytes, None), (Code::InvalidInput, json!("name")));
    assert_eq!(refused("codex-v1", Join::Bytes, None), (Code::InvalidInput, json!("name")));
    // Results that are narratives have this format.
    assert_eq!(refused("markdown", Join::Bytes, None), (Code::InvalidInput, json!("name")));
    for (join, like) in [
        (Join::Lines, Format::BureauAgentV1),
        (Join::CborArray, Format::GenericV1),
        (Join::Bytes, Format::ClineV1),
        (Join::Bytes, Format::GeminiV1),
        (Join::JsonArray, Format::GeminiV1),
        (Join::JsonArray, Format::EventsV1),
    ] {
        assert_eq!(refused("acme-v2", join, Some(like)), (Code::InvalidInput, json!("like")));
    }
    for (format, code, field, part) in [
        (json!({ "name": "a" }), Code::InvalidInput, "join", "use one of `bytes`, `lines`, `cbor-array`, `json-array`"),
        (json!({ "name": "a", "join": "zip" }), Code::UnknownValue, "join", "must be one of"),
        (json!({ "name": "a", "join": 1 }), Code::InvalidInput, "join", "one of"),
        (json!({ "name": "a", "join": "bytes", "like": "none" }), Code::UnknownValue, "like", "use one of"),
        (json!({ "name": "a", "join": "bytes", "like": "gemini-v1" }), Code::InvalidInput, "like", "change `join`"),
        (json!({ "name": "a", "join": "bytes", "Like": "generic-v1" }), Code::InvalidInput, "Like", "`like`"),
        (json!({ "name": " ", "join": "bytes" }), Code::InvalidInput, "name", "give the name"),
        (json!({ "name": "markdown", "join": "bytes" }), Code::InvalidInput, "name", "another name"),
        (json!({ "name": 1, "join": "bytes" }), Code::InvalidInput, "name", "string"),
    ] {
        let error = call("registerFormat", std::slice::from_ref(&format), None).unwrap_err();
        assert_eq!((error.code(), &error.details()["path"]), (code, &json!(format!("format.{field}"))), "{error}");
        assert!(error.message().contains(part), "{error}");
        // In a list of formats the path has the place.
        let args = [json!("a"), json!(""), json!({}), json!([{ "name": "b", "join": "bytes" }, format])];
        let error = call("transcriptToMessages", &args, None).unwrap_err();
        assert_eq!((error.code(), &error.details()["path"]), (code, &json!(format!("formats[1].{field}"))), "{error}");
    }
}

#[test]
fn sessions_are_recorded_and_imported_in_a_registered_format() {
    let options = CheckpointerOptions {
        formats: custom(Join::JsonArray, Some(Format::GenericV1)),
        ..CheckpointerOptions::new("acme-v2")
    };
    let mut session = Checkpointer::new(options, &Limits::default()).unwrap();
    session.push(b"{\"role\":\"user\",\"content\":\"one\"}").unwrap();
    session.push(b"[{\"role\":\"assistant\",\"content\":\"two\"}]").unwrap();
    assert_eq!(session.push(b"[1").unwrap_err().code(), Code::InvalidBlob);
    let fields = CheckpointFields { created_at: TIME.to_owned(), ..CheckpointFields::default() };
    let offered = session.checkpoint(Trigger::TurnBoundary, &fields).unwrap();
    let expected = "[{\"role\":\"user\",\"content\":\"one\"},{\"role\":\"assistant\",\"content\":\"two\"}]";
    assert_eq!(String::from_utf8_lossy(&offered[0].blob), expected);
    assert_eq!((offered[0].record.message_count, offered[0].record.format.as_str()), (Some(2), "acme-v2"));
    let unknown = Checkpointer::new(CheckpointerOptions::new("acme-v2"), &Limits::default()).unwrap_err();
    assert_eq!(unknown.code(), Code::UnknownValue);

    let file = "{\"role\":\"user\",\"content\":\"one\"}\n{\"role\":\"assistant\",\"content\":\"two\"}\n";
    let formats = |join: &str, like: Option<&str>| json!([{ "name": "acme-v2", "join": join, "like": like }]);
    let import = |join: &str| {
        let args = [json!("acme-v2"), json!(file), json!({ "createdAt": TIME }), formats(join, Some("generic-v1"))];
        call("importTranscript", &args, None)
    };
    assert_eq!(import("lines").unwrap()["records"][0]["format"], "acme-v2");
    assert_eq!(import("json-array").unwrap_err().code(), Code::InvalidInput);
    let messages = |like: Option<&str>| {
        call("transcriptToMessages", &[json!("acme-v2"), json!(file), json!({}), formats("bytes", like)], None)
    };
    assert_eq!(messages(Some("generic-v1")).unwrap()["messages"].as_array().unwrap().len(), 2);
    assert_eq!(messages(None).unwrap_err().code(), Code::InvalidInput);
}

/// A graph with one imported record of another store.
fn foreign(artifact: &str) -> (CommitGraph, PlanRequest) {
    let mut graph = CommitGraph::default();
    let line = json!({ "id": "ctx-other", "version": 1, "commit_type": "delta", "artifact_ref": artifact,
        "format": "generic-v1", "created_at": TIME });
    let report = graph.import_jsonl(line.to_string().as_bytes()).unwrap();
    assert_eq!(report.added, ["ctx-other"], "{:?}", report.diagnostics);
    (graph, PlanRequest { commit: Some("ctx-other".to_owned()), ..PlanRequest::default() })
}

#[test]
fn refs_of_other_stores_are_verified_by_the_host() {
    let blob = b"{\"role\":\"user\",\"content\":\"x\"}\n";
    for artifact in ["sha256:0a", "art-9f8e7d6c5b4a", "art-7", "art-doc:7", "urn:uuid:1-2", "ipfs:Qm1"] {
        let (graph, request) = foreign(artifact);
        assert_eq!(graph.plan(request.clone()).unwrap().refs, [artifact]);
        assert_eq!(graph.reachable_artifacts(&["ctx-other"]).unwrap(), [artifact]);
        let mut work = Materializer::new(&graph, request.clone(), None).unwrap();
        assert_eq!(work.push_verified(blob, Verification::Available).unwrap(), AppendAction::Verify);
        let refused = work.push_verified(blob, Verification::Refused).unwrap_err();
        assert_eq!((refused.code(), &refused.details()["artifactRef"]), (Code::BlobMismatch, &json!(artifact)));
        // A ref of another store is not compared with a hash.
        let expected =
            format!("`verifyArtifact` rejected the blob of `{artifact}` for commit `ctx-other`; fetch it again");
        assert_eq!((refused.message(), refused.details().get("actualRef")), (expected.as_str(), None));
        assert_eq!(work.push_verified(blob, Verification::Confirmed).unwrap(), AppendAction::Append);
        assert_eq!(work.finish().unwrap().diagnostics, []);
        let unverified = materialize(&graph, request, |_| Some(blob.as_slice()));
        if artifact.starts_with("art-") {
            // It may be a damaged short ref, or the blob of a short ref may be damaged.
            let error = unverified.unwrap_err();
            assert_eq!(error.code(), Code::BlobMismatch);
            assert!(error.message().contains("verifyArtifact"), "{error}");
        } else {
            let done = unverified.unwrap();
            assert_eq!(done.bytes, blob);
            assert_eq!(done.diagnostics[0].code, DiagnosticCode::ArtifactUnverified);
            assert_eq!(done.diagnostics[0].path.as_deref(), Some("ctx-other"));
        }
    }
    // Refs that can be verified here are.
    let full = artifact_ref(blob);
    for artifact in [full.clone(), full.strip_prefix("blake3:").unwrap().to_owned(), short_ref(&full).unwrap()] {
        let (graph, request) = foreign(&artifact);
        let mut work = Materializer::new(&graph, request, None).unwrap();
        assert_eq!(work.push_verified(blob, Verification::Available).unwrap(), AppendAction::Append);
    }
    let (graph, request) = foreign(&full);
    let mut work = Materializer::new(&graph, request, None).unwrap();
    assert_eq!(work.push_verified(b"other", Verification::Confirmed).unwrap_err().code(), Code::BlobMismatch);
}

#[test]
fn other_texts_are_no_refs() {
    let uuids = ["a1b2c3d4-0000-4000-8000-000000000000", "12345678-0000-4000-8000-000000000000"];
    let others =
        ["blake3:00", "Blake3:00", "plain", "", "a b:c", ":x", "1:x", "x:", "x:y z", "x_y:z", "art-", "s3-a/b"];
    for artifact in others.into_iter().chain(uuids) {
        let mut graph = CommitGraph::default();
        let line = json!({ "id": "ctx-other", "version": 1, "commit_type": "delta", "artifact_ref": artifact,
            "format": "generic-v1", "created_at": TIME });
        let report = graph.import_jsonl(line.to_string().as_bytes()).unwrap();
        assert_eq!(report.added, [] as [String; 0], "{artifact}");
        let found = &report.diagnostics[0].message;
        assert!(artifact.is_empty() || found.contains("for another store `scheme:text` or `art-text`"), "{found}");
    }
    // A new commit names its blob by hash.
    let mut graph = CommitGraph::default();
    let record = Record::new(CommitType::Delta, "sha256:00", "generic-v1", TIME);
    assert_eq!(graph.checkpoint(record).unwrap_err().code(), Code::InvalidInput);
}

#[test]
fn refs_of_other_stores_resolve_if_the_graph_has_them() {
    for artifact in ["sha256:0a", "art-7", "aa:1", "zz:1", "art-9f8e7d6c5b4a"] {
        let (mut graph, _) = foreign(artifact);
        let is_short = artifact == "art-9f8e7d6c5b4a";
        assert_eq!(graph.resolve_artifact(artifact).ok().as_deref(), Some(artifact).filter(|_| !is_short));
        for missing in ["sha256:0b", "art-8", "art-0123456789ab"] {
            let error = graph.resolve_artifact(missing).unwrap_err();
            assert_eq!((error.code(), &error.details()["artifactRef"]), (Code::ArtifactNotFound, &json!(missing)));
        }
        assert_eq!(graph.resolve_artifact("12345678-1").unwrap_err().code(), Code::InvalidInput);
        // They are no candidates for a short ref.
        let full = artifact_ref(b"blob");
        graph.checkpoint(Record::new(CommitType::Delta, &full, "generic-v1", TIME)).unwrap();
        assert_eq!(graph.resolve_artifact(&short_ref(&full).unwrap()).unwrap(), full);
        // A known one still names no blob of a new commit.
        let again = graph.checkpoint(Record::new(CommitType::Delta, artifact, "generic-v1", TIME)).unwrap_err();
        assert_eq!(again.code(), if is_short { Code::ArtifactNotFound } else { Code::InvalidInput });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(64)))]

    /// However a list is cut into arrays, they join to the list.
    #[test]
    fn batches_of_an_array_do_not_matter(items in prop::collection::vec("[a-z\"\\\\ ]{0,5}", 0..12), cuts in prop::collection::vec(0_usize..13, 0..5)) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(items.len())).chain([0, items.len()]).collect();
        cuts.sort_unstable();
        let blobs: Vec<Vec<u8>> = cuts.windows(2).map(|pair| json!(items[pair[0]..pair[1]]).to_string().into_bytes()).collect();
        let blobs: Vec<&[u8]> = blobs.iter().map(Vec::as_slice).collect();
        let done = result("acme-v2", &blobs, &custom(Join::JsonArray, None), Some("acme-v2"));
        let read: serde_json::Value = serde_json::from_slice(&done.bytes).unwrap();
        prop_assert_eq!(read, json!(items));
    }
}
