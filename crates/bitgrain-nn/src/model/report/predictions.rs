//! Predictions of a language model on a text: perplexity, and divergence from the first model.

use maud::{Markup, html};

/// Renders a table of measures, or nothing without any.
pub(super) fn section(measures: &[[String; 3]]) -> Markup {
    html! {
        @if !measures.is_empty() {
            section {
                h2 { "Predictions" }
                p class="note" {
                    "The second half of each chunk of a text is predicted by both models. Divergence: expected loss of \
                     information, in nats per token, when the second model is used instead of the first. Standard errors \
                     assume independent predictions."
                }
                div class="scroll" {
                    table {
                        thead {
                            tr { th { "measure" } th class="n" { "value" } th class="n" { "standard error" } }
                        }
                        tbody {
                            @for [name, value, error] in measures {
                                tr { td { (name) } td class="n" { (value) } td class="n" { (error) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
