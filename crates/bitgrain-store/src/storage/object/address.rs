//! Addresses of remote stores: `s3://bucket/prefix` and others.

use std::path::Path;
use std::sync::Arc;

use super::{MemoryObjects, Objects, RemoteConfig, Writers};
use crate::StoreError;

/// Schemes that need the feature `remote`.
const REMOTE: [&str; 9] = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "http", "https"];

/// Address of a remote store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    scheme: String,
    /// Address without its query.
    base: String,
    writers: Option<Writers>,
}

impl Address {
    /// Parses an address; returns `None` for paths of local folders.
    ///
    /// # Errors
    /// Returns [`StoreError::Address`] for an unknown scheme or option, or for credentials in the address.
    pub(crate) fn parse(path: &Path) -> Result<Option<Self>, StoreError> {
        let Some((scheme, rest)) = path.to_str().and_then(|text| text.split_once("://")) else { return Ok(None) };
        // A single letter is a drive of Windows.
        let letters = |scheme: &str| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        if scheme.len() < 2 || !letters(scheme) {
            return Ok(None);
        }
        let scheme = scheme.to_ascii_lowercase();
        let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
        let (host, prefix) = place.split_once('/').unwrap_or((place, ""));
        // Text before an `@` may be a password, so messages do not repeat it.
        let public = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let shown = format!("{scheme}://{public}{}{prefix}", if prefix.is_empty() { "" } else { "/" });
        let invalid = |what: &str| StoreError::Address { address: shown.clone(), what: what.to_owned() };
        if scheme != "memory" && !REMOTE.contains(&scheme.as_str()) {
            return Err(invalid("unknown scheme; use s3, gs, az, http, https or memory"));
        }
        // `container@account` is part of addresses of Azure.
        let is_azure = scheme.starts_with("ab") || scheme.starts_with("az");
        if host.rsplit_once('@').is_some_and(|(user, _)| !is_azure || user.contains(':')) {
            return Err(invalid("credentials in an address end up in logs; set them in the environment"));
        }
        if host.is_empty() {
            return Err(invalid("the name of the bucket is missing"));
        }
        let mut writers = None;
        for pair in query.into_iter().flat_map(|query| query.split('&')) {
            writers = Some(match pair {
                "writers=single" => Writers::Single,
                "writers=fenced" => Writers::Fenced,
                _ => return Err(invalid("unknown option; the only one is `writers=single`")),
            });
        }
        let base = format!("{scheme}://{}", place.trim_end_matches('/'));
        Ok(Some(Self { scheme, base, writers }))
    }

    /// Returns the settings with the options of the address.
    pub(crate) fn apply(&self, config: &RemoteConfig) -> RemoteConfig {
        RemoteConfig { writers: self.writers.unwrap_or(config.writers), ..config.clone() }
    }

    /// Returns the objects at the address.
    ///
    /// # Errors
    /// Returns [`StoreError::NeedsRemote`] without the feature `remote`, or [`StoreError::Address`].
    pub(crate) fn connect(&self) -> Result<Arc<dyn Objects>, StoreError> {
        if self.scheme == "memory" {
            return Ok(Arc::new(MemoryObjects::named(&self.base)));
        }
        #[cfg(feature = "remote")]
        return super::remote::connect(&self.scheme, &self.base);
        #[cfg(not(feature = "remote"))]
        Err(StoreError::NeedsRemote { scheme: self.scheme.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Option<Address>, StoreError> {
        Address::parse(Path::new(text))
    }

    #[test]
    fn paths_are_local_and_addresses_are_not() {
        for local in ["vectors.store", "/data/s3/x", "C://data", "a:b//c", "../s3:/x", "://x"] {
            assert_eq!(parse(local).expect("a path"), None, "{local}");
        }
        let address = parse("S3://bucket/a/b/?writers=single").expect("an address").expect("not a path");
        assert_eq!((&*address.scheme, &*address.base), ("s3", "s3://bucket/a/b"));
        assert_eq!(address.apply(&RemoteConfig::default()).writers, Writers::Single);
        assert!(parse("abfss://container@account.dfs.core.windows.net/x").expect("an address").is_some());
    }

    #[test]
    fn bad_addresses_are_errors_that_do_not_repeat_secrets() {
        let bad = [
            "ftp://host/x",
            "s3://",
            "s3:///prefix",
            "s3://key:hunter2@bucket/x",
            "https://hunter2@host/x",
            "abfs://key:hunter2@account/x",
            "s3://bucket/x?sig=hunter2",
            "az://container/x?writers=single&sig=hunter2",
        ];
        for address in bad {
            let error = parse(address).expect_err(address);
            assert!(matches!(error, StoreError::Address { .. }), "{address}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
        }
    }

    #[cfg(not(feature = "remote"))]
    #[test]
    fn a_build_without_remote_stores_names_the_feature() {
        let address = parse("s3://bucket/x").expect("an address").expect("not a path");
        let error = address.connect().err().expect("not in this build").to_string();
        assert!(error.contains("`s3://`") && error.contains("cargo feature `remote`"), "{error}");
    }
}
