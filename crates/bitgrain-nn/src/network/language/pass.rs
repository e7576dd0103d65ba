//! `Pass`: observer of the inputs of matrices during a forward pass.

/// Receives the inputs of each matrix: its tensor's name, the expert (0 without experts), rows of values
/// and their number.
pub(super) type Watch<'a> = &'a mut dyn FnMut(&str, usize, &[f32], usize);

/// State of one forward pass.
#[derive(Default)]
pub(super) struct Pass<'a> {
    watch: Option<Watch<'a>>,
}

impl<'a> Pass<'a> {
    /// Creates a pass whose matrix inputs go to `watch`.
    pub(super) fn watched(watch: Watch<'a>) -> Self {
        Self { watch: Some(watch) }
    }

    /// Reports the inputs of a matrix.
    pub(super) fn see(&mut self, tensor: &str, expert: usize, x: &[f32], rows: usize) {
        if let Some(watch) = &mut self.watch {
            watch(tensor, expert, x, rows);
        }
    }
}
