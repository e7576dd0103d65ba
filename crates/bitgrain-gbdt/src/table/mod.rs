//! Tables from files: Parquet, CSV, libsvm.
