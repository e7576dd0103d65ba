//! Requests on the threads of the HTTP client, and the meaning of their errors.

use std::future::Future;
use std::sync::mpsc;

use super::super::ObjectError;
use super::RUNTIME;
use super::redact::Redactor;

/// Runs requests and converts their errors.
pub(super) struct Server {
    secrets: Redactor,
    /// Process that opened the store: a forked child does not have its threads.
    process: u32,
}

impl Server {
    pub(super) fn new(secrets: Redactor) -> Self {
        Self { secrets, process: std::process::id() }
    }

    /// Runs a request and waits for its answer. Works inside and outside of asynchronous programs, because the request
    /// runs on separate threads.
    pub(super) fn run<T: Send + 'static>(
        &self,
        request: impl Future<Output = object_store::Result<T>> + Send + 'static,
    ) -> Result<T, ObjectError> {
        if std::process::id() != self.process {
            let what = "the store was opened before the process was forked; open it again in the child process";
            return Err(ObjectError::Rejected(what.into()));
        }
        let runtime = RUNTIME.as_ref().map_err(|error| ObjectError::Rejected(error.clone()))?;
        let (sender, answer) = mpsc::sync_channel(1);
        runtime.spawn(async move { drop(sender.send(request.await)) });
        let answer = answer.recv().map_err(|_| ObjectError::Failed("the request was canceled".into()))?;
        answer.map_err(|error| self.convert(&error))
    }

    /// Runs a put. The bucket is missing if the server does not find the key.
    pub(super) fn put(
        &self,
        request: impl Future<Output = object_store::Result<()>> + Send + 'static,
    ) -> Result<(), ObjectError> {
        self.run(request).map_err(|error| match error {
            ObjectError::NotFound => ObjectError::Rejected("the bucket does not exist; create it first".into()),
            error => error,
        })
    }

    fn convert(&self, error: &object_store::Error) -> ObjectError {
        use object_store::Error;
        let text = self.secrets.redact(&error.to_string());
        match error {
            Error::NotFound { .. } => ObjectError::NotFound,
            Error::AlreadyExists { .. } | Error::Precondition { .. } => ObjectError::AlreadyExists,
            Error::NotImplemented { .. } | Error::NotSupported { .. } => ObjectError::Unsupported(text),
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } | Error::InvalidPath { .. } => {
                ObjectError::Rejected(text)
            }
            _ if is_final(&text) => ObjectError::Rejected(text),
            _ => ObjectError::Failed(text),
        }
    }
}

/// Returns whether a message has an HTTP status that a retry does not change: 4xx except timeouts, conflicts and
/// throttling.
fn is_final(text: &str) -> bool {
    let status = text.split_once("status code: ").and_then(|(_, rest)| rest.get(..3)?.parse::<u16>().ok());
    status.is_some_and(|status| (400..500).contains(&status) && ![408, 409, 425, 429].contains(&status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_temporary_statuses_are_retried() {
        for (text, last) in [
            ("Server returned non-2xx status code: 400 Bad Request: ", true),
            ("Server returned non-2xx status code: 501 Not Implemented: ", false),
            ("Server returned non-2xx status code: 429 Too Many Requests: ", false),
            ("Server returned non-2xx status code: 503 Slow Down: ", false),
            ("connection refused", false),
        ] {
            assert_eq!(is_final(text), last, "{text}");
        }
    }
}
