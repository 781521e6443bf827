//! What the npm package makes of the places where a text is cut.

use serde_json::{Value, json};

/// The result of `truncateText`: the remaining text, with the marker.
pub(crate) fn truncated(args: &[Value], answer: &Value) -> Value {
    let units: Vec<u16> = args[0].as_str().unwrap().encode_utf16().collect();
    let length = |name: &str| answer[name].as_u64().unwrap() as usize;
    let text = |units: &[u16]| String::from_utf16(units).unwrap();
    let marker = if answer["marked"] == true { args[2]["marker"].as_str().unwrap() } else { "" };
    let text = match answer["truncated"] == true {
        true => text(&units[..length("head")]) + marker + &text(&units[units.len() - length("tail")..]),
        false => text(&units),
    };
    let [tokens, truncated, head, tail] = ["tokens", "truncated", "head", "tail"].map(|name| &answer[name]);
    json!({ "text": text, "tokens": tokens, "truncated": truncated, "head": head, "tail": tail })
}

/// The result of `splitText`: the pieces with their texts.
pub(crate) fn pieces(args: &[Value], answer: &[u8]) -> Value {
    let units: Vec<u16> = args[0].as_str().unwrap().encode_utf16().collect();
    let numbers: Vec<usize> = answer.as_chunks().0.iter().map(|number| u32::from_le_bytes(*number) as usize).collect();
    let piece = |row: &[usize]| {
        let text = String::from_utf16(&units[row[0]..row[1]]).unwrap();
        json!({ "text": text, "start": row[0], "end": row[1], "tokens": row[2] })
    };
    numbers.chunks(3).map(piece).collect()
}
