//! Lists and tables in the documentation match the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the first cells of the table whose header starts with `first`, without emphasis.
fn first_column(text: &str, first: &str) -> Vec<String> {
    let rows = text.lines().skip_while(|line| !line.starts_with(first)).skip(2).take_while(|l| l.starts_with('|'));
    let cell = |row: &str| row.split('|').nth(1).unwrap_or_default().trim().trim_matches(['`', '*']).to_owned();
    rows.map(cell).collect()
}

fn names_in(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn the_architecture_page_lists_every_crate() {
    let workspace: toml::Table = read("Cargo.toml").parse().expect("a manifest");
    let members = workspace["workspace"]["members"].as_array().expect("members");
    let package = |member: &toml::Value| {
        let manifest: toml::Table =
            read(&format!("{}/Cargo.toml", member.as_str().expect("a path"))).parse().expect("a manifest");
        manifest["package"]["name"].as_str().expect("a name").to_owned()
    };
    // The page lists crates from the top down, Cargo from the bottom up.
    let mut packages: Vec<String> = members.iter().map(package).collect();
    packages.sort();
    let mut listed = first_column(&read("ARCHITECTURE.md"), "| crate | contents");
    listed.sort();
    assert_eq!(listed, packages);
}

/// Returns the functions that a walk of the architecture page names, each with its file: `` `name` in `file` ``.
fn steps(walk: &str) -> Vec<(String, String)> {
    let parts: Vec<&str> = walk.split('`').collect();
    let step = |window: &[&str]| (window[1] == " in ").then(|| (window[0].to_owned(), window[2].to_owned()));
    parts.windows(3).filter_map(step).collect()
}

#[test]
fn the_walkthroughs_of_the_architecture_page_name_existing_functions() {
    let page = read("ARCHITECTURE.md");
    let section = page.split("## Code walkthroughs").nth(1).and_then(|rest| rest.split("\n## ").next());
    let walks: Vec<&str> = section.expect("a section of walks").split("\n**").skip(1).collect();
    assert_eq!(walks.len(), 4, "a CSV row, a tensor, a put and a forward pass");
    for walk in walks {
        let folder = walk.split('`').find(|part| part.starts_with("crates/")).expect("the folder of a walk");
        let steps = steps(walk);
        assert!(steps.len() >= 4, "{walk}");
        for (name, file) in steps {
            let function = name.rsplit("::").next().unwrap_or(&name);
            let source = read(&format!("{folder}{file}"));
            let defined = [format!("fn {function}("), format!("fn {function}<")];
            assert!(defined.iter().any(|text| source.contains(text)), "{folder}{file} does not define {name}");
        }
    }
}

#[test]
fn the_facade_lists_every_module_it_maps() {
    let source = include_str!("../src/lib.rs");
    let listed: BTreeSet<String> = first_column(&source.replace("//! ", ""), "| module |")
        .iter()
        .map(|cell| cell.trim_matches(['[', ']', '`']).to_owned())
        .collect();
    let mapped = source.lines().filter(|line| line.starts_with("pub use ")).flat_map(|line| line.split(','));
    let mapped = mapped.filter_map(|part| part.split(" as ").nth(1)).map(|name| name.trim_end_matches([';', '}']));
    assert_eq!(listed, mapped.map(str::to_owned).collect());
}

#[test]
fn the_index_of_the_specification_lists_every_format() {
    let files = names_in("spec").into_iter().filter(|name| name.ends_with(".md") && name != "README.md");
    let listed = first_column(&read("spec/README.md"), "| file |");
    let listed = listed.iter().map(|cell| cell.split(['[', ']']).nth(1).unwrap_or(cell).to_owned());
    assert_eq!(listed.collect::<BTreeSet<_>>(), files.collect());
}

/// Collects the Rust files below a folder, as paths with slashes.
fn rust_files(folder: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path.to_string_lossy().replace('\\', "/"));
        }
    }
}

#[test]
fn every_file_on_the_architecture_page_exists() {
    let mut files = Vec::new();
    rust_files(&root().join("crates"), &mut files);
    let page = read("ARCHITECTURE.md");
    let named: Vec<&str> = page.split('`').skip(1).step_by(2).filter(|span| span.ends_with(".rs")).collect();
    assert!(named.len() > 20, "{named:?}");
    for name in named {
        assert!(files.iter().any(|file| file.ends_with(&format!("/{name}"))), "ARCHITECTURE.md names {name}");
    }
}

/// Runs git in the repository; `None` if git is missing or the command fails.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).current_dir(root()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns the abbreviated commits in a text: words of 7 to 40 hexadecimal digits with both letters and decimals.
fn commits_in(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let is_commit = |word: &&str| {
        (7..=40).contains(&word.len())
            && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            && word.bytes().any(|byte| byte.is_ascii_digit())
            && word.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    words.filter(is_commit).map(str::to_owned).collect()
}

#[test]
fn benchmark_pages_name_commits_of_this_repository() {
    // A source package has no history, and a shallow clone not all of it.
    if git(&["rev-parse", "--is-shallow-repository"]).as_deref() != Some("false") {
        return;
    }
    assert_eq!(commits_in("Commit: 0bc658c, 26.11.2026, 1000000 rows, feedback"), ["0bc658c"]);
    let mut found = 0;
    for page in names_in("docs/benchmarks").into_iter().filter(|name| name.ends_with(".md")) {
        for commit in commits_in(&read(&format!("docs/benchmarks/{page}"))) {
            let is_ancestor = git(&["merge-base", "--is-ancestor", &commit, "HEAD"]).is_some();
            assert!(is_ancestor, "docs/benchmarks/{page} names commit {commit}, which is not part of HEAD");
            found += 1;
        }
    }
    assert!(found >= 5, "{found} commits");
}

#[test]
fn every_golden_vector_is_a_pair() {
    let names = names_in("spec/vectors");
    for name in names.iter().filter(|name| name.contains('.')) {
        let path = Path::new(name);
        let other = path.with_extension(if path.extension().is_some_and(|e| e == "json") { "bin" } else { "json" });
        assert!(names.contains(&*other.to_string_lossy()), "{name} lacks its counterpart");
    }
    assert!(names.len() > 100);
}

#[test]
fn the_glossary_is_sorted_and_lists_each_term_once() {
    let words = first_column(&read("docs/glossary.md"), "| word |");
    assert!(words.len() > 10);
    assert!(words.is_sorted_by(|a, b| a < b), "{words:?}");
}

#[test]
fn decisions_are_numbered_without_gaps() {
    let numbers: Vec<String> = names_in("docs/decisions")
        .into_iter()
        .filter(|name| name != "README.md")
        .map(|name| name.split('-').next().unwrap_or_default().to_owned())
        .collect();
    let expected: Vec<String> = (1..=numbers.len()).map(|n| format!("{n:03}")).collect();
    assert_eq!(numbers, expected);
}

#[test]
fn the_index_of_decisions_lists_every_page_with_its_title_status_and_date() {
    let index = read("docs/decisions/README.md");
    let listed = rows(&index, "# Decisions", "| number |");
    let pages: Vec<String> = names_in("docs/decisions").into_iter().filter(|name| name != "README.md").collect();
    assert_eq!(listed.len(), pages.len(), "one row per page: {pages:?}");
    for (row, page) in listed.iter().zip(&pages) {
        let text = read(&format!("docs/decisions/{page}"));
        let title = text.lines().next().unwrap_or_default().trim_start_matches("# ");
        let (number, title) = title.split_once(' ').expect("a number and a title");
        let number = number.trim_end_matches(':');
        assert_eq!(row[..2], [format!("[{number}]({page})"), title.to_owned()]);
        let is_status =
            row[2] == "accepted" || ["replaced by [", "partly replaced by ["].iter().any(|s| row[2].starts_with(s));
        assert!(is_status, "status of {page}: {}", row[2]);
        let digits = row[3].split('-').map(str::len).collect::<Vec<_>>();
        assert!(digits == [4, 2, 2] && row[3].chars().all(|c| c == '-' || c.is_ascii_digit()), "{page}: {}", row[3]);
        // The status of a replaced page must link to its replacement.
        for older in text.split("replaces").skip(1).filter_map(|rest| rest.split("](").nth(1)?.split(')').next()) {
            let status = listed.iter().find(|row| row[0].contains(older)).map(|row| &row[2]);
            assert!(status.is_some_and(|status| status.contains(page)), "{page} replaces {older}");
        }
    }
}

/// Collects the Markdown files below `folder`, without build output and the fuzzing corpus.
fn documents_below(folder: &str, found: &mut Vec<String>) {
    for name in names_in(folder) {
        let path = if folder == "." { name.clone() } else { format!("{folder}/{name}") };
        if name.ends_with(".md") {
            found.push(path);
        } else if !name.starts_with('.')
            && !["target", "corpus", "seeds"].contains(&&*name)
            && root().join(&path).is_dir()
        {
            documents_below(&path, found);
        }
    }
}

/// Iterates over the lines outside code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    })
}

/// Returns the anchors of a page's headings, as GitHub and mdBook derive them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
    headings.map(|heading| heading.chars().filter(kept).collect::<String>().to_lowercase().replace(' ', "-")).collect()
}

#[test]
fn links_between_documents_resolve() {
    let mut documents = Vec::new();
    documents_below(".", &mut documents);
    assert!(documents.len() > 50, "{documents:?}");
    for document in documents {
        let text = read(&document);
        let folder = root().join(&document).parent().expect("a folder").to_owned();
        let targets = prose(&text).flat_map(|line| line.split("](").skip(1)).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://")) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let linked = if path.is_empty() { root().join(&document) } else { folder.join(path) };
            assert!(linked.exists(), "{document} links to {target}, which does not exist");
            if !anchor.is_empty() && linked.extension().is_some_and(|extension| extension == "md") {
                let page = fs::read_to_string(&linked).expect("readable");
                assert!(anchors(&page).contains(anchor), "{document} links to {target}, an anchor that does not exist");
            }
        }
    }
}

/// Returns the cells of the table below `heading` whose header starts with `first`.
fn rows(text: &str, heading: &str, first: &str) -> Vec<Vec<String>> {
    let section = text.lines().skip_while(|line| *line != heading);
    let rows = section.skip_while(|line| !line.starts_with(first)).skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

#[test]
fn the_figures_of_the_readme_are_those_of_the_benchmark_page() {
    let (readme, page) = (read("README.md"), read("docs/benchmarks/codec.md"));
    let shown = rows(&readme, "# Bitgrain", "| width |");
    assert_eq!(shown.len(), 6);
    for row in shown {
        for (heading, columns) in [("## Encode", [3, 4]), ("## Decode", [5, 6])] {
            let measured = rows(&page, heading, "| width |");
            let measured = measured.iter().find(|m| m[0] == row[0]).unwrap_or_else(|| panic!("no row {}", row[0]));
            let best = measured[4].split(' ').next().unwrap_or_default();
            let ratio = measured[6].split('×').next().unwrap_or_default();
            assert_eq!(columns.map(|i| row[i].as_str()), [best, ratio], "{heading} {row:?}");
        }
    }
}

#[test]
fn the_weight_figures_of_the_readme_are_those_of_the_benchmark_page() {
    let (readme, page) = (read("README.md"), read("docs/benchmarks/weights.md"));
    let tables = |title: &str, searched: &str| {
        let mut all = rows(&page, &format!("## {title}"), "| format |");
        all.extend(rows(&page, &format!("## {title}, {searched}"), "| format |"));
        all
    };
    let quantize = tables("Quantize from memory", "with a search");
    let dequantize = tables("Dequantize from memory", "searched formats");
    let shown = rows(&readme, "## Quantize model files", "| format |");
    assert_eq!(shown.len(), 8);
    for row in shown {
        for (measured, columns) in [(&quantize, [1, 2]), (&dequantize, [3, 4])] {
            let measured = measured.iter().find(|m| m[0] == row[0]).unwrap_or_else(|| panic!("no row {}", row[0]));
            let median = measured[2].split(' ').next().unwrap_or_default();
            let ratio = measured[5].split('×').next().unwrap_or_default();
            assert_eq!(columns.map(|i| row[i].as_str()), [median, ratio], "{row:?}");
        }
    }
}

#[test]
fn the_trees_of_the_readme_are_those_of_the_benchmark_page() {
    let (readme, page) = (read("README.md"), read("docs/benchmarks/boosting.md"));
    let measured = rows(&page, "## Binary, 1,000,000 × 28, 2 threads", "| contender |");
    let shown = rows(&readme, "## Train trees", "| contender |");
    assert_eq!(shown.len(), 6);
    for row in shown {
        let measured = measured.iter().find(|m| m[0] == row[0]).unwrap_or_else(|| panic!("no row {}", row[0]));
        let first = |cell: &String| cell.split(' ').next().unwrap_or_default().to_owned();
        assert_eq!(row[1..], [3, 4, 5, 6].map(|i| first(&measured[i])), "{row:?}");
    }
}

#[test]
fn the_formats_of_the_readme_are_those_of_the_codec() {
    use bitgrain::codec::{BitWidth, BlockFormat, bound};
    for row in rows(&read("README.md"), "# Bitgrain", "| width |") {
        let bits = row[0].split(' ').next().and_then(|bits| bits.parse().ok()).expect("bits");
        let width = BitWidth::new(bits).expect("in range");
        assert_eq!(row[1], BlockFormat::new(width).block_bytes().to_string(), "{row:?}");
        assert_eq!(row[2], format!("{:.1} %", 100.0 * bound(width, 1.0)), "{row:?}");
    }
}

#[test]
fn the_errors_of_the_readme_are_those_of_the_fidelity_page() {
    let measured = rows(&read("docs/benchmarks/fidelity.md"), "## glove_20000x100_f32.npy", "| format |");
    let shown = rows(&read("README.md"), "## Formats", "| on word vectors |");
    assert_eq!(shown.len(), 4);
    for row in shown {
        let measured = measured.iter().find(|m| m[0] == row[0]).unwrap_or_else(|| panic!("no row {}", row[0]));
        assert_eq!([&row[1], &row[2]], [&measured[1], &measured[4]], "{row:?}");
    }
}
