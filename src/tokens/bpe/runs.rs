//! Where the tokens of runs of one byte end. A text that grows by the same byte again and again, as a megabyte of spaces, asks for
//! the same few runs each time.

/// Longer runs are not remembered.
const LONGEST: usize = 1024;

/// The runs of one byte.
#[derive(Default)]
pub(super) struct Runs {
    byte: u8,
    /// By the length of the run; empty where it is not known.
    ends: Vec<Vec<u16>>,
}

impl Runs {
    /// Appends where the tokens of a run that begins at `at` begin, and where the last ends. False where that is not known.
    pub(super) fn bounds(&self, byte: u8, at: usize, len: usize, bounds: &mut Vec<u32>) -> bool {
        let Some(ends) = self.ends.get(len).filter(|ends| self.byte == byte && !ends.is_empty()) else { return false };
        bounds.push(at as u32);
        bounds.extend(ends.iter().map(|&end| at as u32 + u32::from(end)));
        true
    }

    /// Remembers the bounds of a run.
    pub(super) fn learn(&mut self, byte: u8, bounds: &[u32]) {
        let (Some(&start), Some(&end)) = (bounds.first(), bounds.last()) else { return };
        let len = (end - start) as usize;
        if len > LONGEST {
            return;
        }
        if self.byte != byte {
            *self = Self { byte, ends: Vec::new() };
        }
        if self.ends.len() <= len {
            self.ends.resize(len + 1, Vec::new());
        }
        self.ends[len] = bounds.iter().skip(1).map(|&end| (end - start) as u16).collect();
    }
}
