//! Parameters and facts of the training.

use maud::{Markup, html};

use super::TrainingReport;
use super::number::clean;

pub(super) fn section(report: &TrainingReport<'_>) -> Markup {
    let model = report.model;
    let own = [("objective", model.output.objective.clone()), ("link", model.output.link.name().to_owned())];
    let own = own.iter().map(|(name, value)| (*name, value.as_str()));
    let facts = report.facts.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    // The key figures have the best round, counted from 1.
    let metadata = model.metadata.iter().filter(|(name, _)| *name != "train.best_round");
    let metadata = metadata.map(|(name, value)| (name.as_str(), value.as_str()));
    html! {
        section {
            h2 { "Parameters" }
            div class="scroll" tabindex="0" {
                table {
                    thead { tr { th scope="col" { "name" } th scope="col" { "value" } } }
                    tbody {
                        @for (name, value) in own.chain(facts).chain(metadata) {
                            tr { th scope="row" { (clean(name)) } td class="wrap" { (clean(value)) } }
                        }
                    }
                }
            }
            p class="note" { "Written by Bitgrain " (env!("CARGO_PKG_VERSION")) "." }
        }
    }
}
