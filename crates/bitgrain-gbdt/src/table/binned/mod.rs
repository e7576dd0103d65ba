//! Binned tables: files with the bins, targets and weights of tables of any size. Spec: `spec/bins.md`.
//!
//! [`BinnedTable::create`] reads its source in passes over blocks of rows, so that memory does not depend on the size of
//! the features: the role columns (target, weights, queries), then the statistics that the cuts are computed from, then
//! the codes. Cuts and layout are those that training in memory computes from the same rows, so that both train the same
//! model.
//!
//! ```
//! use bitgrain_gbdt::table::{BinnedTable, BinOptions, ColumnRoles, TableFiles};
//! use bitgrain_gbdt::{Params, Trainer};
//! # let folder = tempfile::tempdir()?;
//! # let (a, b) = (folder.path().join("a.csv"), folder.path().join("b.csv"));
//! # let path = folder.path().join("table.bins");
//! # std::fs::write(&a, format!("x,y\n{}", "1,2\n3,4\n".repeat(50)))?;
//! # std::fs::write(&b, format!("x,y\n{}", "5,9\n".repeat(50)))?;
//! let mut files = TableFiles::open(&[a, b], &BinOptions::read_options())?;
//! let options = BinOptions::new(ColumnRoles::target("y"));
//! BinnedTable::create(&path, &mut files, &options, &mut |_| std::ops::ControlFlow::Continue(()))?;
//! let table = BinnedTable::open(&path)?;
//! let mut data = table.dataset_mapped(Some(256 << 20))?; // at most 256 MiB of memory
//! assert_eq!((data.n_rows(), data.is_mapped()), (150, true));
//! let model = Trainer::new(Params::default(), table.objective()?).train(&mut data)?.model;
//! assert_eq!(model.inputs[0].name, "x");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod append;
mod blocks;
mod build;
mod csv_file;
mod error;
mod files;
mod open;
mod roles;

pub use blocks::{BlockColumn, TableBlocks};
pub use build::{BinOptions, BinPass, BinProgress};
pub use error::BinnedTableError;
pub use files::TableFiles;
pub use open::BinnedTable;
