//! `bitgrain tour`: every capability on small real work.

use std::io::Write;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::predict::check_place;
use crate::error::CliError;
use crate::output::write_whole;
use crate::tour::block::{Block, write_text};
use crate::tour::{CHAPTERS, Chapter, page};

/// See what Bitgrain can do, on small real work: what it cost and how fast it was.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain tour              all chapters
  bitgrain tour codec        one chapter
  bitgrain tour --list       what chapters there are
  bitgrain tour --json       the same numbers for machines
  bitgrain tour codec --report tour.html     a page with tables and charts")]
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
    /// HTML page to write: tables and charts in one file.
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    report: Option<PathBuf>,
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
    args.report.as_deref().map_or(Ok(()), check_place)?;
    let mut reports = Map::new();
    let mut pages: Vec<(&Chapter, Vec<Block>)> = Vec::new();
    for (i, chapter) in chapters.into_iter().enumerate() {
        let report = (chapter.run)()?;
        let blocks = report.blocks();
        if args.json {
            reports.insert(chapter.name.to_owned(), report.to_json()?);
        } else {
            let gap = if i > 0 { "\n" } else { "" };
            writeln!(out, "{gap}{}\n", chapter.title)?;
            write_text(&blocks, out)?;
        }
        pages.push((chapter, blocks));
    }
    if args.json {
        writeln!(out, "{:#}", Value::Object(reports))?;
    }
    if let Some(path) = &args.report {
        write_whole(path, page::html(&pages).as_bytes())?;
        if !args.json {
            writeln!(out, "\nWrote {}.", path.display())?;
        }
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
