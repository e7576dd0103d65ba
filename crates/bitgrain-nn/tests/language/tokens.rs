//! Tokenizers of GGUF files: byte pairs and pieces, special tokens, text of every kind back and forth.

use bitgrain_nn::network::language::Tokenizer;

use crate::tiny::Spec;

fn pairs() -> Tokenizer {
    Tokenizer::load(&Spec::llama().open()).expect("valid")
}

fn pieces() -> Tokenizer {
    Tokenizer::load(&Spec { gemma: true, ..Spec::llama() }.open()).expect("valid")
}

fn names(tokenizer: &Tokenizer, text: &str) -> Vec<String> {
    tokenizer.encode(text, false).iter().map(|id| tokenizer.name(*id).expect("in range").to_owned()).collect()
}

#[test]
fn byte_pairs_merge_by_rank() {
    let pairs = pairs();
    assert_eq!(names(&pairs, "the then in"), ["t", "he", "\u{120}the", "n", "\u{120}", "in"]);
    assert_eq!(names(&pairs, "ether 12"), ["e", "t", "he", "r", "\u{120}", "1", "2"]);
    assert_eq!(names(&pairs, "\u{e9}\u{20ac}"), ["\u{c3}\u{a9}", "\u{e2}", "\u{124}", "\u{ac}"]);
}

#[test]
fn pieces_merge_by_score() {
    let pieces = pieces();
    assert_eq!(names(&pieces, " the and\u{e9}"), ["<bos>", "\u{2581}the", "\u{2581}", "and", "<0xC3>", "<0xA9>"]);
    assert_eq!(names(&pieces, "the\n\n\n"), ["<bos>", "th", "e", "\n\n", "\n"]);
}

#[test]
fn control_tokens_are_text_unless_asked_for() {
    let pairs = pairs();
    let control = pairs.encode("a<|im_end|>\nb", true);
    assert_eq!(control.len(), 4);
    assert_eq!(pairs.name(control[1]), Some("<|im_end|>"));
    assert!(pairs.stops(control[1]) && !pairs.stops(control[0]));
    assert_eq!(pairs.decode(&control), "a\nb");
    let plain = pairs.encode("a<|im_end|>\nb", false);
    assert!(plain.len() > 10 && !plain.contains(&control[1]));
    assert_eq!(pairs.decode(&plain), "a<|im_end|>\nb");
    // Tokens that users defined are found in any text.
    assert_eq!(names(&pairs, "x<tool>y"), ["x", "<tool>", "y"]);
}

#[test]
fn texts_survive_the_way_back() {
    let texts = [
        "",
        " ",
        "  two  spaces ",
        "The \u{201c}quick\u{201d} brown fox\u{2026}\n\tjumps \u{2014} 3,141 times!\r\n\r\n",
        "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}, \u{43c}\u{438}\u{440}! \u{4f60}\u{597d}\u{4e16}\u{754c} \u{3053}\u{3093}\u{306b}\u{3061}\u{306f} \u{645}\u{631}\u{62d}\u{628}\u{627}",
        "\u{928}\u{92e}\u{938}\u{94d}\u{924}\u{947} \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} e\u{301} \u{0}\u{7f}\u{ad}",
        "<0x41> \u{2581} <tool><|im_start|>",
    ];
    for text in texts {
        let pairs = pairs();
        assert_eq!(pairs.decode(&pairs.encode(text, false)), text);
        let pieces = pieces();
        // SentencePiece cannot tell its mark of a space from a space.
        assert_eq!(pieces.decode(&pieces.encode(text, false)), text.replace('\u{2581}', " "));
    }
}

#[test]
fn long_words_take_little_more_than_linear_time() {
    let start = std::time::Instant::now();
    let text = "the".repeat(200_000);
    assert!(pairs().encode(&text, true).len() >= 200_000);
    assert!(pieces().encode(&text, true).len() >= 200_000);
    // Quadratic merging takes hours.
    assert!(start.elapsed().as_secs() < 120);
}
