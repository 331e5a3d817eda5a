//! How many operations took how long, in buckets none of which is wider than 1/128 of its values.

use serde::ser::{Serialize, SerializeStruct, Serializer};

/// Buckets below this exponent's hold one value each; above, a power of two has as many as half.
const BITS: u32 = 7;
const LENGTH: usize = bucket(u64::MAX) + 1;

/// Counts by bucket, allocated once: recording only adds.
#[derive(Debug)]
pub struct Histogram(Box<[u64]>);

impl Default for Histogram {
    fn default() -> Self {
        Histogram(vec![0; LENGTH].into())
    }
}

impl Histogram {
    #[inline(always)]
    pub fn record(&mut self, nanoseconds: u64) {
        // SAFETY: `bucket` grows with its argument, and there is room for the largest.
        unsafe { *self.0.get_unchecked_mut(bucket(nanoseconds)) += 1 };
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.fill(0);
    }

    /// The buckets that hold something, and how much, in order.
    pub fn buckets(&self) -> Vec<(usize, u64)> {
        let counts = self.0.iter().copied().enumerate();
        counts.filter(|&(_, count)| count > 0).collect()
    }
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Histogram", 1)?;
        object.serialize_field("buckets", &self.buckets())?;
        object.end()
    }
}

/// e·128 + (v >> e), e = max(0, ⌊log₂ v⌋ − 7).
#[inline(always)]
const fn bucket(nanoseconds: u64) -> usize {
    let exponent = (nanoseconds | 1).ilog2().saturating_sub(BITS);
    ((exponent as usize) << BITS) + (nanoseconds >> exponent) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_those_of_the_contract() {
        // By hand: 256 = 2⁸, e = 1, 128 + 128; 1000: ⌊log₂⌋ = 9, e = 2, 256 + 250;
        // 1 000 000: ⌊log₂⌋ = 19, e = 12, 1536 + 244.
        let cases = [
            (0, 0),
            (1, 1),
            (255, 255),
            (256, 256),
            (257, 256),
            (258, 257),
            (511, 383),
            (512, 384),
            (1000, 506),
            (1_000_000, 1780),
            (u64::MAX, 56 * 128 + 255),
        ];
        for (nanoseconds, expected) in cases {
            assert_eq!(bucket(nanoseconds), expected, "{nanoseconds} ns");
        }
    }

    #[test]
    fn only_what_was_recorded_is_reported() {
        let mut histogram = Histogram::default();
        for nanoseconds in [1000, 3, u64::MAX, 1003, 3] {
            histogram.record(nanoseconds);
        }
        assert_eq!(histogram.buckets(), [(3, 2), (506, 2), (7423, 1)]);
        let json = serde_json::to_string(&histogram).unwrap();
        assert_eq!(json, r#"{"buckets":[[3,2],[506,2],[7423,1]]}"#);
        histogram.clear();
        assert_eq!(histogram.buckets(), []);
    }
}
