//! Generates the JavaScript and TypeScript files of the npm package: `bitgrain-bindgen MODULE FOLDER`.
//!
//! As a program of the workspace, the generator has the version of the library that `Cargo.lock` has, and shares the target
//! folder. An installed `wasm-bindgen` could have another version, which its format does not allow.

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
    match bindgen.web(true).and_then(|bindgen| bindgen.generate(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:?}");
            ExitCode::FAILURE
        }
    }
}
