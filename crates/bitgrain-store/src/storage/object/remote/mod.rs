//! Objects in cloud storage, through the crate `object_store`.

mod profile;
mod redact;
mod server;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, GetOptions, GetRange, ObjectStore, PutMode, PutOptions, PutPayload, RetryConfig,
    WriteMultipart,
};
use tokio::runtime::Runtime;
use url::Url;

use self::profile::Profile;
use self::redact::Redactor;
use self::server::Server;
use super::{ObjectError, Objects};
use crate::StoreError;

/// Objects of at least this size are uploaded in parts, several at a time.
const LARGE: usize = 32 << 20;
/// Size of these parts.
const PART: usize = 16 << 20;

/// Threads of all requests. The store is synchronous: a caller waits for the answer.
static RUNTIME: LazyLock<Result<Runtime, String>> = LazyLock::new(|| {
    // Without a provider, the first TLS connection would panic. An error means that the program has chosen one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).thread_name("bitgrain-remote").enable_all();
    builder.build().map_err(|error| error.to_string())
});

/// Connects to the storage at an address such as `s3://bucket/prefix`. No request is made yet.
///
/// # Errors
/// Returns [`StoreError::Address`] if the address or the environment is incomplete.
pub(super) fn connect(scheme: &str, address: &str) -> Result<Arc<dyn Objects>, StoreError> {
    let mut secrets = Redactor::of_environment();
    let failed = |what: String| StoreError::Address { address: address.to_owned(), what };
    // Before the client is built, because building it needs the TLS provider.
    if let Err(error) = &*RUNTIME {
        return Err(failed(format!("cannot start threads: {error}")));
    }
    let url = Url::parse(address).map_err(|error| failed(error.to_string()))?;
    let built = build(scheme, &url, &mut secrets);
    let store = built.map_err(|error| failed(secrets.redact(&error.to_string())))?;
    let prefix = Path::from_url_path(url.path()).map_err(|error| failed(error.to_string()))?;
    Ok(Arc::new(RemoteObjects { server: Server::new(secrets), store, prefix }))
}

fn build(scheme: &str, url: &Url, secrets: &mut Redactor) -> object_store::Result<Arc<dyn ObjectStore>> {
    let backoff = BackoffConfig { max_backoff: Duration::from_secs(1), ..BackoffConfig::default() };
    // Few retries here, because the caller retries as well and knows which puts must be read back.
    let retry = RetryConfig { backoff, max_retries: 1, retry_timeout: Duration::from_secs(30) };
    match scheme {
        "s3" | "s3a" => {
            let profile = Profile::of_environment(secrets);
            let builder = profile.apply(AmazonS3Builder::from_env()).with_url(url.as_str()).with_retry(retry);
            Ok(Arc::new(builder.build()?))
        }
        "gs" => Ok(Arc::new(GoogleCloudStorageBuilder::from_env().with_url(url.as_str()).with_retry(retry).build()?)),
        "http" | "https" => {
            let (base, options) = (&url[..url::Position::BeforePath], ClientOptions::new().with_allow_http(true));
            Ok(Arc::new(HttpBuilder::new().with_url(base).with_client_options(options).with_retry(retry).build()?))
        }
        _ => Ok(Arc::new(MicrosoftAzureBuilder::from_env().with_url(url.as_str()).with_retry(retry).build()?)),
    }
}

/// Objects below a prefix of a bucket.
struct RemoteObjects {
    server: Server,
    store: Arc<dyn ObjectStore>,
    prefix: Path,
}

impl RemoteObjects {
    fn path(&self, key: &str) -> Path {
        let parts = self.prefix.parts().chain(key.split('/').filter(|part| !part.is_empty()).map(Into::into));
        parts.collect()
    }

    fn put_with(&self, key: &str, bytes: &[u8], mode: PutMode) -> Result<(), ObjectError> {
        let (store, path, bytes) = (Arc::clone(&self.store), self.path(key), bytes.to_vec());
        let put = async move {
            let options = PutOptions { mode, ..PutOptions::default() };
            store.put_opts(&path, PutPayload::from(bytes), options).await.map(drop)
        };
        self.server.put(put)
    }
}

impl Objects for RemoteObjects {
    fn put_new(&self, key: &str, bytes: &[u8]) -> Result<(), ObjectError> {
        self.put_with(key, bytes, PutMode::Create)
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<(), ObjectError> {
        if bytes.len() < LARGE {
            return self.put_with(key, bytes, PutMode::Overwrite);
        }
        let (store, path, bytes) = (Arc::clone(&self.store), self.path(key), bytes.to_vec());
        let put = async move {
            let upload = store.put_multipart_opts(&path, Default::default()).await?;
            let mut writer = WriteMultipart::new_with_chunk_size(upload, PART);
            writer.put(bytes.into());
            writer.finish().await.map(drop)
        };
        self.server.put(put)
    }

    fn get(&self, key: &str, range: Option<std::ops::Range<u64>>) -> Result<Vec<u8>, ObjectError> {
        let (store, path) = (Arc::clone(&self.store), self.path(key));
        let get = async move {
            let options = GetOptions { range: range.map(GetRange::Bounded), ..GetOptions::default() };
            store.get_opts(&path, options).await?.bytes().await
        };
        self.server.run(get).map(Vec::from)
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, ObjectError> {
        let (store, path, prefix) = (Arc::clone(&self.store), self.path(folder), self.prefix.clone());
        let list = async move {
            let above = (!path.as_ref().is_empty()).then_some(&path);
            store.list(above).try_collect::<Vec<_>>().await
        };
        let found = match self.server.run(list) {
            // A folder of a WebDAV server that does not exist yet.
            Err(ObjectError::NotFound) => return Ok(Vec::new()),
            found => found?,
        };
        let key = |path: &Path| {
            let parts: Vec<_> = path.prefix_match(&prefix)?.map(|part| part.as_ref().to_owned()).collect();
            Some(parts.join("/"))
        };
        Ok(found.iter().filter_map(|object| key(&object.location)).collect())
    }

    fn delete(&self, keys: &[String]) -> Result<(), ObjectError> {
        let paths: Vec<_> = keys.iter().map(|key| Ok(self.path(key))).collect();
        let store = Arc::clone(&self.store);
        let delete = async move {
            let mut answers = store.delete_stream(futures_util::stream::iter(paths).boxed());
            while let Some(answer) = answers.next().await {
                match answer {
                    Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        };
        self.server.run(delete)
    }
}
