//! Compares a row of `derivatives!` with the operator's declaration at compile time.

use crate::text::are_same;

/// Stops the build if a row's schema differs from its operator's.
#[track_caller]
pub const fn compare(row: &str, declared: &str) {
    if !are_same(row, declared) {
        let message = Message::new().and("the derivative row says `").and(row);
        let message = message.and("`, but the operator is declared as `").and(declared).and("`");
        panic!("{}", message.text());
    }
}

/// A text that is built in constant evaluation, without allocation.
struct Message {
    bytes: [u8; 4096],
    len: usize,
}

impl Message {
    const fn new() -> Self {
        Message { bytes: [0; 4096], len: 0 }
    }

    const fn and(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut at = 0;
        while at < text.len() && self.len < self.bytes.len() {
            self.bytes[self.len] = text[at];
            (at, self.len) = (at + 1, self.len + 1);
        }
        self
    }

    const fn text(&self) -> &str {
        match str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "the derivative row is not the schema that the operator is declared with",
        }
    }
}
