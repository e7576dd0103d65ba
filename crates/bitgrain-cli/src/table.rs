//! `Table`: columns for people, that a Markdown page can take as they are.

use comfy_table::{CellAlignment, presets};

/// Rows under a header: the first `left` columns hold words, the others numbers.
#[derive(Debug)]
pub(crate) struct Table {
    table: comfy_table::Table,
    left: usize,
}

impl Table {
    pub(crate) fn new(header: &[&str], left: usize) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        table.set_header(header);
        Self { table, left }
    }

    /// A row of as many cells as the header has.
    pub(crate) fn cells(&mut self, cells: Vec<String>) {
        self.table.add_row(cells);
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.table.add_row(cells);
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut table = self.table.clone();
        table.column_iter_mut().skip(self.left).for_each(|column| {
            column.set_cell_alignment(CellAlignment::Right);
        });
        write!(f, "{table}")
    }
}
