//! A hub for the length of a story: inside this process, on a free port, with its data in a scratch folder.

use capsid_hub::config::{HubConfig, SettingSources, load};
use capsid_hub::random::SystemRandom;
use capsid_hub::run::serve_hub;
use capsid_hub::state::Hub;
use capsid_model::{Clock, Code, Problem, Result, SystemClock};
use capsid_store::Store;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// A hub that runs until it is dropped.
pub(super) struct DemoHub {
    pub(super) url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl DemoHub {
    /// Starts one that looks at its candidates every second, so that nobody has to wait for long.
    pub(super) fn start(data: &Path) -> Result<Self> {
        let mut config = config(data, "127.0.0.1:0")?;
        let listener = TcpListener::bind(config.listen).map_err(|error| not_started(&error))?;
        listener.set_nonblocking(true).map_err(|error| not_started(&error))?;
        config.listen = listener.local_addr().map_err(|error| not_started(&error))?;
        let url = config.base_url();
        let options = capsid_store::StoreOptions::new(&config.data, None);
        let store = Store::open(&options, SystemClock.now())?;
        let hub = Hub::new(store, config, Arc::new(SystemClock), Arc::new(SystemRandom))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| not_started(&error))?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                // Whatever ends it, the story goes on and reports that the hub is away.
                let _ended = serve_hub(hub, listener, async { drop(stopped.await) }).await;
            });
        });
        Ok(Self { url, stop: Some(stop), thread: Some(thread) })
    }
}

/// The settings of a story's hub: only what it needs. Those of the user's own hub have no say here.
pub(crate) fn config(data: &Path, listen: &str) -> Result<HubConfig> {
    let settings = vec![("server.listen", listen.to_owned()), ("promotion.interval_seconds", "1".to_owned())];
    let source = SettingSources {
        data: data.to_owned(),
        file: None,
        env: &|_| None,
        names: Vec::new(),
        given: settings,
    };
    Ok(load(&source)?.config)
}

impl Drop for DemoHub {
    fn drop(&mut self) {
        let _it_may_have_ended = self.stop.take().map(|stop| stop.send(()));
        let _joined = self.thread.take().map(JoinHandle::join);
    }
}

fn not_started(error: &std::io::Error) -> Problem {
    Problem::new(Code::IoError, format!("The story's hub could not be started: {error}."))
}
