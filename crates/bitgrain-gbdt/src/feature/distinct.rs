//! The distinct values of a column, as long as they are few.

/// A set of f32 that gives up above a limit. Both zeros are one value; NaN is not to be put in.
pub(super) struct Distinct {
    /// Keys by hash, each in the first free slot from its own on.
    slots: Vec<u32>,
    len: usize,
    limit: usize,
}

/// No value has these bits but a NaN.
const FREE: u32 = u32::MAX;

impl Distinct {
    pub(super) fn new(limit: usize) -> Self {
        Self { slots: vec![FREE; 64], len: 0, limit }
    }

    /// Adds a value; false once there are more than the limit.
    pub(super) fn insert(&mut self, value: f32) -> bool {
        let key = (value + 0.0).to_bits(); // -0 + 0 is +0
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

    /// The values, in no order.
    pub(super) fn values(&self) -> impl Iterator<Item = f32> {
        self.slots.iter().filter(|&&key| key != FREE).map(|&key| f32::from_bits(key))
    }

    /// The values, ascending.
    pub(super) fn into_sorted(self) -> Vec<f32> {
        let mut values: Vec<f32> = self.values().collect();
        values.sort_unstable_by(f32::total_cmp);
        values
    }
}

/// True if the key was not there.
fn place(slots: &mut [u32], key: u32) -> bool {
    let mask = slots.len() - 1;
    // The upper bits of the product: those of a float that differ are its upper ones, and carry upwards only.
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
    fn values_are_kept_once_and_sorted() {
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
