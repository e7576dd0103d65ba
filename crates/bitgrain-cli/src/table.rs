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

    /// Whether a column holds numbers.
    pub(crate) fn is_number(&self, column: usize) -> bool {
        column >= self.left
    }

    /// The cells of the header.
    pub(crate) fn header(&self) -> Vec<String> {
        self.table.header().map_or_else(Vec::new, contents)
    }

    /// The cells of every row below the header.
    pub(crate) fn rows(&self) -> Vec<Vec<String>> {
        self.table.row_iter().map(contents).collect()
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.table.add_row(cells);
    }
}

fn contents(row: &comfy_table::Row) -> Vec<String> {
    row.cell_iter().map(comfy_table::Cell::content).collect()
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
