//! Kinds of text that no package has enough of, made out of those that packages have: transcripts of agents, logs, encoded bytes.

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

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    fn hex(&mut self, digits: usize) -> String {
        (0..digits).map(|_| char::from(b"0123456789abcdef"[self.below(16)])).collect()
    }

    fn letters(&mut self, count: usize) -> String {
        (0..count).map(|_| char::from(BASE64[self.below(62)])).collect()
    }

    fn uuid(&mut self) -> String {
        [8, 4, 4, 4, 12].map(|digits| self.hex(digits)).join("-")
    }

    fn time(&mut self) -> String {
        let (month, day) = (1 + self.below(12), 1 + self.below(28));
        let (hour, minute, second) = (self.below(24), self.below(60), self.below(60));
        format!(
            "202{}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z",
            3 + self.below(4),
            self.below(1000)
        )
    }
}

const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";

/// Texts that the rest is made of.
struct Stock {
    code: Vec<Vec<String>>,
    prose: Vec<String>,
    random: Random,
}

const SAYS: &str = "Let me look at the file first.|I'll check how it is used elsewhere.|Now I understand the problem.|The tests pass now.|\
    Let me run the tests to see whether this works.|I need to update the imports as well.|That failed; the path is wrong.|\
    Next I'll fix the remaining warnings.|The function returns early when the list is empty, which explains the error.|\
    I've made the change. Here is a summary of what I did:|Let me search for all the places that call it.|Good, that works.|\
    There is one more thing to check before I commit.|The build is clean. Let me verify the output once more.";
const COMMANDS: &str = "cargo test --all|git status|git diff HEAD~1|npm run build|ls -la src|grep -rn \"TODO\" src/ | head -20|python -m pytest -x -q|\
    find . -name '*.ts' -not -path './node_modules/*'|cat package.json|sed -n '1,80p' src/main.rs|git log --oneline -5|make lint";
const MODULES: &str = "app.server|db.pool|http|worker-3|auth.session|scheduler|cache|org.apache.kafka.clients|kernel|nginx|sshd[2211]|api.v2";
const EVENTS: &str = "connection accepted from|request completed in|retrying after timeout, attempt|failed to acquire lock on|cache miss for key|\
    started worker with pid|GET /api/v1/users/|flushing|user logged in:|deprecated option used:|out of memory while allocating";
const NAMES: &str = "src|lib|core|utils|index|main|parser|config|test|handlers|models|views|client|server|types|errors|routes|components|store|helpers";
const ENDS: &str = "rs|py|ts|tsx|js|go|java|md|json|toml|yml|css|html|sh";
/// Everyday messages. Those of tests/it/estimator.rs are others.
const EVERYDAY: &str = "\
    Hi there, how are you?|Hello! Great to see you.|ok, thanks!|lol that's funny|Yes please 👍|\
    Good evening, everyone|Great work, thank you 🎉|Thank you so much 😀|Sorry, I don't understand.|\
    no problem :)|How do I run this?|Could you help me with that?|What do you think?|\
    It works now, thanks|👍👍|😂😂|❤️|🙏 thanks|Can you show me an example?|What is the difference?|Hey|\
    Nice!|sure|okay, see you later|Danke, das ist sehr schön.|Guten Morgen! Wie geht es dir?|\
    Kannst du mir bitte helfen?|Ich weiß es nicht.|Danke schön, bis morgen!|Vielen Dank!|\
    Bonjour, ça va ?|Merci, c'est gentil.|Merci beaucoup pour votre aide !|Je ne comprends pas.|\
    Pouvez-vous m'aider ?|Bonne journée !|À demain|Hola, buenos días.|¿Cómo estás?|\
    Muchas gracias por tu ayuda.|¿Qué significa esto?|No entiendo, ¿puedes explicarlo?|\
    Hola, ¿qué hora es?|¿Qué tal todo?|Olá, tudo bem?|Muito obrigado pela ajuda!|Não entendi.|\
    Obrigada, já está.|Bom dia!|Ciao, come stai?|Grazie mille!|Non ho capito.|Va bene, grazie.|A presto|\
    Merhaba, nasılsın?|Çok teşekkür ederim, sağ ol.|Anlamadım.|Günaydın!|Cześć, co słychać?|\
    Dziękuję za pomoc.|Nie rozumiem.|Dobrze, bardzo dziękuję|Привет, как ты?|Спасибо большое!|\
    Здравствуйте, помогите, пожалуйста.|Не понимаю.|Хорошо, спасибо.|Как у тебя дела?|\
    Всё хорошо, до завтра!|Дякую, все добре.|Привіт!|Γεια σου, τι κάνεις;|Ευχαριστώ για τη βοήθεια.|\
    Καλημέρα!|Tack så mycket!|Hej, hur mår du?|Dank je wel!|Hoe gaat het?|Děkuji, dobrý den.|\
    Köszönöm szépen!|Kiitos paljon!|你好|你好，请问这是什么？|谢谢！|谢谢你，非常感谢。|我不明白。|你能帮助我吗？|早上好！|没问题，明天见。|好的|\
    請問，這是什麼意思？|謝謝|こんにちは！|ありがとうございます。|ありがとう！|どういうことですか？|これは何ですか？|すみません、わかりません。|おはようございます|はい、お願いします。|\
    意味を教えてください。|안녕하세요, 반갑습니다.|안녕!|감사합니다.|고마워요!|이게 무슨 뜻이에요?|네, 알겠습니다.|도와주세요|مرحبا، كيف حالك؟|شكرا لك|\
    شكرا جزيلا على المساعدة|صباح الخير|سلام، خوبی؟|خیلی ممنون|שלום, מה שלומך?|תודה על העזרה|תודה רבה לך|\
    בוקר טוב|नमस्ते, आप कैसे हैं?|धन्यवाद!|बहुत धन्यवाद, ठीक है।|मुझे समझ नहीं आया।|ধন্যবাদ, কেমন আছেন?|\
    நன்றி, வணக்கம்!|สวัสดีครับ|ขอบคุณมากค่ะ|ขอบคุณมากครับ|ไม่เข้าใจ|Xin chào!|Cảm ơn bạn rất nhiều.|\
    Terima kasih banyak!|Apa kabar?|Asante sana!|Habari gani?";
const EMOJI: &str =
    "😀😂🤣😍🥰😎🤔😭🙏👍👏🔥✨🎉💯🚀✅❌💡📌📝🐛🔧🌍🌱🍕🎨🏆🙂😅😉🥳😢😡👀💪🤖🧠📈📉🔒🔑🕐🚗🏠🎵⭐🌟🌈🍎🐶🐱";
const JOINED: &str = "❤️ ⚠️ ✈️ ☀️ 👍🏽 👩‍💻 🇩🇪 🇯🇵 🤷‍♀️ 👨‍👩‍👧 1️⃣ ☕ ♥️ 🏳️‍🌈 🙌🏻 🤦‍♂️";
const SIGNS: &str = "x y z n k ∑ ∫ ∂ ∇ ∞ ≤ ≥ ≠ ≈ ∈ ∉ ⊂ ⊆ ∪ ∩ → ⇒ ⇔ ∀ ∃ ¬ ∧ ∨ α β γ δ ε θ λ μ π σ φ ω ℝ ℕ ℤ √ ± × ÷ · ² ³ ₁ ₂ ( ) = + - f(x) g(x) 0 1 2 dx dt";

fn split(words: &str) -> Vec<&str> {
    words.split('|').map(str::trim).collect()
}

impl Stock {
    fn say(&mut self) -> String {
        self.random.of(&split(SAYS)).to_owned()
    }

    fn command(&mut self) -> String {
        self.random.of(&split(COMMANDS)).to_owned()
    }

    fn path(&mut self) -> String {
        let depth = 1 + self.random.below(3);
        let names: Vec<&str> = (0..=depth).map(|_| self.random.of(&split(NAMES))).collect();
        format!("{}.{}", names.join("/"), self.random.of(&split(ENDS)))
    }

    /// Some lines of code that stand together.
    fn code(&mut self, lines: usize) -> Vec<String> {
        let file = self.random.below(self.code.len());
        let from = self.random.below(self.code[file].len().saturating_sub(lines));
        self.code[file].iter().skip(from).take(lines).map(|line| line.chars().take(200).collect()).collect()
    }

    fn numbered(&mut self, lines: usize) -> String {
        let first = 1 + self.random.below(400);
        let code = self.code(lines);
        code.iter().enumerate().map(|(at, line)| format!("{:>6}\t{line}\n", first + at)).collect()
    }

    fn diff(&mut self) -> String {
        let path = self.path();
        let mut out = format!(
            "diff --git a/{path} b/{path}\nindex {}..{} 100644\n--- a/{path}\n+++ b/{path}\n@@ -{},9 +{},11 @@\n",
            self.random.hex(7),
            self.random.hex(7),
            1 + self.random.below(300),
            1 + self.random.below(300)
        );
        for line in self.code(14) {
            let mark = [" ", " ", " ", "+", "-"][self.random.below(5)];
            out += &format!("{mark}{line}\n");
        }
        out
    }

    fn listing(&mut self) -> String {
        let long = self.random.below(2) == 0;
        let mut out = String::new();
        for _ in 0..8 {
            let path = self.path();
            if long {
                let (size, day, hour, minute) = (
                    self.random.below(90_000),
                    1 + self.random.below(28),
                    self.random.below(24),
                    self.random.below(60),
                );
                out += &format!("-rw-r--r--  1 user  staff  {size:>6} Mar {day:>2} {hour:02}:{minute:02} {path}\n");
            } else {
                out += &format!("./{path}\n");
            }
        }
        out
    }

    fn log(&mut self) -> String {
        let level = self.random.of(&["INFO", "INFO", "DEBUG", "WARN", "ERROR"]);
        let what = match self.random.below(3) {
            0 => self.random.below(5000).to_string(),
            1 => format!(
                "10.{}.{}.{}:{}",
                self.random.below(256),
                self.random.below(256),
                self.random.below(256),
                self.random.below(65536)
            ),
            _ => self.random.hex(12),
        };
        format!(
            "{} {level:<5} [{}] {} {what}\n",
            self.random.time(),
            self.random.of(&split(MODULES)),
            self.random.of(&split(EVENTS))
        )
    }

    /// What a tool gives back.
    fn result(&mut self) -> String {
        match self.random.below(5) {
            0 => self.diff(),
            1 => self.listing(),
            2 => (0..6).map(|_| self.log()).collect(),
            3 => (0..8)
                .map(|_| {
                    let path = self.path();
                    format!("{path}:{}:{}\n", 1 + self.random.below(600), self.code(1).concat())
                })
                .collect(),
            _ => self.numbered(16),
        }
    }

    /// A tool's name and what it is given.
    fn call(&mut self) -> (&'static str, Value) {
        match self.random.below(4) {
            0 => ("Bash", json!({ "command": self.command(), "description": self.say() })),
            1 => (
                "Edit",
                json!({ "file_path": self.path(), "old_string": self.code(3).join("\n"), "new_string": self.code(4).join("\n") }),
            ),
            2 => (
                "Grep",
                json!({ "pattern": self.random.of(&split(NAMES)), "path": self.path(), "output_mode": "content" }),
            ),
            _ => (
                "Read",
                json!({ "file_path": format!("/{}/user/project/{}", "home", self.path()), "offset": self.random.below(300), "limit": 80 }),
            ),
        }
    }

    fn transcript(&mut self, form: usize) -> String {
        let (say, (tool, input), result) = (self.say(), self.call(), self.result());
        let id = self.random.letters(22);
        let (time, uuid, parent) = (self.random.time(), self.random.uuid(), self.random.uuid());
        let lines = match form {
            0 => vec![
                json!({ "role": "assistant", "content": say, "tool_calls": [{ "id": format!("call_{id}"), "type": "function",
                    "function": { "name": tool.to_lowercase(), "arguments": input.to_string() } }] }),
                json!({ "role": "tool", "tool_call_id": format!("call_{id}"), "content": result }),
            ],
            1 => vec![
                json!({ "parentUuid": parent, "sessionId": parent, "type": "assistant", "timestamp": time, "uuid": uuid, "message":
                    { "role": "assistant", "content": [{ "type": "text", "text": say },
                    { "type": "tool_use", "id": format!("toolu_{id}"), "name": tool, "input": input }],
                    "usage": { "input_tokens": self.random.below(40), "output_tokens": self.random.below(900) } } }),
                json!({ "parentUuid": uuid, "type": "user", "timestamp": time, "message": { "role": "user", "content":
                    [{ "type": "tool_result", "tool_use_id": format!("toolu_{id}"), "content": result }] } }),
            ],
            2 => vec![
                json!({ "timestamp": time, "type": "response_item", "payload": { "type": "message", "role": "assistant",
                    "content": [{ "type": "output_text", "text": say }] } }),
                json!({ "timestamp": time, "type": "response_item", "payload": { "type": "function_call", "name": tool,
                    "arguments": input.to_string(), "call_id": format!("call_{id}") } }),
                json!({ "timestamp": time, "type": "response_item", "payload": { "type": "function_call_output",
                    "call_id": format!("call_{id}"), "output": json!({ "output": result, "metadata": { "exit_code": 0 } }).to_string() } }),
            ],
            _ => {
                let shown: Vec<String> = input
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(k, v)| format!("{k}: {}", v.as_str().unwrap_or("1")))
                    .collect();
                return format!("## Assistant\n\n{say}\n\n**{tool}**\n{}\n\n```\n{result}```\n\n", shown.join("\n"));
            }
        };
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn trace(&mut self) -> String {
        let mut out = String::from("Traceback (most recent call last):\n");
        for _ in 0..4 {
            let (path, line, name) = (self.path(), self.random.below(900), self.random.of(&split(NAMES)));
            out += &match self.random.below(3) {
                0 => format!(
                    "  File \"/usr/lib/python3/{path}\", line {line}, in {name}\n    {}\n",
                    self.code(1).concat().trim()
                ),
                1 => format!("    at {name}.handle (/app/{path}:{line}:{})\n", self.random.below(80)),
                _ => format!("\tat com.example.{name}.Service.{name}(Service.java:{line})\n"),
            };
        }
        out + "ValueError: unexpected value\n"
    }

    /// Some words of what people write.
    fn words(&mut self, count: usize) -> String {
        let text = &self.prose[self.random.below(self.prose.len())];
        let words: Vec<&str> = text.split_whitespace().filter(|word| word.len() < 60).collect();
        let from = self.random.below(words.len().saturating_sub(count));
        words.iter().skip(from).take(count).copied().collect::<Vec<_>>().join(" ")
    }

    fn emoji(&mut self) -> String {
        let all: Vec<char> = EMOJI.chars().collect();
        if self.random.below(6) == 0 {
            return self.random.of(&JOINED.split(' ').collect::<Vec<_>>()).to_owned();
        }
        all[self.random.below(all.len())].to_string().repeat(1 + self.random.below(6) / 4 * self.random.below(3))
    }

    fn chat(&mut self) -> String {
        let (hour, minute, count) = (self.random.below(24), self.random.below(60), 2 + self.random.below(9));
        let words = self.words(count);
        let (before, after) = (self.emoji(), self.emoji());
        match self.random.below(4) {
            0 => format!(
                "[{hour:02}:{minute:02}] {}: {words} {after}\n",
                self.random.of(&["Anna", "Ben", "Chen", "Dimitri", "Eva", "Fatima"])
            ),
            1 => format!("{before} {words} {after}\n"),
            2 => format!("{words}{after}{}\n", self.emoji()),
            _ => format!("{words} {before}{after}\n"),
        }
    }

    fn base64(&mut self, of_text: bool) -> String {
        let bytes: Vec<u8> = if of_text {
            self.code(80).join("\n").into_bytes()
        } else {
            (0..3000).map(|_| self.random.below(256) as u8).collect()
        };
        let (wrap, url) = (self.random.below(2) == 0, self.random.below(4) == 0);
        let mut text = String::new();
        for (at, three) in bytes.chunks_exact(3).take(900).enumerate() {
            if wrap && at > 0 && at % 19 == 0 {
                text.push('\n');
            }
            let bits = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
            for shift in [18, 12, 6, 0] {
                let index = (bits >> shift & 63) as usize;
                text.push(char::from(BASE64[if url && index > 61 { index + 2 } else { index }]));
            }
        }
        text
    }

    fn row(&mut self) -> String {
        let state = self.random.of(&["active", "pending", "closed", "error"]);
        format!(
            "{},{},{}.{:02},{state},{}\n",
            self.random.below(90_000),
            self.random.time(),
            self.random.below(2000),
            self.random.below(100),
            self.random.of(&split(NAMES))
        )
    }

    fn id(&mut self) -> String {
        match self.random.below(3) {
            0 => self.random.uuid(),
            1 => self.random.hex(40),
            _ => format!(
                "{}.{}.{}.{}",
                self.random.below(256),
                self.random.below(256),
                self.random.below(256),
                self.random.below(256)
            ),
        }
    }
}

type Maker = fn(&mut Stock) -> String;

/// Each kind, what it weighs, how many make a text, and whether it is fitted: three forms serve to judge alone.
const KINDS: &[(&str, f32, usize, bool, Maker)] = &[
    ("made: transcript, messages", 1.5, 4, true, |stock| stock.transcript(0)),
    ("made: transcript, blocks", 1.5, 4, true, |stock| stock.transcript(1)),
    ("made: transcript, items", 0.0, 4, false, |stock| stock.transcript(2)),
    ("made: transcript, pages", 1.5, 5, true, |stock| stock.transcript(3)),
    ("made: diff", 1.0, 6, true, Stock::diff),
    ("made: listing", 1.0, 6, true, Stock::listing),
    ("made: log", 1.0, 50, true, Stock::log),
    ("made: trace", 0.0, 8, false, Stock::trace),
    ("made: subtitles", 0.0, 60, false, |stock| {
        let (minute, second) = (stock.random.below(60), stock.random.below(60));
        format!(
            "{}\n00:{minute:02}:{second:02},120 --> 00:{minute:02}:{second:02},980\n{}\n\n",
            stock.random.below(900),
            stock.words(7)
        )
    }),
    ("made: emoji chat", 3.0, 50, true, Stock::chat),
    ("made: emoji", 0.7, 200, true, |stock| stock.emoji() + ["", " "][stock.random.below(2)]),
    ("made: mathematics", 0.7, 300, true, |stock| {
        stock.random.of(&SIGNS.split(' ').collect::<Vec<_>>()).to_owned() + ["", " "][stock.random.below(2)]
    }),
    ("made: base64", 1.0, 1, true, |stock| stock.base64(false)),
    ("made: base64 of text", 1.0, 1, true, |stock| stock.base64(true)),
    ("made: hex", 0.7, 1, true, |stock| stock.random.hex(3000)),
    ("made: identifiers", 0.7, 50, true, |stock| stock.id() + "\n"),
    ("made: csv", 0.7, 50, true, Stock::row),
];

/// Adds what is made of `texts` to them.
pub fn add(texts: &mut Vec<Text>, to_fit: bool) {
    let mut stock = Stock { code: Vec::new(), prose: Vec::new(), random: Random(u64::from(to_fit)) };
    for text in texts.iter() {
        if text.is_code {
            stock.code.push(text.text.lines().filter(|line| line.len() < 400).map(str::to_owned).collect());
        } else if !text.text.starts_with(['{', '[', '<']) {
            stock.prose.push(text.text.clone());
        }
    }
    for &(kind, weight, times, _, make) in KINDS.iter().filter(|kind| kind.3 || !to_fit) {
        for _ in 0..if to_fit { 40 } else { 12 } {
            let text: String = (0..times).map(|_| make(&mut stock)).collect();
            texts.push(Text { kind: kind.to_owned(), text, weight, is_code: false });
        }
    }
    if to_fit {
        let everyday = EVERYDAY.split('|').map(|message| Text {
            kind: "made: everyday".to_owned(),
            text: message.trim().to_owned(),
            weight: 12.0,
            is_code: false,
        });
        texts.extend(everyday);
    }
}
