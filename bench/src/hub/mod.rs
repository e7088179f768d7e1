//! A hub as its users run it: the built program, in a process of its own, on a port of its own.

pub mod bundles;
pub mod cost;
pub mod load;
pub mod postgres;

use crate::Result;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A process that serves HTTP, and ends with this value.
pub struct Server {
    child: Child,
    /// Its address and port.
    pub address: String,
}

impl Server {
    /// A hub with its data in a folder, or in PostgreSQL. Limits are out of the way and the log is quiet.
    pub fn hub(data: &Path, database: Option<&str>) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?.with_file_name("capsid"));
        command.args(["hub", "serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
        if let Some(url) = database {
            command.args(["--database", url]);
        }
        for limit in ["HELLO", "PUBLISH", "MESSAGES", "READ", "OTHER", "GRAPH_QUERY", "GRAPH_INGEST"] {
            command.env(format!("CAPSID_HUB_LIMITS_{limit}"), "100000000/minute");
        }
        command.env("CAPSID_HUB_PROMOTION_INTERVAL_SECONDS", "0").env("CAPSID_LOG", "error");
        Self::start(command)
    }

    /// The floor: a bare route that answers everything with the bytes of a file.
    pub fn bare(answer: &Path) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(crate::hub_reads::BARE).arg(answer);
        Self::start(command)
    }

    fn start(mut command: Command) -> Result<Self> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()?;
        let stdout = child.stdout.take().ok_or("the server has no stdout")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        match line.trim().strip_prefix("listening on http://") {
            Some(address) => Ok(Self { address: address.to_owned(), child }),
            None => {
                child.kill()?;
                Err(format!("the server did not begin to listen: {line}").into())
            }
        }
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How many assets its index has still to follow, and for how many seconds the oldest of them has waited.
    pub fn index_lag(&self) -> Result<(f64, f64)> {
        let text = String::from_utf8(load::ask(&self.address, &bundles::get("/metrics"))?)?;
        let value = |name: &str| -> Result<f64> {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            Ok(line.ok_or_else(|| format!("the hub does not tell `{name}`"))?.parse()?)
        };
        Ok((value("capsid_hub_index_lag_assets")?, value("capsid_hub_index_lag_seconds")?))
    }

    /// Waits until nothing of what was published has still to be followed.
    pub fn wait_for_index(&self) -> Result<()> {
        let began = Instant::now();
        while self.index_lag()?.0 > 0.0 {
            if began.elapsed() > Duration::from_secs(600) {
                return Err("the hub's index did not come to an end in ten minutes".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The memory it has now, in megabytes.
    pub fn resident(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
        Ok(kilobytes.ok_or("the system does not tell the memory of a process")? / 1024.0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _ended = self.child.wait();
    }
}
