//! Every subcommand as documents show it, and as scripts misuse it.

mod documented;
mod fixture;
mod misused;
mod subcommands;
