//! Costs of images, recordings and files, wherever they are (docs/chats.md).

use ctxweave::call::CallContext;
use ctxweave::chat::CALLS;
use serde_json::{Value, json};

use super::{count, fit};

/// Bytes as base64.
pub(super) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = |three: &[u8]| {
        let bits = three.iter().fold(0, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - three.len()));
        (0..4).map(move |at| DIGITS[(bits >> (18 - 6 * at) & 63) as usize] as char).collect::<String>()
    };
    bytes.chunks(3).flat_map(|three| digits(three).chars().collect::<Vec<_>>()).collect()
}

/// A PNG of 1092 by 1092 pixels, as far as its header goes, and so many more bytes.
pub(super) fn png(more: usize) -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\x44\0\0\x04\x44\x08\x06\0\0\0".to_vec();
    bytes.extend((0..more).map(|at| (at * 7919 % 251) as u8));
    bytes.resize(bytes.len() / 3 * 3, 0);
    base64(&bytes)
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
    /// An image that a text can stand for.
    Image,
    /// An image that stays.
    FixedImage,
    File,
}

/// A chat in a format with one medium, which it holds as `BYTES` or as `DATA_URL`.
pub(super) type Case = (&'static str, What, Value);

pub(super) fn cases() -> Vec<Case> {
    [openai(), responses(), agents(), anthropic(), gemini(), interactions(), ai_sdk(), langchain(), generic()].concat()
}

fn user(part: Value) -> Value {
    json!([{ "role": "user", "content": [{ "type": "text", "text": "See here." }, part] }])
}

fn openai() -> Vec<Case> {
    let tool = |part: Value| {
        json!([
            { "role": "user", "content": "Look." },
            { "role": "assistant", "content": null, "tool_calls": [{ "id": "c", "type": "function", "function": { "name": "look", "arguments": "{}" } }] },
            { "role": "tool", "tool_call_id": "c", "content": [{ "type": "text", "text": "Here." }, part] },
        ])
    };
    let image = json!({ "type": "image_url", "image_url": { "url": "DATA_URL", "detail": "high" } });
    let file = json!({ "type": "file", "file": { "filename": "a.pdf", "file_data": "DATA_URL" } });
    let audio = json!({ "type": "input_audio", "input_audio": { "data": "BYTES", "format": "wav" } });
    vec![
        ("openai", What::Image, user(image.clone())),
        ("openai", What::Image, tool(image)),
        ("openai", What::File, user(file.clone())),
        ("openai", What::File, tool(file)),
        ("openai", What::File, user(audio)),
        (
            "openai",
            What::File,
            json!([{ "role": "assistant", "content": "x", "audio": { "id": "a", "data": "BYTES", "transcript": "x" } }]),
        ),
    ]
}

fn responses() -> Vec<Case> {
    let output = |call: &str, part: Value| {
        json!([
            { "role": "user", "content": "Look." },
            { "type": call, "call_id": "c", "name": "look", "arguments": "{}", "input": "" },
            { "type": format!("{call}_output"), "call_id": "c", "output": part },
        ])
    };
    let image = json!({ "type": "input_image", "image_url": "DATA_URL", "detail": "auto" });
    let file = json!({ "type": "input_file", "filename": "a.pdf", "file_data": "DATA_URL" });
    let shot = json!({ "type": "computer_screenshot", "image_url": "DATA_URL" });
    let audio = json!({ "type": "input_audio", "input_audio": { "data": "BYTES", "format": "mp3" } });
    let made = json!([{ "type": "image_generation_call", "id": "i", "status": "completed", "result": "BYTES" }]);
    let ran = json!([{ "type": "code_interpreter_call", "id": "i", "code": "plot()", "status": "completed", "container_id": "c", "outputs": [{ "type": "image", "url": "DATA_URL" }] }]);
    vec![
        ("openai-responses", What::Image, user(image.clone())),
        ("openai-responses", What::File, user(file.clone())),
        ("openai-responses", What::File, user(audio)),
        ("openai-responses", What::Image, output("function_call", json!([image.clone()]))),
        ("openai-responses", What::File, output("function_call", json!([file]))),
        ("openai-responses", What::Image, output("custom_tool_call", json!([image]))),
        ("openai-responses", What::FixedImage, output("computer_call", shot)),
        ("openai-responses", What::FixedImage, made),
        ("openai-responses", What::FixedImage, ran),
    ]
}

fn agents() -> Vec<Case> {
    let result = |output: Value| {
        json!([
            { "role": "user", "content": "Look." },
            { "type": "function_call", "callId": "c", "name": "look", "arguments": "{}" },
            { "type": "function_call_result", "callId": "c", "name": "look", "status": "completed", "output": output },
        ])
    };
    let shot = json!([
        { "type": "computer_call", "callId": "c", "status": "completed", "action": { "type": "screenshot" } },
        { "type": "computer_call_result", "callId": "c", "output": { "type": "computer_screenshot", "data": "DATA_URL" } },
    ]);
    let image = json!({ "type": "image", "image": { "data": "BYTES", "mediaType": "image/png" } });
    let file = json!({ "type": "file", "file": { "data": "BYTES", "mediaType": "application/pdf", "filename": "a" } });
    let made = json!([{ "type": "hosted_tool_call", "name": "image_generation_call", "id": "i", "status": "completed", "output": "BYTES" }]);
    vec![
        ("openai-agents", What::Image, user(json!({ "type": "input_image", "image": "DATA_URL" }))),
        ("openai-agents", What::File, user(json!({ "type": "input_file", "file": "DATA_URL", "filename": "a.pdf" }))),
        ("openai-agents", What::File, user(json!({ "type": "audio", "audio": "BYTES", "format": "mp3" }))),
        ("openai-agents", What::Image, result(image.clone())),
        ("openai-agents", What::Image, result(json!([{ "type": "image", "image": "DATA_URL" }]))),
        ("openai-agents", What::Image, result(json!([image, { "type": "input_text", "text": "x" }]))),
        ("openai-agents", What::Image, result(json!([{ "type": "input_image", "image": "DATA_URL" }]))),
        ("openai-agents", What::File, result(file.clone())),
        ("openai-agents", What::File, result(json!([file]))),
        ("openai-agents", What::File, result(json!([{ "type": "input_file", "file": "DATA_URL" }]))),
        ("openai-agents", What::FixedImage, shot),
        ("openai-agents", What::FixedImage, made),
    ]
}

fn anthropic() -> Vec<Case> {
    let block = |kind: &str, mime: &str| json!({ "type": kind, "source": { "type": "base64", "media_type": mime, "data": "BYTES" } });
    let (image, pdf) = (block("image", "image/png"), block("document", "application/pdf"));
    let shown = json!({ "type": "document", "title": "A", "source": { "type": "content", "content": [{ "type": "text", "text": "A" }, image.clone()] } });
    let result = |part: Value| {
        json!([
            { "role": "user", "content": "Look." },
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "c", "name": "look", "input": {} }] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c", "content": [{ "type": "text", "text": "Here." }, part] }] },
        ])
    };
    let fetched = json!([
        { "role": "user", "content": "Look." },
        { "role": "assistant", "content": [
            { "type": "server_tool_use", "id": "s", "name": "web_fetch", "input": { "url": "https://a.example" } },
            { "type": "web_fetch_tool_result", "tool_use_id": "s", "content": { "type": "web_fetch_result", "url": "https://a.example", "content": pdf.clone() } },
        ] },
    ]);
    vec![
        ("anthropic", What::Image, user(image.clone())),
        ("anthropic", What::File, user(pdf.clone())),
        ("anthropic", What::FixedImage, user(shown.clone())),
        ("anthropic", What::Image, result(image.clone())),
        ("anthropic", What::File, result(pdf)),
        ("anthropic", What::FixedImage, result(shown)),
        ("anthropic", What::File, fetched),
        (
            "anthropic",
            What::FixedImage,
            json!({ "system": [image], "messages": [{ "role": "user", "content": "Hi." }] }),
        ),
    ]
}

fn gemini() -> Vec<Case> {
    let part = |mime: &str| json!({ "inlineData": { "mimeType": mime, "data": "BYTES" } });
    let snake = |mime: &str| json!({ "inline_data": { "mime_type": mime, "data": "BYTES" } });
    let said = |part: Value| json!([{ "role": "user", "parts": [{ "text": "See here." }, part] }]);
    let result = |(call, response): (&str, &str), part: Value| {
        json!([
            { "role": "user", "parts": [{ "text": "Look." }] },
            { "role": "model", "parts": [{ call: { "name": "look", "args": {} } }] },
            { "role": "user", "parts": [{ response: { "name": "look", "response": { "output": "Here." }, "parts": [part] } }] },
        ])
    };
    let (camel_keys, snake_keys) = (("functionCall", "functionResponse"), ("function_call", "function_response"));
    let system = json!({ "systemInstruction": { "parts": [{ "text": "Be brief." }, part("image/png")] }, "contents": [{ "role": "user", "parts": [{ "text": "Hi." }] }] });
    vec![
        ("gemini", What::Image, said(part("image/png"))),
        ("gemini", What::Image, said(snake("image/png"))),
        ("gemini", What::File, said(part("application/pdf"))),
        ("gemini", What::File, said(snake("audio/mp3"))),
        ("gemini", What::Image, result(camel_keys, part("image/png"))),
        ("gemini", What::Image, result(snake_keys, snake("image/png"))),
        ("gemini", What::File, result(camel_keys, part("application/pdf"))),
        ("gemini", What::File, result(snake_keys, snake("video/mp4"))),
        ("gemini", What::FixedImage, system),
    ]
}

fn interactions() -> Vec<Case> {
    let part = |kind: &str, mime: &str| json!({ "type": kind, "mime_type": mime, "data": "BYTES" });
    let said =
        |part: Value| json!([{ "type": "user_input", "content": [{ "type": "text", "text": "See here." }, part] }]);
    let result = |result: Value| {
        json!([
            { "type": "user_input", "content": [{ "type": "text", "text": "Look." }] },
            { "type": "function_call", "id": "c", "name": "look", "arguments": {} },
            { "type": "function_result", "call_id": "c", "name": "look", "result": result },
        ])
    };
    let made = json!([{ "type": "model_output", "content": [part("image", "image/png")] }]);
    let thought = json!([{ "type": "thought", "signature": "s", "summary": [part("image", "image/png")] }]);
    vec![
        ("gemini-interactions", What::Image, said(part("image", "image/png"))),
        ("gemini-interactions", What::Image, made),
        ("gemini-interactions", What::FixedImage, thought),
        ("gemini-interactions", What::File, said(part("document", "application/pdf"))),
        ("gemini-interactions", What::File, said(part("audio", "audio/mp3"))),
        ("gemini-interactions", What::File, said(part("video", "video/mp4"))),
        ("gemini-interactions", What::Image, result(json!([part("image", "image/png")]))),
        (
            "gemini-interactions",
            What::File,
            result(json!([{ "type": "text", "text": "x" }, part("document", "application/pdf")])),
        ),
        ("gemini-interactions", What::Image, result(json!({ "content": [part("image", "image/png")] }))),
    ]
}

fn ai_sdk() -> Vec<Case> {
    let result = |part: Value| {
        json!([
            { "role": "user", "content": "Look." },
            { "role": "assistant", "content": [{ "type": "tool-call", "toolCallId": "c", "toolName": "look", "input": {} }] },
            { "role": "tool", "content": [{ "type": "tool-result", "toolCallId": "c", "toolName": "look",
                "output": { "type": "content", "value": [{ "type": "text", "text": "Here." }, part] } }] },
        ])
    };
    let file = |mime: &str, data: Value| json!({ "type": "file", "mediaType": mime, "data": data });
    let (tagged, by_url) = (json!({ "type": "data", "data": "BYTES" }), json!({ "type": "url", "url": "DATA_URL" }));
    let mut cases = vec![
        ("ai-sdk", What::Image, user(json!({ "type": "image", "image": "BYTES" }))),
        ("ai-sdk", What::Image, user(json!({ "type": "image", "image": "DATA_URL", "mediaType": "image/png" }))),
        ("ai-sdk", What::Image, user(file("image/png", json!("BYTES")))),
        ("ai-sdk", What::Image, user(file("image", tagged.clone()))),
        ("ai-sdk", What::Image, user(file("image/png", by_url.clone()))),
        ("ai-sdk", What::File, user(file("application/pdf", json!("BYTES")))),
        ("ai-sdk", What::File, user(file("audio/mpeg", tagged.clone()))),
        ("ai-sdk", What::Image, result(file("image/png", tagged.clone()))),
        ("ai-sdk", What::Image, result(file("image/png", by_url))),
        ("ai-sdk", What::File, result(file("application/pdf", tagged.clone()))),
        ("ai-sdk", What::Image, result(json!({ "type": "file-data", "data": "BYTES", "mediaType": "image/png" }))),
        ("ai-sdk", What::File, result(json!({ "type": "file-data", "data": "BYTES", "mediaType": "video/mp4" }))),
        ("ai-sdk", What::Image, result(json!({ "type": "file-url", "url": "DATA_URL", "mediaType": "image/png" }))),
        ("ai-sdk", What::Image, result(json!({ "type": "image-data", "data": "BYTES", "mediaType": "image/png" }))),
        ("ai-sdk", What::Image, result(json!({ "type": "image-url", "url": "DATA_URL" }))),
        ("ai-sdk", What::Image, result(json!({ "type": "media", "data": "BYTES", "mediaType": "image/png" }))),
    ];
    let thought = json!({ "type": "reasoning-file", "mediaType": "image/png", "data": tagged });
    let thought = json!([{ "role": "assistant", "content": [thought, { "type": "text", "text": "So." }] }]);
    cases.push(("ai-sdk", What::FixedImage, thought));
    let ui =
        |part: Value| json!([{ "id": "m", "role": "assistant", "parts": [part, { "type": "text", "text": "So." }] }]);
    let tool = |output: Value| {
        ui(
            json!({ "type": "tool-look", "toolCallId": "c", "state": "output-available", "input": {}, "output": output }),
        )
    };
    let image = json!({ "type": "image", "data": "BYTES", "mimeType": "image/png" });
    let text = json!({ "type": "text", "text": "Here." });
    let blob = json!({ "type": "resource", "resource": { "uri": "file://a", "mimeType": "application/pdf", "blob": "BYTES" } });
    cases.extend([
        ("ai-sdk-ui", What::Image, ui(json!({ "type": "file", "mediaType": "image/png", "url": "DATA_URL" }))),
        ("ai-sdk-ui", What::File, ui(json!({ "type": "file", "mediaType": "application/pdf", "url": "DATA_URL" }))),
        (
            "ai-sdk-ui",
            What::FixedImage,
            ui(json!({ "type": "reasoning-file", "mediaType": "image/png", "url": "DATA_URL" })),
        ),
        ("ai-sdk-ui", What::Image, tool(json!({ "content": [text, image.clone()], "isError": false }))),
        ("ai-sdk-ui", What::Image, tool(json!([image.clone()]))),
        ("ai-sdk-ui", What::File, tool(json!({ "content": [blob] }))),
        ("ai-sdk-ui", What::FixedImage, tool(json!({ "found": 1, "shots": [image] }))),
    ]);
    cases
}

fn langchain() -> Vec<Case> {
    let human = |part: Value| json!([{ "type": "human", "content": [{ "type": "text", "text": "See here." }, part] }]);
    let tool = |part: Value| {
        json!([
            { "type": "human", "content": "Look." },
            { "type": "ai", "content": "", "tool_calls": [{ "id": "c", "name": "look", "args": {} }] },
            { "type": "tool", "tool_call_id": "c", "content": [{ "type": "text", "text": "Here." }, part] },
        ])
    };
    let images = [
        json!({ "type": "image", "mimeType": "image/png", "data": "BYTES" }),
        json!({ "type": "image", "url": "DATA_URL" }),
        json!({ "type": "image", "source_type": "base64", "mime_type": "image/png", "data": "BYTES" }),
        json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "BYTES" } }),
        json!({ "type": "image_url", "image_url": "DATA_URL" }),
        json!({ "type": "media", "mimeType": "image/png", "data": "BYTES" }),
        json!({ "type": "input_image", "image_url": "DATA_URL" }),
    ];
    let files = [
        json!({ "type": "file", "mimeType": "application/pdf", "data": "BYTES" }),
        json!({ "type": "file", "source_type": "base64", "mime_type": "application/pdf", "data": "BYTES" }),
        json!({ "type": "audio", "mimeType": "audio/wav", "data": "BYTES" }),
        json!({ "type": "video", "mimeType": "video/mp4", "data": "BYTES" }),
        json!({ "type": "input_audio", "input_audio": { "data": "BYTES", "format": "wav" } }),
        json!({ "type": "file", "file": { "filename": "a.pdf", "file_data": "DATA_URL" } }),
        json!({ "type": "document", "source": { "type": "base64", "media_type": "application/pdf", "data": "BYTES" } }),
        json!({ "type": "media", "mimeType": "audio/wav", "data": "BYTES" }),
    ];
    let parts = images.map(|part| (What::Image, part)).into_iter().chain(files.map(|part| (What::File, part)));
    parts.flat_map(|(what, part)| [human(part.clone()), tool(part)].map(|chat| ("langchain", what, chat))).collect()
}

fn generic() -> Vec<Case> {
    let image = json!({ "type": "image", "mimeType": "image/png", "data": "BYTES" });
    let audio = json!({ "type": "audio", "mimeType": "audio/wav", "data": "BYTES" });
    let result = |part: Value| {
        json!([
            { "role": "user", "content": "Look." },
            { "role": "assistant", "content": [{ "type": "toolCall", "id": "c", "name": "look", "arguments": {} }] },
            { "role": "user", "content": [{ "type": "toolResult", "toolCallId": "c", "content": [{ "type": "text", "text": "Here." }, part] }] },
        ])
    };
    vec![
        ("generic", What::Image, user(image.clone())),
        ("generic", What::Image, result(image)),
        ("generic", What::File, user(audio.clone())),
        ("generic", What::File, result(audio)),
    ]
}

/// The chat with these bytes and this address.
pub(super) fn with(chat: &Value, bytes: &Value, url: &Value) -> Value {
    match chat {
        Value::String(text) if text == "BYTES" => bytes.clone(),
        Value::String(text) if text == "DATA_URL" => url.clone(),
        Value::Array(items) => items.iter().map(|item| with(item, bytes, url)).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), with(value, bytes, url))).collect(),
        other => other.clone(),
    }
}

#[test]
fn media_cost_by_type_and_size_wherever_they_are() {
    let (some, more, least) = (png(150_000), png(450_000), png(60));
    for (number, (format, what, chat)) in cases().into_iter().enumerate() {
        let mime = if what == What::File { "application/pdf" } else { "image/png" };
        let given = |base64: &str| with(&chat, &json!(base64), &json!(format!("data:{mime};base64,{base64}")));
        let options = json!({ "format": format });
        let tokens = |chat: &Value| count(chat, &options, &CallContext::default()).unwrap();
        let large = given(&some);
        let cost = tokens(&large);
        let case = format!("{number} {format} {what:?} {chat}");
        assert!((1_000..10_000).contains(&cost), "{case}: {cost}");
        // An image costs by its pixels, a file by its bytes.
        match what {
            What::File => assert!(tokens(&given(&more)) > 20_000, "{case}"),
            _ => assert_eq!(tokens(&given(&least)), cost, "{case}"),
        }
        // Bytes that stay outside cost the same.
        let outside = json!({ "\0size": 150_027, "\0head": least });
        let outside = tokens(&with(&chat, &outside, &outside));
        assert!(outside.abs_diff(cost) < 10, "{case}: {outside} and {cost}");
        // Every call counts the same.
        let request = json!({ "messages": large, "options": options });
        let call = CALLS.iter().find(|call| call.name == "measureMessages").unwrap();
        let measured =
            call.answer(&mut (), &serde_json::to_vec(&request).unwrap(), &[], &CallContext::default()).unwrap();
        let measured: Value = serde_json::from_slice(&measured.json).unwrap();
        assert_eq!(measured["total"], cost, "{case}");
        let options = json!({ "format": format, "maxTokens": cost, "repair": "off" });
        let fitted = fit(&large, &options).unwrap();
        assert_eq!(
            (&fitted.report["tokens"]["total"], fitted.same.iter().all(|&same| same)),
            (&json!(cost), true),
            "{case}"
        );
    }
}

/// A turn of the model's after which results are read.
fn answer(format: &str) -> Value {
    match format {
        "openai-responses" | "openai-agents" => {
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Seen." }] })
        }
        "gemini" => json!({ "role": "model", "parts": [{ "text": "Seen." }] }),
        "gemini-interactions" => json!({ "type": "model_output", "content": [{ "type": "text", "text": "Seen." }] }),
        "ai-sdk" => json!({ "role": "assistant", "content": [{ "type": "text", "text": "Seen." }] }),
        "ai-sdk-ui" => json!({ "id": "seen", "role": "assistant", "parts": [{ "type": "text", "text": "Seen." }] }),
        "langchain" => json!({ "type": "ai", "content": "Seen." }),
        _ => json!({ "role": "assistant", "content": "Seen." }),
    }
}

/// No edit reaches a result that the model has not read.
#[test]
fn unread_results_stay_as_they_are() {
    let image = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": png(60) } });
    let call = |id: &str| json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": "look", "input": {} }] });
    let result = |id: &str| json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": [image.clone(), { "type": "text", "text": "a long text" }] }] });
    let chat = json!([{ "role": "user", "content": "Look." }, call("a"), result("a"), call("b"), result("b")]);
    for edit in ["images", "toolResults", "toolCalls"] {
        for keep in [0, 1] {
            let edits = json!({ "when": "always", edit: { "keepLast": keep } });
            let fitted = fit(&chat, &json!({ "format": "anthropic", "maxTokens": 99_999, "edits": edits })).unwrap();
            let last = fitted.messages.len() - 1;
            assert_eq!(&fitted.messages[last], &chat[4], "{edit}");
            assert_eq!(fitted.messages[last - 1], chat[3], "{edit}");
            // The unread one is not counted among the last that stay.
            assert_eq!(fitted.report["truncated"], keep == 0, "{edit}");
        }
    }
    // Of a run in one message those of the last step.
    let tool = |id: &str| json!({ "type": "tool-look", "toolCallId": id, "state": "output-available", "input": {}, "output": "a long text" });
    let start = json!({ "type": "step-start" });
    let chat = json!([
        { "id": "1", "role": "user", "parts": [{ "type": "text", "text": "Look." }] },
        { "id": "2", "role": "assistant", "parts": [start, tool("a"), start, tool("b")] },
    ]);
    let edits = json!({ "when": "always", "toolResults": { "keepLast": 0, "placeholder": "-" } });
    let fitted = fit(&chat, &json!({ "maxTokens": 99_999, "edits": edits })).unwrap();
    assert_eq!(fitted.messages[1]["parts"][1]["output"], "-");
    assert_eq!(fitted.messages[1]["parts"][3], chat[1]["parts"][3]);
}

#[test]
fn images_within_results_are_replaced_as_others_are() {
    let mut replaced = 0;
    let bytes = png(6_000);
    for (format, what, chat) in cases() {
        let mut chat = with(&chat, &json!(bytes), &json!(format!("data:image/png;base64,{bytes}")));
        // What the model has not read stays.
        if let Some(messages) = chat.as_array_mut() {
            messages.push(answer(format));
        }
        let edits = json!({ "when": "always", "images": { "keepLast": 0 } });
        let options = json!({ "format": format, "maxTokens": 99_999, "repair": "off", "edits": edits });
        let fitted = fit(&chat, &options).unwrap();
        let case = format!("{format} {what:?} {:.600}", json!(fitted.messages).to_string());
        if what != What::Image || chat.is_object() {
            continue;
        }
        replaced += 1;
        assert!(!json!(fitted.messages).to_string().contains(&bytes), "{case}");
        assert_eq!(fitted.report["edits"][0]["edit"], "images", "{case}");
        assert_eq!(fitted.report["edits"][0]["count"], 1, "{case}");
        let recount = count(&json!(fitted.messages), &json!({ "format": format }), &CallContext::default()).unwrap();
        assert_eq!(fitted.report["tokens"]["total"], recount, "{case}");
        // The last of them stays.
        let edits = json!({ "when": "always", "images": { "keepLast": 1 } });
        let options = json!({ "format": format, "maxTokens": 99_999, "repair": "off", "edits": edits });
        assert!(fit(&chat, &options).unwrap().same.iter().all(|&same| same), "{case}");
    }
    assert!(replaced > 30, "{replaced}");
}

/// Two images in one result: the older one goes first.
#[test]
fn images_of_one_result_go_oldest_first() {
    let image =
        |more| json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": png(more) } });
    let chat = json!([
        { "role": "user", "content": "Look." },
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "c", "name": "look", "input": {} }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c", "content": [image(60), image(90)] }] },
        answer("anthropic"),
    ]);
    let edits = json!({ "when": "always", "images": { "keepLast": 1 } });
    let fitted = fit(&chat, &json!({ "format": "anthropic", "maxTokens": 99_999, "edits": edits })).unwrap();
    let content = &fitted.messages[2]["content"][0]["content"];
    assert_eq!(content, &json!([{ "type": "text", "text": "[image]" }, image(90)]));
}

/// A result of Gemini's is cleared together with its images, for which it has another field.
#[test]
fn a_cleared_result_of_gemini_keeps_no_image() {
    let part = json!({ "inlineData": { "mimeType": "image/png", "data": png(90) } });
    let chat = json!([
        { "role": "user", "parts": [{ "text": "Look." }] },
        { "role": "model", "parts": [{ "functionCall": { "name": "look", "args": {} } }] },
        { "role": "user", "parts": [{ "functionResponse": { "name": "look", "response": { "output": "Here." }, "parts": [part] } }] },
        answer("gemini"),
    ]);
    let edits = json!({ "when": "always", "toolResults": { "keepLast": 0 } });
    let fitted = fit(&chat, &json!({ "maxTokens": 99_999, "edits": edits })).unwrap();
    let response = &fitted.messages[2]["parts"][0]["functionResponse"];
    assert_eq!(response, &json!({ "name": "look", "response": { "output": "[tool result cleared]" } }));
    let recount = count(&json!(fitted.messages), &json!({}), &CallContext::default()).unwrap();
    assert_eq!(fitted.report["tokens"]["total"], recount);
}

/// JSON that a tool gives and arguments are read as text by the model, whatever is in them.
#[test]
fn json_costs_its_text() {
    let bytes = png(6_000);
    let chat = |input: Value, output: Value| {
        json!([
            { "role": "assistant", "content": [{ "type": "tool-call", "toolCallId": "c", "toolName": "look", "input": input }] },
            { "role": "tool", "content": [{ "type": "tool-result", "toolCallId": "c", "toolName": "look", "output": output }] },
        ])
    };
    let image = json!({ "type": "image", "data": bytes, "mimeType": "image/png" });
    let none = json!({ "type": "json", "value": {} });
    let tokens = |chat: Value| count(&chat, &json!({ "format": "ai-sdk" }), &CallContext::default()).unwrap();
    let least = tokens(chat(json!({}), none.clone()));
    assert!(tokens(chat(json!({ "shot": image }), none)) > least + 2_000);
    assert!(tokens(chat(json!({}), json!({ "type": "json", "value": [image] }))) > least + 2_000);
}

/// A file that is a text costs its text, however much it looks like base64.
#[test]
fn files_that_are_texts_cost_their_text() {
    let text = "spools of wool ".repeat(400);
    for text in [text.clone(), text.replace(' ', "")] {
        let tokens = |format: &str, part: Value| {
            count(&user(part), &json!({ "format": format }), &CallContext::default()).unwrap()
        };
        let plain = |format: &str| tokens(format, json!({ "type": "text", "text": text }));
        let source = json!({ "type": "text", "media_type": "text/plain", "data": text });
        let tagged = json!({ "type": "text", "text": text });
        for (format, part) in [
            ("anthropic", json!({ "type": "document", "source": source })),
            ("anthropic", json!({ "type": "document", "source": { "type": "content", "content": [tagged] } })),
            ("ai-sdk", json!({ "type": "file", "mediaType": "text/plain", "data": tagged })),
            ("langchain", json!({ "type": "text-plain", "mimeType": "text/plain", "text": text })),
            ("langchain", json!({ "type": "file", "source_type": "text", "text": text })),
        ] {
            assert_eq!(tokens(format, part.clone()), plain(format), "{format} {part:.200}");
        }
    }
}
