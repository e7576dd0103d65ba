//! `bitgrain tour`: every capability on small real work.

use std::io::Write;

use serde_json::{Map, Value};

use crate::error::CliError;
use crate::tour::{CHAPTERS, Chapter};

/// See what Bitgrain can do, on small real work: what it cost and how fast it was.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain tour              all chapters
  bitgrain tour codec        one chapter
  bitgrain tour --list       what chapters there are
  bitgrain tour --json       the same numbers for machines")]
pub(crate) struct Args {
    /// Chapters to show; all if none is named.
    #[arg(value_name = "CHAPTER")]
    chapters: Vec<String>,
    /// List the chapters and stop.
    #[arg(long)]
    list: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), CliError> {
    if args.list && args.json {
        let list: Map<_, _> = CHAPTERS.iter().map(|c| (c.name.to_owned(), c.title.into())).collect();
        return Ok(writeln!(out, "{:#}", Value::Object(list))?);
    }
    if args.list {
        for chapter in CHAPTERS {
            writeln!(out, "{:<10} {}", chapter.name, chapter.title)?;
        }
        return Ok(());
    }
    let chapters = chosen(&args.chapters)?;
    let mut reports = Map::new();
    for (i, chapter) in chapters.into_iter().enumerate() {
        let report = (chapter.run)()?;
        if args.json {
            reports.insert(chapter.name.to_owned(), report.to_json()?);
            continue;
        }
        let gap = if i > 0 { "\n" } else { "" };
        writeln!(out, "{gap}{}\n", chapter.title)?;
        report.write_text(out)?;
    }
    if args.json {
        writeln!(out, "{:#}", Value::Object(reports))?;
    }
    Ok(())
}

fn chosen(names: &[String]) -> Result<Vec<&'static Chapter>, CliError> {
    if names.is_empty() {
        return Ok(CHAPTERS.iter().collect());
    }
    let find = |name: &String| {
        CHAPTERS.iter().find(|c| c.name == name).ok_or_else(|| CliError::UnknownChapter {
            name: name.clone(),
            known: CHAPTERS.iter().map(|c| c.name).collect::<Vec<_>>().join(", "),
        })
    };
    names.iter().map(find).collect()
}
