//! Verify mode's witness: the checksum and, from the very same values, the canonical SHA-256.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::checksum::{Checksum, Sink};

#[derive(Clone, Default)]
pub struct Witness {
    checksum: Checksum,
    hash: Sha256,
}

impl Witness {
    /// Tag, 32-bit little-endian length, bytes.
    fn value(&mut self, tag: u8, bytes: &[u8]) {
        self.hash.update([tag]);
        self.hash.update((bytes.len() as u32).to_le_bytes());
        self.hash.update(bytes);
    }

    /// `E` and a 32-bit little-endian count.
    fn end(&mut self, count: u64) {
        self.hash.update(b"E");
        self.hash.update((count as u32).to_le_bytes());
    }

    /// The digest as lower-case hexadecimal.
    pub fn digest(self) -> String {
        let mut hexadecimal = String::with_capacity(64);
        for byte in self.hash.finalize() {
            write!(hexadecimal, "{byte:02x}").expect("a string takes all");
        }
        hexadecimal
    }
}

impl Sink for Witness {
    const VERIFIES: bool = true;

    fn integer(&mut self, value: i64) {
        self.checksum.integer(value);
        self.value(b'i', value.to_string().as_bytes());
    }

    fn real(&mut self, value: f64) {
        self.checksum.real(value);
        self.value(b'r', &value.to_le_bytes());
    }

    fn text(&mut self, value: &[u8]) {
        self.checksum.text(value);
        self.value(b't', value);
    }

    fn blob(&mut self, value: &[u8]) {
        self.checksum.blob(value);
        self.value(b'b', value);
    }

    fn null(&mut self) {
        self.checksum.null();
        self.value(b'n', b"");
    }

    fn returned(&mut self, count: u64) {
        self.end(count);
    }

    fn affected(&mut self, count: u64) {
        self.checksum.affected(count);
        self.end(count);
    }

    fn take_checksum(&mut self) -> u32 {
        self.checksum.take_checksum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_the_contract() {
        let mut witness = Witness::default();
        witness.integer(-42);
        witness.real(1.5);
        witness.text("é".as_bytes());
        witness.blob(&[0, 255]);
        witness.null();
        witness.returned(1);
        witness.affected(258);
        let mut bytes = Vec::new();
        bytes.extend(b"i\x03\0\0\0-42");
        bytes.extend(b"r\x08\0\0\0\0\0\0\0\0\0\xf8\x3f");
        bytes.extend(b"t\x02\0\0\0\xc3\xa9");
        bytes.extend(b"b\x02\0\0\0\0\xff");
        bytes.extend(b"n\0\0\0\0");
        bytes.extend(b"E\x01\0\0\0");
        bytes.extend(b"E\x02\x01\0\0");
        let expected: String =
            Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(witness.digest(), expected);
    }

    #[test]
    fn the_digest_goes_on_when_the_checksum_restarts() {
        let (mut split, mut whole) = (Witness::default(), Witness::default());
        split.integer(1);
        assert_eq!(split.take_checksum(), 1);
        split.integer(2);
        assert_eq!(split.take_checksum(), 2);
        whole.integer(1);
        whole.integer(2);
        assert_eq!(split.digest(), whole.digest());
    }
}
