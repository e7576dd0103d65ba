//! Training on several workers, each of which holds some of the rows.
//!
//! Every worker calls the same functions in the same order: [`dataset`] bins its rows with the cuts that one machine
//! would compute from all rows, and [`Trainer::distributed`](crate::train::Trainer::distributed) trains on them. The
//! workers exchange integer sums through a [`Communicator`], so the model does not depend on the number of workers: it is
//! the model that one process trains on the rows of worker 0, followed by those of worker 1, and so on.
//!
//! [`LocalGroup`] runs the workers as threads of one process, for tests.
//!
//! ```
//! use bitgrain_gbdt::distributed::{self, LocalGroup};
//! use bitgrain_gbdt::feature::{Features, Quantizer};
//! use bitgrain_gbdt::gradient::GradientPrecision;
//! use bitgrain_gbdt::objective::by_name;
//! use bitgrain_gbdt::train::{Dataset, Params, Trainer};
//! let (x, y): (Vec<f32>, Vec<f32>) = (0..600).map(|row| (row as f32, (row % 7) as f32)).unzip();
//! let gradient_precision = GradientPrecision::Pair8;
//! let params = Params { n_estimators: 3, gradient_precision, ..Params::default() };
//! let alone = {
//!     let features = Features::column_major(&x[..], 600, 1)?;
//!     let mut data = Dataset::new(&features, y.clone(), None, &Quantizer::default())?;
//!     Trainer::new(params.clone(), by_name("squared")?).train(&mut data)?
//! };
//! let shards = [0..100, 100..450, 450..600];
//! let models = LocalGroup::run(3, |group| {
//!     let rows = shards[group.rank()].clone();
//!     let features = Features::column_major(&x[rows.clone()], rows.len(), 1)?;
//!     let shard = distributed::Shard::new(&features, y[rows].to_vec(), None);
//!     let mut data = distributed::dataset(group, shard, &Quantizer::default())?;
//!     Trainer::new(params.clone(), by_name("squared")?).distributed(group).train(&mut data)
//! });
//! for trained in models {
//!     assert!(trained?.model == alone.model);
//! }
//! # use bitgrain_gbdt::distributed::Communicator;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bins;
mod bytes;
mod communicator;
mod error;
mod evaluation;
mod local;
mod packing;
mod peers;

pub use bins::{Shard, dataset};
pub use communicator::Communicator;
pub use error::CommunicationError;
pub use local::{LocalGroup, LocalWorker};

pub(crate) use bytes::{Reader, Writer};
pub(crate) use evaluation::Gathered;
pub(crate) use packing::Packing;
pub(crate) use peers::Peers;
