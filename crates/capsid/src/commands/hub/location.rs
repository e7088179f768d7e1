//! Which hub a command is about.

use crate::commands::variable;
use capsid_hub::config::{LoadedConfig, SettingSources, load};
use capsid_model::{Clock, Result, SystemClock};
use capsid_store::{Store, StoreOptions};
use clap::Args;
use std::path::PathBuf;

/// Which hub a command is about.
#[derive(Debug, Args)]
pub(crate) struct HubLocation {
    /// The folder of the hub's data (default: $CAPSID_HUB_DATA, or `hub` in Capsid's own folder).
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// PostgreSQL instead of SQLite in the data folder, such as postgres://user@host/name.
    #[arg(long, value_name = "URL")]
    database: Option<String>,

    /// A file of settings (default: `hub.toml` in the data folder, if it is there).
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl HubLocation {
    /// The settings of the hub. `more` are settings of the command line, by name.
    pub(crate) fn load(&self, more: Vec<(&'static str, String)>) -> Result<LoadedConfig> {
        let mut settings = more;
        settings.extend(self.database.clone().map(|url| ("database.url", url)));
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
        load(&SettingSources {
            data: self.data()?,
            file: self.config.clone(),
            env: &variable,
            names,
            given: settings,
        })
    }

    /// How to open the hub's database as the hub does.
    pub(crate) fn options(&self) -> Result<StoreOptions> {
        let config = self.load(Vec::new())?.config;
        Ok(StoreOptions::new(config.data, config.database))
    }

    /// Opens the hub's database while a hub may run on it.
    pub(crate) fn open_beside(&self) -> Result<Store> {
        let config = self.load(Vec::new())?.config;
        let trust = config.trust();
        let store =
            Store::open(&StoreOptions::new(config.data, config.database).shared(), SystemClock.now())?;
        store.set_trust(trust);
        Ok(store)
    }

    fn data(&self) -> Result<PathBuf> {
        let named = || variable("CAPSID_HUB_DATA").filter(|path| !path.trim().is_empty()).map(PathBuf::from);
        match self.data.clone().or_else(named) {
            Some(data) => Ok(data),
            None => Ok(capsid_seal::home::data_folder(&variable)?.join("hub")),
        }
    }
}
