//! Generates the JavaScript and TypeScript files of the npm package: `bitgrain-bindgen MODULE FOLDER`.
//!
//! As a program of the workspace, the generator has the version of the library that `Cargo.lock` has, and shares the target
//! folder. An installed `wasm-bindgen` could have another version, which its format does not allow.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder] = &arguments[..] else {
        eprintln!("usage: bitgrain-bindgen MODULE FOLDER");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    // The package says where its module is, because Node and browsers load it in different ways.
    bindgen.input_path(module).out_name("bitgrain").typescript(true).omit_default_module_path(true);
    bindgen.remove_name_section(true).remove_producers_section(true);
    let generated = bindgen.web(true).and_then(|bindgen| bindgen.generate(folder));
    let done =
        generated.map_err(|error| format!("{error:?}")).and_then(|()| guard(&Path::new(folder).join("bitgrain.js")));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Makes the script throw an `Error` that names its cause when an allocation fails. The engine traps then: Rust can replace
/// that only with unstable features. Panics do not trap; they throw.
fn guard(script: &Path) -> Result<(), String> {
    const ASSIGNED: &str = "wasm = instance.exports;";
    const GUARDED: &str = "wasm = guarded(instance.exports);";
    const FUNCTION: &str = r#"
function guarded(exports) {
    const guard = (run) => (...values) => {
        try {
            return run(...values);
        } catch (error) {
            if (!(error instanceof WebAssembly.RuntimeError && /unreachable/.test(error.message))) throw error;
            throw new Error("out of memory: WebAssembly addresses at most 4 GB; use smaller input, and load the module again", { cause: error });
        }
    };
    return Object.fromEntries(Object.entries(exports).map(([name, item]) => [name, typeof item === "function" ? guard(item) : item]));
}
"#;
    let content = fs::read_to_string(script).map_err(|error| error.to_string())?;
    if content.matches(ASSIGNED).count() != 1 {
        return Err(format!("cannot guard the script: expected `{ASSIGNED}` once; adapt it to the generator"));
    }
    fs::write(script, content.replacen(ASSIGNED, GUARDED, 1) + FUNCTION).map_err(|error| error.to_string())
}
