//! Set of the distinct values of a column, up to a limit.

/// Set of f32 values that stops growing above a limit. Both zeros are one value; callers must filter NaN.
pub(super) struct Distinct {
    /// Open-addressing hash table with linear probing; empty until the first value, because a wide sparse table has many
    /// sets without values.
    slots: Vec<u32>,
    len: usize,
    limit: usize,
}

// A NaN pattern, so it never equals the bits of a value in the set.
const FREE: u32 = u32::MAX;

/// Slots of a set with values.
const FIRST: usize = 8;

impl Distinct {
    pub(super) fn new(limit: usize) -> Self {
        Self { slots: Vec::new(), len: 0, limit }
    }

    /// Adds a value; returns false once the set exceeds its limit.
    pub(super) fn insert(&mut self, value: f32) -> bool {
        let key = (value + 0.0).to_bits(); // -0 + 0 is +0
        if self.slots.is_empty() {
            self.slots = vec![FREE; FIRST];
        }
        if place(&mut self.slots, key) {
            self.len += 1;
            if self.len * 2 > self.slots.len() {
                let mut wider = vec![FREE; self.slots.len() * 2];
                self.slots.iter().filter(|&&key| key != FREE).for_each(|&key| {
                    place(&mut wider, key);
                });
                self.slots = wider;
            }
        }
        self.len <= self.limit
    }

    /// Returns the values in arbitrary order.
    pub(super) fn values(&self) -> impl Iterator<Item = f32> {
        self.slots.iter().filter(|&&key| key != FREE).map(|&key| f32::from_bits(key))
    }

    /// Returns the values in ascending order.
    pub(super) fn into_sorted(self) -> Vec<f32> {
        let mut values: Vec<f32> = self.values().collect();
        values.sort_unstable_by(f32::total_cmp);
        values
    }
}

/// Inserts a key; returns whether it is new.
fn place(slots: &mut [u32], key: u32) -> bool {
    let mask = slots.len() - 1;
    // Use the high bits of the product: floats differ mostly in their high bits, and multiplication only carries
    // upward.
    let mut at = (key.wrapping_mul(0x9E37_79B9) >> (u32::BITS - mask.count_ones())) as usize;
    while slots[at] != FREE {
        if slots[at] == key {
            return false;
        }
        at = (at + 1) & mask;
    }
    slots[at] = key;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_sorted_and_deduplicated() {
        let mut set = Distinct::new(100);
        for i in 0..1000_u16 {
            assert!(set.insert(-f32::from(i % 100)));
        }
        let want: Vec<f32> = (0..100_u16).rev().map(|i| -f32::from(i) + 0.0).collect();
        assert_eq!(set.into_sorted(), want);
    }

    #[test]
    fn zeros_are_one_value_and_one_more_than_the_limit_is_too_many() {
        let mut set = Distinct::new(2);
        assert!(set.insert(0.0) && set.insert(-0.0) && set.insert(f32::INFINITY));
        assert!(!set.insert(f32::NEG_INFINITY));
    }
}
