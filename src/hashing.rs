//! A fast, non-cryptographic hash of texts and numbers.

/// Hashes words of eight bytes with one multiplication each.
#[derive(Clone, Debug)]
pub(crate) struct Hasher {
    state: u64,
}

impl Default for Hasher {
    fn default() -> Self {
        Self { state: 0x243F_6A88_85A3_08D3 }
    }
}

impl Hasher {
    pub(crate) fn word(&mut self, word: u64) {
        self.state = (self.state.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    pub(crate) fn text(&mut self, text: &str) {
        let (blocks, rest) = text.as_bytes().as_chunks::<32>();
        if !blocks.is_empty() {
            // Four lanes, so that a multiplication need not wait for the one before it.
            let mut lanes = [1, 2, 3, 4].map(|lane| Self { state: self.state ^ lane });
            for block in blocks {
                lanes
                    .iter_mut()
                    .zip(block.as_chunks::<8>().0)
                    .for_each(|(lane, word)| lane.word(u64::from_le_bytes(*word)));
            }
            lanes.iter().for_each(|lane| self.word(lane.state));
        }
        let (words, rest) = rest.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        self.word(u64::from_le_bytes(last));
        self.word(text.len() as u64);
    }

    pub(crate) fn optional(&mut self, text: Option<&str>) {
        self.word(text.is_some().into());
        self.text(text.unwrap_or_default());
    }

    pub(crate) fn finish(&self) -> u64 {
        let mut hash = self.state;
        hash = (hash ^ (hash >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        hash = (hash ^ (hash >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        hash ^ (hash >> 32)
    }
}
