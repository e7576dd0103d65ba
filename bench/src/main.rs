//! Benchmarks against other libraries, in one process: ratios and GB/s, from a default build.
//!
//! `cargo run --release -p bitgrain-bench -- codec` prints tables; a missed target is a result, not a failure, so the
//! exit code is 0 either way. One module per suite.

mod buffer;
mod codec;
mod data;
mod gbdt;
mod llm;
mod machine;
mod measure;
mod nn;
mod report;
mod rival;
mod scratch;
mod store;
mod weights;

use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use measure::Pace;
use report::{Report, json, markdown, text};

/// Benchmarks of Bitgrain and other libraries in one run.
#[derive(Parser)]
#[command(name = "bitgrain-bench", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    role: Option<Role>,
    /// Suite to run [default: all]
    suite: Option<Suite>,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
    /// Smaller data and fewer rounds, for a quick look; not for publication.
    #[arg(long)]
    quick: bool,
    /// Also write the tables to FILE as a Markdown page.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    #[command(flatten)]
    nn: nn::Options,
    #[command(flatten)]
    llm: llm::Options,
    #[command(flatten)]
    gbdt: gbdt::Options,
}

/// Hidden commands that run one contender in a separate process.
#[derive(Subcommand)]
enum Role {
    /// A contender of the suite `gbdt`, in a separate process.
    #[command(hide = true)]
    Contend { job: String },
    /// A contender of the suite `store` that opens stored tensors, in a separate process.
    #[command(hide = true)]
    ContendOpen { keeper: String, folder: PathBuf },
    /// All contenders of the suite `nn` on a backend and this many threads, in a separate process.
    #[command(hide = true)]
    ContendNn {
        backend: String,
        threads: usize,
        #[arg(long)]
        quick: bool,
        #[command(flatten)]
        options: nn::Options,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Suite {
    /// Blocks of quantized f32, bit packing, reductions and float conversions.
    Codec,
    /// Block formats of llama.cpp compared with ggml and candle, file conversion, and opening of files.
    Weights,
    /// Products with quantized matrices compared with candle and ggml, and a sentence model compared with candle.
    Nn,
    /// A language model compared with llama.cpp: speed, and agreement of the predictions.
    Llm,
    /// Gradient boosting compared with LightGBM, XGBoost, CatBoost and scikit-learn.
    Gbdt,
    /// Stored tensors compared with databases and files: put, get, open, bytes on disk.
    Store,
}

impl Suite {
    fn run(self, pace: Pace, cli: &Cli) -> io::Result<Report> {
        match self {
            Self::Codec => Ok(codec::run(pace)),
            Self::Weights => weights::run(pace),
            Self::Nn => nn::run(pace, &cli.nn),
            Self::Llm => llm::run(pace, &cli.llm),
            Self::Gbdt => gbdt::run(pace, &cli.gbdt),
            Self::Store => store::run(pace),
        }
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if cfg!(debug_assertions) {
        eprintln!("warning: not an optimized build, so the numbers are meaningless; use --release");
    }
    match run(&cli, &mut io::stdout().lock()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
        _ => ExitCode::SUCCESS,
    }
}

fn run(cli: &Cli, out: &mut impl Write) -> io::Result<()> {
    match &cli.role {
        Some(Role::Contend { job }) => return writeln!(out, "{}", gbdt::contend(job).map_err(io::Error::other)?),
        Some(Role::ContendOpen { keeper, folder }) => return writeln!(out, "{}", store::contend(keeper, folder)),
        Some(Role::ContendNn { backend, threads, quick, options }) => {
            let pace = if *quick { Pace::Quick } else { Pace::Full };
            return writeln!(out, "{}", nn::contend(pace, options, backend, *threads)?);
        }
        None => {}
    }
    let pace = if cli.quick { Pace::Quick } else { Pace::Full };
    if let Some(folder) = cli.markdown.as_ref().and_then(|path| path.parent()) {
        // Before measuring, so that an error does not appear after minutes.
        std::fs::create_dir_all(folder)?;
    }
    let suites = cli.suite.as_ref().map_or(Suite::value_variants(), std::slice::from_ref);
    let reports: Vec<Report> = suites.iter().map(|suite| suite.run(pace, cli)).collect::<io::Result<_>>()?;
    if let Some(path) = &cli.markdown {
        let pages: Vec<String> = reports.iter().map(markdown::page).collect();
        std::fs::write(path, pages.join("\n"))
            .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))?;
    }
    if cli.json {
        return writeln!(out, "{:#}", json::document(&reports));
    }
    reports.iter().try_for_each(|report| out.write_all(text::page(report).as_bytes()))
}
