//! Token bounds of runs of one byte. A text that grows by the same byte, such as a megabyte of spaces, needs the same
//! few runs again and again.

/// Longer runs are not cached.
const LONGEST: usize = 1024;

/// The cached runs of one byte.
#[derive(Default)]
pub(super) struct Runs {
    byte: u8,
    /// By the length of the run; empty if unknown.
    ends: Vec<Vec<u16>>,
}

impl Runs {
    /// Appends the token bounds of a run that begins at `at`. `false` if they are unknown.
    pub(super) fn bounds(&self, byte: u8, at: usize, len: usize, bounds: &mut Vec<u32>) -> bool {
        let Some(ends) = self.ends.get(len).filter(|ends| self.byte == byte && !ends.is_empty()) else { return false };
        bounds.push(at as u32);
        bounds.extend(ends.iter().map(|&end| at as u32 + u32::from(end)));
        true
    }

    /// Caches the bounds of a run.
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
