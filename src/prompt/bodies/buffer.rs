//! Bytes that are written at their end.

/// How many bytes are cleared ahead at a time. To clear room for each text on its own is a call for each.
const AHEAD: usize = 1 << 15;

/// Bytes, with room behind them into which the next ones are written.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    /// The bytes written, and the room behind them.
    bytes: Vec<u8>,
    written: usize,
}

impl Buffer {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity), written: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.written
    }

    #[inline]
    pub(super) fn last(&self) -> Option<u8> {
        self.bytes.get(..self.written)?.last().copied()
    }

    /// Room for at least so many bytes. What of it was written is said by [`Self::advance`].
    #[inline]
    pub(super) fn room(&mut self, least: usize) -> &mut [u8] {
        if self.bytes.len() - self.written < least {
            self.clear_ahead(least);
        }
        self.bytes.get_mut(self.written..).unwrap_or_default()
    }

    #[cold]
    fn clear_ahead(&mut self, least: usize) {
        self.bytes.resize(self.written + least + AHEAD, 0);
    }

    #[inline]
    pub(super) fn advance(&mut self, written: usize) {
        self.written += written;
    }

    #[inline]
    pub(super) fn push(&mut self, byte: u8) {
        if let Some(room) = self.room(1).first_mut() {
            *room = byte;
        }
        self.written += 1;
    }

    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.bytes.truncate(self.written);
        self.bytes.extend_from_slice(bytes);
        self.written = self.bytes.len();
    }

    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.truncate(self.written);
        self.bytes
    }
}
