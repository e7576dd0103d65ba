//! `bitgrain tour`: a demonstration on small data.

use std::io::Write;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::predict::check_output_path;
use crate::error::CliError;
use crate::output::write_atomic;
use crate::tour::block::{Block, write_text};
use crate::tour::{CHAPTERS, Chapter, page};

/// Demonstrate every part of Bitgrain on small data, with measured errors and speed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  bitgrain tour              all chapters
  bitgrain tour codec        one chapter
  bitgrain tour --list       names of the chapters
  bitgrain tour --json       measurements as JSON
  bitgrain tour codec --report tour.html     HTML page with tables and charts")]
pub(crate) struct Args {
    /// Chapters to run [default: all].
    #[arg(value_name = "CHAPTER")]
    chapters: Vec<String>,
    /// List the chapters without running them.
    #[arg(long)]
    list: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// HTML page to write, with tables and charts.
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
    args.report.as_deref().map_or(Ok(()), check_output_path)?;
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
        write_atomic(path, page::html(&pages).as_bytes())?;
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
