//! Kinds of text that no package has enough of, made out of those that packages have: transcripts of agents, chats with emoji,
//! encoded bytes, terse code.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::texts::Text;

/// A fixed hash.
pub fn hash(text: &str) -> u64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, |h: u64, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    (hash ^ hash >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 8
}

/// A fixed sequence of pseudo-random numbers.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) % n.max(1) as u64) as usize
    }

    /// So many characters of a set.
    fn chars(&mut self, count: usize, set: &str) -> String {
        let set: Vec<char> = set.chars().collect();
        (0..count).map(|_| set[self.below(set.len())]).collect()
    }

    fn id(&mut self) -> String {
        [8, 4, 4, 4, 12].map(|digits| self.chars(digits, HEX)).join("-")
    }

    fn time(&mut self) -> String {
        let [month, day, hour, second] = [12, 28, 24, 60].map(|n| self.below(n));
        format!("2025-{:02}-{:02}T{hour:02}:{second:02}:{second:02}.{:03}Z", month + 1, day + 1, self.below(1000))
    }
}

const HEX: &str = "0123456789abcdef";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const EMOJI: &str =
    "😀😂🤣😍🥰😎🤔😭🙏👍👏🔥✨🎉💯🚀✅❌💡📌📝🐛🔧🌍🌱🍕🎨🏆🙂😅😉🥳😢😡👀💪🤖🧠📈📉🔒🔑🕐🚗🏠🎵⭐🌟🌈🍎🐶🐱";
const JOINED: [&str; 16] =
    ["❤️", "⚠️", "✈️", "☀️", "👍🏽", "👩‍💻", "🇩🇪", "🇯🇵", "🤷‍♀️", "👨‍👩‍👧", "1️⃣", "☕", "♥️", "🏳️‍🌈", "🙌🏻", "🤦‍♂️"];
const SAYS: [&str; 6] = [
    "Let me look at the file first.",
    "Now I understand the problem.",
    "The tests pass now.",
    "I need to update the imports as well.",
    "That failed; the path is wrong.",
    "I've made the change. Here is a summary of what I did:",
];

/// Texts that the rest is made of.
struct Stock {
    /// Lines of code, by file.
    code: Vec<Vec<String>>,
    prose: Vec<String>,
    random: Random,
}

impl Stock {
    /// Some lines of code that stand together, with their numbers.
    fn code(&mut self, lines: usize) -> Vec<(usize, String)> {
        let file = self.random.below(self.code.len());
        let from = self.random.below(self.code[file].len().saturating_sub(lines));
        self.code[file].iter().cloned().enumerate().skip(from).take(lines).collect()
    }

    /// A turn of an agent, as JSON lines: what it says, what it calls and what comes back.
    fn turn(&mut self, form: usize) -> String {
        let say = SAYS[self.random.below(SAYS.len())];
        let [id, parent] = [(); 2].map(|()| self.random.id());
        let (time, call) = (self.random.time(), self.random.chars(22, &BASE64[..62]));
        let path = format!("src/{}.rs", self.random.chars(6, "abcdeinorst"));
        let lines = self.code(16);
        let result: String = match self.random.below(3) {
            0 => lines.iter().map(|(at, line)| format!("{path}:{at}:{line}\n")).collect(),
            1 => lines.iter().map(|(at, line)| format!("{}{line}\n", [" ", " ", "+", "-"][at % 4])).collect(),
            _ => lines.iter().map(|(at, line)| format!("{at:>6}\t{line}\n")).collect(),
        };
        let (tool, input) = match self.random.below(2) {
            0 => ("Read", json!({ "file_path": path, "offset": lines.len(), "limit": 80 })),
            _ => {
                let [old, new] =
                    [3, 4].map(|count| self.code(count).into_iter().map(|(_, line)| line + "\n").collect::<String>());
                ("Edit", json!({ "file_path": path, "old_string": old, "new_string": new }))
            }
        };
        let values: Vec<Value> = match form {
            0 => vec![
                json!({ "role": "assistant", "content": say, "tool_calls": [{ "id": format!("call_{call}"), "type": "function",
                    "function": { "name": tool.to_lowercase(), "arguments": input.to_string() } }] }),
                json!({ "role": "tool", "tool_call_id": format!("call_{call}"), "content": result }),
            ],
            1 => vec![
                json!({ "parentUuid": parent, "sessionId": parent, "type": "assistant", "timestamp": time, "uuid": id, "message":
                    { "role": "assistant", "content": [{ "type": "text", "text": say },
                    { "type": "tool_use", "id": format!("toolu_{call}"), "name": tool, "input": input }] } }),
                json!({ "parentUuid": id, "type": "user", "timestamp": time, "message": { "role": "user", "content":
                    [{ "type": "tool_result", "tool_use_id": format!("toolu_{call}"), "content": result }] } }),
            ],
            _ => vec![
                json!({ "timestamp": time, "type": "response_item", "payload": { "type": "function_call", "name": tool,
                    "arguments": input.to_string(), "call_id": format!("call_{call}") } }),
                json!({ "timestamp": time, "type": "response_item", "payload": { "type": "function_call_output",
                    "call_id": format!("call_{call}"), "output": json!({ "output": result }).to_string() } }),
            ],
        };
        values.iter().map(|value| format!("{value}\n")).collect()
    }

    /// Some words of what people write, with emoji.
    fn chat(&mut self) -> String {
        let text = &self.prose[self.random.below(self.prose.len())];
        let words: Vec<&str> = text.split_whitespace().filter(|word| word.len() < 60).collect();
        let count = 2 + self.random.below(9);
        let from = self.random.below(words.len().saturating_sub(count));
        let said = words.iter().skip(from).take(count).copied().collect::<Vec<_>>().join(" ");
        let (before, after) = (self.emoji(), self.emoji());
        match self.random.below(3) {
            0 => format!("{before} {said} {after}\n"),
            1 => format!("{said}{after}\n"),
            _ => format!("[{:02}:{:02}] {said} {before}{after}\n", self.random.below(24), self.random.below(60)),
        }
    }

    fn emoji(&mut self) -> String {
        match self.random.below(6) {
            0 => JOINED[self.random.below(JOINED.len())].to_owned(),
            1 => self.random.chars(1, EMOJI).repeat(3),
            _ => self.random.chars(1, EMOJI),
        }
    }

    /// Code whose words are cut short or written in capitals, the same always in the same way, with tabs and CRLF in some.
    fn terse(&mut self, in_capitals: bool) -> String {
        let lines: Vec<_> = self.code(60).into_iter().map(|line| line.1).collect();
        let mut text = lines.join(["\n", "\n", "\r\n"][self.random.below(3)]);
        if self.random.below(2) == 0 {
            text = text.replace("    ", "\t").replace("  ", "\t");
        }
        let mut known: BTreeMap<&str, String> = BTreeMap::new();
        let words = text.split_inclusive(|c: char| !c.is_ascii_alphabetic()).map(|part| {
            let word = part.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
            known.entry(word).or_insert_with(|| self.short(word, in_capitals)).clone() + &part[word.len()..]
        });
        words.collect()
    }

    /// A word as it is half of the time, else without its vowels, its beginning, or that with some letters.
    fn short(&mut self, word: &str, in_capitals: bool) -> String {
        let (from, is_long) = (3 + self.random.below(3), word.len() > 3);
        let start: String = word.chars().take(from).collect();
        let short = match self.random.below(8) {
            0 | 1 if is_long => word[..1].to_owned() + &word[1..].replace(['a', 'e', 'i', 'o', 'u'], ""),
            2 if is_long => start,
            3 if is_long => start + &self.random.chars(2 + from % 3, "bcdfghklmnprstvwxabeiou"),
            _ => word.to_owned(),
        };
        if in_capitals { short.to_ascii_uppercase() } else { short }
    }

    fn base64(&mut self) -> String {
        let lines: Vec<String> = (0..48).map(|_| self.random.chars(76, BASE64)).collect();
        lines.join(["", "\n"][self.random.below(2)])
    }
}

/// What the mean error of each is aimed at.
const AIM: f32 = 0.07;

type SampleGenerator = fn(&mut Stock) -> String;

/// Each kind, what it weighs, how many make a text, and whether it serves to fit and to judge.
const KINDS: [(&str, f32, usize, [bool; 2], SampleGenerator); 8] = [
    ("made: transcript, messages", 3.0, 4, [true, true], |stock| stock.turn(0)),
    ("made: transcript, blocks", 3.0, 4, [true, true], |stock| stock.turn(1)),
    ("made: transcript, items", 0.0, 4, [false, true], |stock| stock.turn(2)),
    ("made: emoji chat", 3.0, 50, [true, true], Stock::chat),
    ("made: base64", 1.0, 1, [true, true], Stock::base64),
    ("made: hex", 0.7, 1, [true, true], |stock| stock.random.chars(3000, HEX)),
    ("made: code, cut short", 3.0, 1, [true, false], |stock| stock.terse(false)),
    ("made: code, in capitals", 3.0, 1, [true, false], |stock| stock.terse(true)),
];

/// Adds what is made of `texts` to them.
pub fn add(texts: &mut Vec<Text>, to_fit: bool) {
    let mut stock = Stock { code: Vec::new(), prose: Vec::new(), random: Random(u64::from(to_fit)) };
    for text in texts.iter() {
        if text.is_code {
            stock.code.push(text.text.lines().filter(|line| line.len() < 200).map(str::to_owned).collect());
        } else if !text.text.starts_with(['{', '[', '<']) {
            stock.prose.push(text.text.clone());
        }
    }
    for (kind, weight, times, _, make) in KINDS.into_iter().filter(|kind| kind.3[usize::from(!to_fit)]) {
        for _ in 0..if to_fit { 40 } else { 12 } {
            let text: String = (0..times).map(|_| make(&mut stock)).collect();
            texts.push(Text { kind: kind.to_owned(), text, weight, aim: AIM, is_code: false });
        }
    }
}
