//! Every subcommand, as documented and with invalid input.

mod documented;
mod fixture;
mod misused;
mod subcommands;
