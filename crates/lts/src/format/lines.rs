//! A stream cut into blocks of whole lines.
//!
//! The buffer has a fixed size unless a single line is longer; then it doubles, up to [`LONGEST`] bytes. What follows
//! the last line break of a block is moved to the front before the next block is read, so every byte is copied at most
//! once more than the operating system copies it (a long line logarithmically often).

use memchr::memrchr;
use trefoil_source::Diagnostic;

use super::open::Opened;

/// The longest line or label that is read.
pub(crate) const LONGEST: usize = 64_000_000;

const BLOCK: usize = 256 << 10;

/// Why there is no further block.
pub(crate) enum NoBlock {
    /// The input could not be read.
    Unreadable(Diagnostic),
    /// A line is longer than [`LONGEST`].
    TooLong,
}

/// Blocks of whole lines.
pub(crate) struct Lines {
    buffer: Vec<u8>,
    /// The last block returned ends here; up to `filled` follows the start of the next line.
    taken: usize,
    filled: usize,
    finished: bool,
}

impl Lines {
    pub(crate) fn new() -> Lines {
        Lines { buffer: vec![0; BLOCK], taken: 0, filled: 0, finished: false }
    }

    /// The next block: it ends with a line break or with the input. `None` at the end.
    pub(crate) fn next(&mut self, input: &mut Opened) -> Result<Option<&[u8]>, NoBlock> {
        self.buffer.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        self.taken = 0;
        while !self.finished {
            if self.filled == self.buffer.len() {
                if self.filled >= LONGEST {
                    return Err(NoBlock::TooLong);
                }
                self.buffer.resize((self.filled * 2).min(LONGEST), 0);
            }
            let count = input.read(&mut self.buffer[self.filled..]).map_err(NoBlock::Unreadable)?;
            let fresh = self.filled..self.filled + count;
            self.filled += count;
            self.finished = count == 0;
            if let Some(at) = memrchr(b'\n', &self.buffer[fresh.clone()]) {
                self.taken = fresh.start + at + 1;
                return Ok(Some(&self.buffer[..self.taken]));
            }
        }
        self.taken = self.filled;
        Ok(if self.filled == 0 { None } else { Some(&self.buffer[..self.filled]) })
    }

    /// The line that is being read when there is no further block.
    pub(crate) fn unfinished(&self) -> &[u8] {
        &self.buffer[self.taken..self.filled]
    }
}
