//! Where the values of rows go: the 32-bit checksum of the contract, and the trait that lets the
//! same hot loop feed it alone (measuring) or together with the digest (verifying).

/// What NULL adds to the checksum.
pub const NULL: u32 = 0x9E37_79B9;

/// Takes every value of every row, in order, and what each execution returned.
pub trait Sink: Clone + Default {
    /// Whether values are looked at more closely than a user of the driver would.
    const VERIFIES: bool;

    fn integer(&mut self, value: i64);
    fn real(&mut self, value: f64);
    fn text(&mut self, value: &[u8]);
    fn blob(&mut self, value: &[u8]);
    fn null(&mut self);
    /// An execution that returned `count` rows has ended.
    fn returned(&mut self, count: u64);
    /// An execution that affected `count` rows has ended.
    fn affected(&mut self, count: u64);
    /// The checksum so far; it starts again at zero.
    fn take_checksum(&mut self) -> u32;
}

/// h = h·31 + x, wrapping.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checksum(u32);

impl Checksum {
    #[inline(always)]
    fn fold(&mut self, x: u32) {
        self.0 = self.0.wrapping_mul(31).wrapping_add(x);
    }
}

impl Sink for Checksum {
    const VERIFIES: bool = false;

    #[inline(always)]
    fn integer(&mut self, value: i64) {
        self.fold(value as u32);
    }

    #[inline(always)]
    fn real(&mut self, value: f64) {
        self.fold(of_real(value));
    }

    #[inline(always)]
    fn text(&mut self, value: &[u8]) {
        self.fold(ends(value));
    }

    #[inline(always)]
    fn blob(&mut self, value: &[u8]) {
        let length = value.len() as u32;
        self.fold(length.wrapping_add(ends(value)));
    }

    #[inline(always)]
    fn null(&mut self) {
        self.fold(NULL);
    }

    #[inline(always)]
    fn returned(&mut self, _count: u64) {}

    #[inline(always)]
    fn affected(&mut self, count: u64) {
        self.fold(count as u32);
    }

    fn take_checksum(&mut self) -> u32 {
        std::mem::take(&mut self.0)
    }
}

/// A real truncated toward zero, mod 2³².
#[inline(always)]
fn of_real(value: f64) -> u32 {
    // Not so for NaN.
    if value.abs() < 9_223_372_036_854_775_808.0 {
        // SAFETY: the value is within 64 bits.
        return unsafe { value.to_int_unchecked::<i64>() } as u32;
    }
    beyond_64_bits(value)
}

/// The same where a cast would saturate: the remainder of floats is exact.
#[cold]
fn beyond_64_bits(value: f64) -> u32 {
    (value % 4_294_967_296.0) as i64 as u32
}

/// 31·first + last byte; nothing for nothing.
#[inline(always)]
fn ends(value: &[u8]) -> u32 {
    match (value.first(), value.last()) {
        (Some(&first), Some(&last)) => 31 * u32::from(first) + u32::from(last),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(feed: impl Fn(&mut Checksum)) -> u32 {
        let mut checksum = Checksum::default();
        feed(&mut checksum);
        checksum.take_checksum()
    }

    #[test]
    fn integers_keep_their_low_32_bits() {
        assert_eq!(one(|h| h.integer(7)), 7);
        assert_eq!(one(|h| h.integer(-1)), 0xFFFF_FFFF);
        assert_eq!(one(|h| h.integer(0x1234_5678_9ABC_DEF0)), 0x9ABC_DEF0);
        assert_eq!(one(|h| h.integer(i64::MIN)), 0);
    }

    #[test]
    fn reals_are_truncated_toward_zero() {
        assert_eq!(one(|h| h.real(2.9)), 2);
        assert_eq!(one(|h| h.real(-2.9)), 0xFFFF_FFFE);
        assert_eq!(one(|h| h.real(4_294_967_299.5)), 3);
    }

    #[test]
    fn reals_beyond_64_bits_do_not_saturate() {
        let value = 2f64.powi(63) + 2f64.powi(31) * 2048.0 + 4096.0;
        assert_eq!(one(|h| h.real(value)), 4096);
        assert_eq!(one(|h| h.real(-value)), 0u32.wrapping_sub(4096));
        assert_eq!(one(|h| h.real(f64::INFINITY)), 0);
    }

    #[test]
    fn texts_give_their_ends() {
        assert_eq!(one(|h| h.text(b"")), 0);
        assert_eq!(one(|h| h.text(b"a")), 31 * 97 + 97);
        assert_eq!(one(|h| h.text("aéz".as_bytes())), 31 * 97 + 122);
    }

    #[test]
    fn blobs_add_their_length() {
        assert_eq!(one(|h| h.blob(&[])), 0);
        assert_eq!(one(|h| h.blob(&[1, 9, 255])), 3 + 31 + 255);
    }

    #[test]
    fn null_and_affected_rows_fold() {
        assert_eq!(one(|h| h.null()), 0x9E37_79B9);
        assert_eq!(one(|h| h.affected(3)), 3);
        assert_eq!(one(|h| h.returned(3)), 0);
    }

    #[test]
    fn order_matters_and_taking_restarts() {
        let mut h = Checksum::default();
        h.integer(1);
        h.integer(2);
        assert_eq!(h.take_checksum(), 33);
        assert_eq!(h.take_checksum(), 0);
    }
}
