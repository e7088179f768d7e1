//! What processes cost: the CPU time and the bytes written of a hub, of its PostgreSQL and of the client.

use super::Server;
use super::postgres::Database;
use crate::Result;

/// Ticks of CPU time in a second, as Linux counts them on every machine.
const TICKS: f64 = 100.0;

/// What was used so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    /// Seconds of CPU time.
    pub hub: f64,
    pub server: f64,
    pub client: f64,
    /// What the hub gave to the disk, in bytes.
    pub written: f64,
    /// What the server wrote to its log of changes, in bytes.
    pub wal: f64,
    /// How many transactions the server committed.
    pub commits: f64,
}

impl Cost {
    /// What a hub, and its database server if it has one, used until now.
    pub fn now(hub: &Server, database: Option<&Database>) -> Result<Self> {
        let mut cost = Self {
            hub: cpu_seconds(hub.id())?,
            client: cpu_seconds(std::process::id())?,
            written: written_bytes(hub.id())?,
            ..Self::default()
        };
        if let Some(database) = database {
            cost.server = server_cpu_seconds(database.main_process()?)?;
            (cost.wal, cost.commits) = database.wal_and_commits()?;
        }
        Ok(cost)
    }

    /// The mean of several.
    pub fn mean(costs: &[Self]) -> Self {
        let mean = |part: fn(&Self) -> f64| costs.iter().map(part).sum::<f64>() / costs.len() as f64;
        Self {
            hub: mean(|cost| cost.hub),
            server: mean(|cost| cost.server),
            client: mean(|cost| cost.client),
            written: mean(|cost| cost.written),
            wal: mean(|cost| cost.wal),
            commits: mean(|cost| cost.commits),
        }
    }

    /// What was used since then, for each of so many.
    pub fn since(&self, before: &Self, count: usize) -> Self {
        let each = |now: f64, then: f64| (now - then) / count as f64;
        Self {
            hub: each(self.hub, before.hub),
            server: each(self.server, before.server),
            client: each(self.client, before.client),
            written: each(self.written, before.written),
            wal: each(self.wal, before.wal),
            commits: each(self.commits, before.commits),
        }
    }
}

/// The fields of `/proc/PID/stat` behind the name, which may have spaces and parentheses.
fn stat(pid: u32) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, fields) = text.rsplit_once(')').ok_or("`stat` of a process has no name")?;
    Ok(fields.split_whitespace().map(str::to_owned).collect())
}

fn ticks(fields: &[String], places: std::ops::Range<usize>) -> f64 {
    fields[places].iter().filter_map(|field| field.parse::<f64>().ok()).sum()
}

/// CPU time of a process and its threads.
fn cpu_seconds(pid: u32) -> Result<f64> {
    Ok(ticks(&stat(pid)?, 11..13) / TICKS)
}

/// CPU time of the server's processes: those that ended are counted by the first one.
fn server_cpu_seconds(main: u32) -> Result<f64> {
    let mut sum = ticks(&stat(main)?, 11..15);
    for entry in std::fs::read_dir("/proc")? {
        let Ok(pid) = entry?.file_name().to_string_lossy().parse::<u32>() else { continue };
        // A process may end while this reads.
        let Ok(fields) = stat(pid) else { continue };
        if fields[1] == main.to_string() {
            sum += ticks(&fields, 11..13);
        }
    }
    Ok(sum / TICKS)
}

fn written_bytes(pid: u32) -> Result<f64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/io"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    Ok(line.ok_or("the system does not tell what a process wrote")?.parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_this_process_grows_with_what_it_does() {
        let before = cpu_seconds(std::process::id()).unwrap();
        let began = std::time::Instant::now();
        let mut sum = 0_u64;
        while began.elapsed().as_millis() < 2_000 && cpu_seconds(std::process::id()).unwrap() < before + 0.05
        {
            sum = (0..100_000).fold(sum, |sum, n| std::hint::black_box(sum ^ n));
        }
        assert!(cpu_seconds(std::process::id()).unwrap() >= before + 0.05);
    }
}
