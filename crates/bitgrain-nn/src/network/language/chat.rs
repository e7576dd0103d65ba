//! `ChatTemplate`: the form in which a model expects a conversation.
//!
//! Files carry a Jinja program. Models of a family differ little in the plain case, so that the family is recognized from
//! its markers, as llama.cpp does, and the program is not run.

/// Form of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChatTemplate {
    /// ChatML, of Qwen and `SmolLM`.
    ChatMl,
    Llama2,
    Llama3,
    Mistral,
    Gemma,
    Phi3,
    Phi4,
    Zephyr,
}

impl ChatTemplate {
    /// Recognizes the family of a template.
    pub(super) fn of(template: &str) -> Option<Self> {
        let has = |marker: &str| template.contains(marker);
        Some(if has("<|im_start|>") {
            if has("<|im_sep|>") { Self::Phi4 } else { Self::ChatMl }
        } else if has("[INST]") {
            if has("<<SYS>>") { Self::Llama2 } else { Self::Mistral }
        } else if has("<|assistant|>") && has("<|end|>") {
            Self::Phi3
        } else if has("<|user|>") && (has("<|endoftext|>") || has("</s>") || has("eos_token")) {
            Self::Zephyr
        } else if has("<start_of_turn>") {
            Self::Gemma
        } else if has("<|start_header_id|>") && has("<|end_header_id|>") {
            Self::Llama3
        } else {
            return None;
        })
    }

    /// Returns the text of a question, up to where the answer starts.
    pub(super) fn question(self, system: Option<&str>, user: &str) -> String {
        let turn = |open: &dyn Fn(&str) -> String, close: &str| {
            let system = system.map_or_else(String::new, |system| format!("{}{system}{close}", open("system")));
            format!("{system}{}{user}{close}{}", open("user"), open("assistant"))
        };
        match self {
            Self::ChatMl => turn(&|role| format!("<|im_start|>{role}\n"), "<|im_end|>\n"),
            Self::Phi4 => turn(&|role| format!("<|im_start|>{role}<|im_sep|>"), "<|im_end|>"),
            Self::Phi3 => turn(&|role| format!("<|{role}|>\n"), "<|end|>\n"),
            Self::Llama3 => turn(&|role| format!("<|start_header_id|>{role}<|end_header_id|>\n\n"), "<|eot_id|>"),
            Self::Zephyr => turn(&|role| format!("<|{role}|>\n"), "</s>\n"),
            Self::Gemma => {
                let before = system.map_or_else(String::new, |system| format!("{system}\n\n"));
                format!("<start_of_turn>user\n{before}{user}<end_of_turn>\n<start_of_turn>model\n")
            }
            Self::Mistral => {
                let before = system.map_or_else(String::new, |system| format!("{system}\n\n"));
                format!("[INST] {before}{user} [/INST]")
            }
            Self::Llama2 => {
                let before = system.map_or_else(String::new, |system| format!("<<SYS>>\n{system}\n<</SYS>>\n\n"));
                format!("[INST] {before}{user} [/INST]")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_recognized_by_their_markers() {
        for (template, wanted) in [
            ("{{'<|im_start|>' + message['role']}}", Some(ChatTemplate::ChatMl)),
            ("<|im_start|>user<|im_sep|>", Some(ChatTemplate::Phi4)),
            ("[INST] <<SYS>>", Some(ChatTemplate::Llama2)),
            ("bos_token + '[INST] '", Some(ChatTemplate::Mistral)),
            ("<|user|> <|end|> <|assistant|>", Some(ChatTemplate::Phi3)),
            ("<start_of_turn>model", Some(ChatTemplate::Gemma)),
            ("<|start_header_id|>' + role + '<|end_header_id|>", Some(ChatTemplate::Llama3)),
            ("USER: {{x}} ASSISTANT:", None),
        ] {
            assert_eq!(ChatTemplate::of(template), wanted, "{template}");
        }
    }

    #[test]
    fn questions_end_where_the_answer_starts() {
        assert_eq!(
            ChatTemplate::ChatMl.question(Some("Be brief."), "Hi"),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
        );
        assert_eq!(
            ChatTemplate::Gemma.question(Some("Be brief."), "Hi"),
            "<start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n<start_of_turn>model\n"
        );
        assert_eq!(ChatTemplate::Mistral.question(None, "Hi"), "[INST] Hi [/INST]");
    }
}
