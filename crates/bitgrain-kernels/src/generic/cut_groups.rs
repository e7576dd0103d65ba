//! `CutGroups`: cuts of a feature in the order in which binning kernels compare them.

/// Up to 255 cuts in sixteen groups of sixteen, for kernels that compare a value with sixteen cuts at once: first with
/// the last cut of each group, then with the cuts of one group.
pub(crate) struct CutGroups {
    pub(crate) groups: [[f32; 16]; 16],
    /// Last cut of each group. The very last one is infinite, so that every value has a group.
    pub(crate) ends: [f32; 16],
}

impl CutGroups {
    /// Minimum number of values for which the groups pay off.
    const FEW: usize = 64;

    /// Returns `None` if there are too many cuts, or too few values to use the groups for.
    #[inline]
    pub(crate) fn new(cuts: &[f32], values: usize) -> Option<Self> {
        let mut groups = [[f32::INFINITY; 16]; 16];
        let filled = groups.as_flattened_mut()[..255].get_mut(..cuts.len()).filter(|_| values >= Self::FEW)?;
        filled.copy_from_slice(cuts);
        let ends = groups.map(|group| group[15]);
        Some(Self { groups, ends })
    }
}
