//! Profiles of the AWS command line: `~/.aws/credentials` and `~/.aws/config`, where the environment sets nothing.

use std::collections::HashMap;
use std::path::PathBuf;
use std::{env, fs};

use object_store::ClientConfigKey;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};

use super::redact::Redactor;

/// Settings of one profile, by name.
#[derive(Debug, Default)]
pub(super) struct Profile(HashMap<String, String>);

impl Profile {
    /// Reads the profile that `AWS_PROFILE` names, or `default`. Missing files are not an error: credentials may come
    /// from the environment or from the machine.
    pub(super) fn of_environment(secrets: &mut Redactor) -> Self {
        let name = env::var("AWS_PROFILE").unwrap_or_else(|_| "default".into());
        let home = env::home_dir().unwrap_or_default();
        let path = |variable: &str, file: &str| {
            env::var_os(variable).map_or_else(|| home.join(".aws").join(file), PathBuf::from)
        };
        let mut profile = Self::default();
        let (config, credentials) =
            (path("AWS_CONFIG_FILE", "config"), path("AWS_SHARED_CREDENTIALS_FILE", "credentials"));
        for file in [config, credentials] {
            if let Ok(text) = fs::read_to_string(file) {
                profile.read(&text, &name);
            }
        }
        for key in ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"] {
            profile.0.get(key).into_iter().for_each(|secret| secrets.add(secret));
        }
        profile
    }

    /// Adds the settings of section `name`, or `profile name`.
    fn read(&mut self, text: &str, name: &str) {
        let mut inside = false;
        for line in text.lines().map(str::trim) {
            if let Some(section) = line.strip_prefix('[').and_then(|line| line.split(']').next()) {
                let section = section.trim();
                inside = section == name || section.strip_prefix("profile ").map(str::trim) == Some(name);
            } else if inside
                && !line.starts_with(['#', ';'])
                && let Some((key, value)) = line.split_once('=')
            {
                self.0.insert(key.trim().to_ascii_lowercase(), value.trim().to_owned());
            }
        }
    }

    /// Adds the settings that the environment does not set.
    pub(super) fn apply(&self, mut builder: AmazonS3Builder) -> AmazonS3Builder {
        let unset = |names: &[&str]| names.iter().all(|name| env::var_os(name).is_none());
        let mut add = |key: AmazonS3ConfigKey, name: &str| {
            if let Some(value) = self.0.get(name) {
                builder = std::mem::take(&mut builder).with_config(key, value);
            }
        };
        // Keys belong together, so they come from one source.
        if unset(&["AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_SKIP_SIGNATURE"]) {
            add(AmazonS3ConfigKey::AccessKeyId, "aws_access_key_id");
            add(AmazonS3ConfigKey::SecretAccessKey, "aws_secret_access_key");
            add(AmazonS3ConfigKey::Token, "aws_session_token");
        }
        if unset(&["AWS_REGION", "AWS_DEFAULT_REGION"]) {
            add(AmazonS3ConfigKey::Region, "region");
        }
        let endpoints = ["AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"];
        if unset(&endpoints) {
            add(AmazonS3ConfigKey::Endpoint, "endpoint_url");
        }
        // Without TLS only to this machine, unless AWS_ALLOW_HTTP says otherwise: keys do not travel in the open.
        let set = endpoints.iter().find_map(|name| env::var(name).ok()).or_else(|| self.0.get("endpoint_url").cloned());
        let local = ["http://127.0.0.1", "http://localhost", "http://[::1]"];
        if set.is_some_and(|endpoint| local.iter().any(|start| endpoint.starts_with(start))) {
            builder = builder.with_config(AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp), "true");
        }
        builder
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_has_its_own_section_of_both_files() {
        let mut profile = Profile::default();
        profile.read("[default]\nregion = a\n[profile work]\n# region = c\nRegion = b\n", "work");
        profile.read("[default]\naws_access_key_id=1\n[work]\naws_access_key_id = 2 \nbroken line\n[", "work");
        let get = |key: &str| profile.0.get(key).map(String::as_str);
        assert_eq!((get("region"), get("aws_access_key_id"), profile.0.len()), (Some("b"), Some("2"), 2));
    }
}
