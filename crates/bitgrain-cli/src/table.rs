//! `Table`: aligned columns that are also valid Markdown.

use comfy_table::{CellAlignment, presets};

/// A table whose first `left` columns hold strings, aligned left, and the others numbers, aligned right.
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

    /// Adds a row with as many cells as the header.
    pub(crate) fn cells(&mut self, cells: Vec<String>) {
        self.table.add_row(cells);
    }

    /// Returns whether a column holds numbers.
    pub(crate) fn is_number(&self, column: usize) -> bool {
        column >= self.left
    }

    /// Returns the cells of the header.
    pub(crate) fn header(&self) -> Vec<String> {
        self.table.header().map_or_else(Vec::new, contents)
    }

    /// Returns the cells of every row below the header.
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
