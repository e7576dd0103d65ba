//! Structure of the workspace, checked against its manifests and sources: allowed dependencies, and allowed uses of
//! `unsafe`.

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

const ISA: &str = "bitgrain-isa";
const KERNELS: &str = "bitgrain-kernels";
const CODEC: &str = "bitgrain-codec";
const FILES: &str = "bitgrain-files";
const FORMATS: &str = "bitgrain-formats";
const GBDT: &str = "bitgrain-gbdt";
const NN: &str = "bitgrain-nn";
const STORE: &str = "bitgrain-store";
const GPU: &str = "bitgrain-gpu";
const FACADE: &str = "bitgrain";
const COMMAND: &str = "bitgrain-cli";

/// Each crate with the workspace crates it may depend on, lowest layer first. Add new crates here.
const LAYERS: &[(&str, &[&str])] = &[
    (ISA, &[]),
    (KERNELS, &[ISA]),
    (CODEC, &[KERNELS]),
    (FILES, &[]),
    (FORMATS, &[CODEC, KERNELS]),
    // The domains must not depend on each other.
    (GBDT, &[CODEC, FILES, FORMATS, KERNELS]),
    (NN, &[CODEC, FILES, FORMATS, KERNELS]),
    (STORE, &[CODEC, FILES, FORMATS, KERNELS]),
    (GPU, &[CODEC, NN, GBDT, KERNELS]),
    (FACADE, &[KERNELS, CODEC, FILES, FORMATS, GBDT, NN, STORE, GPU]),
    // Front ends and tools use the public API only.
    (COMMAND, &[FACADE]),
    // `python -m bitgrain` runs the command-line tool.
    ("bitgrain-python", &[FACADE, COMMAND]),
    ("bitgrain-wasm", &[FACADE]),
    ("bitgrain-bench", &[FACADE]),
    ("bitgrain-fuzz", &[FACADE]),
    ("xtask", &[GBDT]),
];

/// Maximum length of a `lib.rs` in lines: it declares modules and holds no code.
const LIB_LINES: usize = 150;

/// A crate of the workspace.
struct Member {
    folder: PathBuf,
    manifest: Table,
}

impl Member {
    fn read(folder: PathBuf) -> Self {
        let manifest = read_toml(&folder.join("Cargo.toml"));
        Self { folder, manifest }
    }

    fn name(&self) -> &str {
        lookup(&self.manifest, &["package", "name"]).and_then(Value::as_str).expect("a package has a name")
    }

    /// Returns the packages it is built with, on all targets, without dev-dependencies.
    fn dependencies(&self, root: &Table) -> Vec<String> {
        let mut tables = vec![&self.manifest];
        let targets = self.manifest.get("target").and_then(Value::as_table);
        tables.extend(targets.into_iter().flat_map(Table::values).filter_map(Value::as_table));
        let kinds = tables.iter().flat_map(|table| ["dependencies", "build-dependencies"].map(|kind| table.get(kind)));
        let entries = kinds.flatten().filter_map(Value::as_table).flatten();
        entries.map(|(key, entry)| package_of(key, entry, root)).collect()
    }

    /// Returns its Rust files, without tests and examples.
    fn sources(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for folder in ["src", "fuzz_targets"].map(|folder| self.folder.join(folder)) {
            if folder.is_dir() {
                collect_rust_files(&folder, &mut files);
            }
        }
        files
    }
}

#[test]
fn every_crate_uses_only_the_crates_below_it() {
    let root = root_manifest();
    for member in members() {
        let name = member.name();
        let (_, allowed) = LAYERS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| {
            panic!("{name} is missing from the layers; add it to LAYERS in crates/bitgrain/tests/layering.rs")
        });
        for used in member.dependencies(&root) {
            let ours = used.starts_with("bitgrain") || LAYERS.iter().any(|(known, _)| *known == used);
            assert!(!ours || allowed.contains(&used.as_str()), "{name} may not depend on {used}, only on {allowed:?}");
        }
    }
}

#[test]
fn the_kernels_depend_on_the_feature_lists_alone() {
    assert_eq!(kernels().dependencies(&root_manifest()), [ISA]);
}

#[test]
fn feature_lists_name_only_what_detection_asks_the_cpu_for() {
    let lists = read(&root_folder().join("crates/bitgrain-isa/src/lib.rs"));
    let detection = ["x86_64", "aarch64"]
        .map(|folder| read(&root_folder().join("crates/bitgrain-kernels/src").join(folder).join("detect.rs")));
    let detection = detection.concat();
    // NEON is part of the baseline of its targets and needs no detection.
    let detected = |line: &&str| line.starts_with("const ") && !line.starts_with("const NEON");
    let lists: Vec<_> = lists.lines().filter(detected).collect();
    assert_eq!(lists.len(), 5);
    for feature in lists.iter().filter_map(|line| line.split('"').nth(1)).flat_map(|list| list.split(',')) {
        // A test in each file compares detection with the standard library's, feature by feature.
        assert!(detection.contains(&format!("has!(\"{feature}\")")), "detection does not check {feature}");
    }
}

#[test]
fn every_workspace_member_is_examined_here() {
    let root = root_manifest();
    let listed = lookup(&root, &["workspace", "members"]).and_then(Value::as_array).expect("the members are listed");
    let examined: Vec<_> = members().into_iter().map(|member| member.folder).collect();
    for path in listed.iter().filter_map(Value::as_str) {
        assert!(
            examined.contains(&root_folder().join(path)),
            "{path} is not checked; add it to members() in this test"
        );
    }
}

#[test]
fn version_edition_and_license_come_from_the_workspace() {
    for member in members() {
        for key in ["version", "edition", "license"] {
            let inherited = lookup(&member.manifest, &["package", key, "workspace"]);
            assert_eq!(inherited, Some(&Value::Boolean(true)), "{} needs `{key}.workspace = true`", member.name());
        }
    }
}

#[test]
fn every_crate_but_the_kernels_takes_the_workspace_lints() {
    for member in members().iter().filter(|member| member.name() != KERNELS) {
        let inherited = lookup(&member.manifest, &["lints", "workspace"]);
        assert_eq!(inherited, Some(&Value::Boolean(true)), "{} needs `[lints] workspace = true`", member.name());
    }
}

#[test]
fn the_lints_of_the_kernels_are_those_of_the_workspace_but_for_unsafe_code() {
    let root = root_manifest();
    let mut want = lookup(&root, &["workspace", "lints"]).and_then(Value::as_table).expect("a table").clone();
    let rust = want.get_mut("rust").and_then(Value::as_table_mut).expect("the workspace has lints for rustc");
    assert!(rust.remove("unsafe_code").is_some(), "the workspace denies unsafe code");
    assert_eq!(kernels().manifest.get("lints"), Some(&Value::Table(want)));
}

/// Other files that may contain `unsafe`: see `docs/decisions/008-mapped-files.md`.
const OTHER_UNSAFE: [&str; 5] = [
    // Maps a file.
    "crates/bitgrain-files/src/mapped_file.rs",
    // Maps a segment of a store.
    "crates/bitgrain-files/src/growing_map.rs",
    // Loop bodies lent to threads that live longer, see docs/decisions/025-team.md.
    "crates/bitgrain-gbdt/src/train/team.rs",
    // A rival's library, called through its C functions.
    "bench/src/rival/ggml/",
    // Opens a benchmarked library's database, which requires that no other process modifies its files.
    "bench/src/rival/store/lmdb.rs",
];

#[test]
fn only_the_kernels_contain_the_word_unsafe() {
    let elsewhere = |file: &PathBuf| OTHER_UNSAFE.iter().any(|place| file.starts_with(root_folder().join(place)));
    let sources = members().into_iter().filter(|member| member.name() != KERNELS).flat_map(|member| member.sources());
    for file in sources.filter(|file| !elsewhere(file)) {
        for (number, line) in (1..).zip(read(&file).lines()) {
            // Splitting keeps underscores, so that the lint name `unsafe_code` does not match.
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            let comment = line.trim_start().starts_with("//");
            assert!(comment || words.all(|word| word != "unsafe"), "{}:{number}: {line}", file.display());
        }
    }
}

#[test]
fn every_lib_rs_contains_only_modules_and_re_exports() {
    for lib in members().iter().map(|member| member.folder.join("src/lib.rs")).filter(|lib| lib.is_file()) {
        let lines = read(&lib).lines().count();
        assert!(lines < LIB_LINES, "{} has {lines} lines; the limit is {LIB_LINES}", lib.display());
    }
}

/// Returns all crates with a manifest, whether or not they are listed as members.
fn members() -> Vec<Member> {
    let root = root_folder();
    let mut folders: Vec<_> = ["bench", "fuzz", "xtask"].map(|name| root.join(name)).into();
    for parent in ["crates", "bindings"].map(|name| root.join(name)) {
        // Either folder may be missing.
        if parent.is_dir() {
            folders.extend(entries(&parent).into_iter().filter(|folder| folder.join("Cargo.toml").is_file()));
        }
    }
    folders.into_iter().map(Member::read).collect()
}

fn kernels() -> Member {
    members().into_iter().find(|member| member.name() == KERNELS).expect("the kernels are a member")
}

fn root_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn root_manifest() -> Table {
    read_toml(&root_folder().join("Cargo.toml"))
}

/// Returns the package of a dependency's key: the key, unless the entry or the workspace's entry renames it.
fn package_of(key: &str, entry: &Value, root: &Table) -> String {
    let inherited = lookup(root, &["workspace", "dependencies", key]).filter(|_| entry.get("workspace").is_some());
    let renamed = [Some(entry), inherited].into_iter().flatten().find_map(|entry| entry.get("package")?.as_str());
    renamed.unwrap_or(key).to_owned()
}

fn lookup<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(table.get(*first)?, |value, key| value.get(*key))
}

fn collect_rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        if path.is_dir() {
            collect_rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("a readable folder").path()).collect()
}

fn read_toml(path: &Path) -> Table {
    read(path).parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
