//! Texts to compare on: random ones of eight kinds, each made to reach other corners.

/// A small generator of random numbers (splitmix64), so that a seed names a text for ever.
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    pub(super) fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }

    fn character(&mut self, from: u32, to: u32) -> char {
        char::from_u32(from + self.below((to - from) as usize) as u32).unwrap_or('\u{fffd}')
    }
}

/// What splitters and merges stumble over.
const SPICE: &[&str] = &[
    "\u{feff}",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\u{3000}",
    "\u{1680}",
    "\u{180e}",
    "\u{17f}",
    "\u{212a}",
    "\u{0}",
    "\u{10ffff}",
    "\u{378}",
    "\u{e0080}",
    "\u{e000}",
    "\u{fffd}",
    "\u{ffff}",
    "\u{a0}",
    "\u{200b}",
    "\u{200d}",
    "\u{2060}",
    "\u{202f}",
    "\u{205f}",
    "\u{2003}",
    "\u{1f}",
    "\u{7f}",
    "\u{b}",
    "\u{c}",
    "\u{1c}",
    "\u{301}",
    "\u{308}",
    "\u{20dd}",
    "\u{fe0f}",
    "\u{fe0e}",
    "\u{e0100}",
    "\u{e01ef}",
    "\u{e01f0}",
    "\u{903}",
    "\u{94d}",
    "\u{e34}",
    "\u{1c5}",
    "\u{1c8}",
    "\u{1f88}",
    "\u{1fbc}",
    "\u{2b0}",
    "\u{2c6}",
    "\u{3005}",
    "\u{30fc}",
    "\u{ff70}",
    "\u{aa}",
    "\u{ba}",
    "\u{1d2c}",
    "\u{149}",
    "\u{130}",
    "\u{131}",
    "\u{df}",
    "\u{1e9e}",
    "\u{fb01}",
    "\u{3b1}",
    "\u{391}",
    "\u{3c2}",
    "\u{416}",
    "\u{436}",
    "\u{5d0}",
    "\u{5b0}",
    "\u{627}",
    "\u{64e}",
    "\u{661}",
    "\u{966}",
    "\u{e51}",
    "\u{bd}",
    "\u{b2}",
    "\u{2167}",
    "\u{3007}",
    "\u{4e00}",
    "\u{5341}",
    "\u{1d7ce}",
    "\u{1d400}",
    "\u{1d41a}",
    "\u{10400}",
    "\u{10428}",
    "\u{20000}",
    "\u{2f800}",
    "\u{ac00}",
    "\u{1100}",
    "\u{1161}",
    "\u{11a8}",
    "\u{3042}",
    "\u{30a2}",
    "\u{4e2d}\u{56fd}",
    "\u{1f600}",
    "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
    "\u{1f1e9}\u{1f1ea}",
    "\u{1f3f3}\u{fe0f}\u{200d}\u{1f308}",
    "\u{1f44d}\u{1f3fd}",
    "\u{2764}\u{fe0f}",
    "\r\n",
    "\n",
    "\r",
    "\n\n",
    " ",
    "  ",
    "    ",
    "\t",
    "'s",
    "'S",
    "'\u{17f}",
    "'ll",
    "'LL",
    "'lL",
    "'re",
    "'vE",
    "'t",
    "'d",
    "'M",
    "''",
    "'",
    "/",
    "//",
    "/\n",
    "\n/",
    "!",
    "!!\n",
    "...",
    "\u{2026}",
    "\u{2014}",
    "\u{300c}",
    "\u{3002}",
    "a",
    "A",
    "Ab",
    "aB",
    "ABC",
    "abcdefgh",
    "ABCDEFGH",
    "abcdefghijklmnop",
    "1",
    "12",
    "1234",
    "<|endoftext|>",
    "<|im_start|>",
    "=",
    "==",
    "\"",
    "\\",
    "_",
    "-",
    "----",
    "#",
    "{",
    "}",
    "();",
    "\u{a9}",
    "\u{20ac}",
];

const BLANKS: &[&str] =
    &[" ", " ", " ", "  ", "\t", "\n", "\r", "\r\n", "\u{a0}", "\u{3000}", "\u{85}", "\u{2028}", "\u{b}", "    "];

const AFTER_BLANKS: &[&str] = &["a", "A", "1", "!", "\u{301}", "\u{e9}", "\u{4e2d}", "'s", "/", "\u{180e}", "\u{0}"];

const TINY: &[&[&str]] = &[
    &["a"],
    &["a", "b"],
    &["a", "aa", "A"],
    &[" ", "\n"],
    &[" ", "a"],
    &["0", "1", " "],
    &["-", "="],
    &["\u{4e2d}", "\u{56fd}"],
    &["\u{3042}", "\u{3044}", "\u{3046}"],
    &["\u{d55c}", "\u{ad6d}", " "],
    &["\u{43e}", "\u{430}"],
    &["\u{1f600}", "\u{200d}"],
    &["'", "s", "S"],
    &["/", "\n", "!"],
    &["a", "A", "\u{301}", "\u{aa}"],
    &["e", "r", "t", "i", "n"],
];

/// Names of the eight kinds, for reports.
pub(super) const KINDS: &[&str] =
    &["ascii", "spice", "code points", "tokens", "mixed", "white space", "real text", "small alphabets"];

/// A random text of one kind. `tokens` are texts of vocabulary tokens, `real` is real text.
pub(super) fn text(kind: usize, random: &mut Random, tokens: &[String], real: &str) -> String {
    // Some long ones, most of them short.
    let items = if random.below(20) == 0 { 400 } else { 24 };
    let items = 1 + random.below(items);
    let mut out = String::new();
    let tiny = TINY[random.below(TINY.len())];
    if kind == 6 {
        let mut start = random.below(real.len());
        let mut end = (start + items * 6).min(real.len());
        while !real.is_char_boundary(start) {
            start -= 1;
        }
        while !real.is_char_boundary(end) {
            end -= 1;
        }
        out.push_str(&real[start..end]);
        for _ in 0..random.below(4) {
            let mut at = random.below(out.len() + 1);
            while !out.is_char_boundary(at) {
                at -= 1;
            }
            out.insert_str(at, random.pick(SPICE));
        }
        return out;
    }
    for _ in 0..items {
        match kind {
            0 => ascii(random, &mut out),
            1 => out.push_str(random.pick(SPICE)),
            2 => out.push(code_point(random)),
            3 => out.push_str(&tokens[random.below(tokens.len())]),
            4 => match random.below(5) {
                0 => ascii(random, &mut out),
                1 => out.push_str(random.pick(SPICE)),
                2 => out.push(code_point(random)),
                3 => out.push_str(&tokens[random.below(tokens.len())]),
                _ => out.push_str(random.pick(BLANKS)),
            },
            5 => {
                let run = 1 + random.below(6);
                (0..run).for_each(|_| out.push_str(random.pick(BLANKS)));
                if random.below(3) > 0 {
                    out.push_str(random.pick(AFTER_BLANKS));
                }
            }
            _ => out.push_str(random.pick(tiny)),
        }
    }
    out
}

fn ascii(random: &mut Random, out: &mut String) {
    match random.below(8) {
        0 => out.push(random.character(0, 0x80)),
        1 => out.push(random.character(0x20, 0x30)),
        2 => out.push(random.character(0x30, 0x3a)),
        3 => out.push(random.character(0x41, 0x5b)),
        4 => out.push(' '),
        _ => (0..1 + random.below(5)).for_each(|_| out.push(random.character(0x61, 0x7b))),
    }
}

fn code_point(random: &mut Random) -> char {
    match random.below(5) {
        0 => random.character(0, 0x250),
        1 => random.character(0x250, 0x3000),
        2 => random.character(0x3000, 0xd800),
        3 => random.character(0xe000, 0x2_0000),
        _ => random.character(0x2_0000, 0x11_0000),
    }
}
