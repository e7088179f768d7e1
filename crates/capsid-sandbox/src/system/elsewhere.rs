//! What stands in for the sandbox of Linux on other systems: nothing is started there, and whoever asks is told why.

pub mod idmap {
    /// Ids are only replaced where programs are confined.
    pub fn superuser_replacement() -> Option<(u32, u32)> {
        None
    }
}

pub mod spawn {
    use crate::system::plan::{LaunchMessage, LaunchPlan};
    use std::io;
    use std::process::{Child, Stdio};
    use std::time::Instant;

    /// There is none.
    pub enum NoLaunch {}

    impl NoLaunch {
        pub fn child(&mut self) -> &mut Child {
            match *self {}
        }

        pub fn wait_until(&mut self, _deadline: Instant) -> bool {
            match *self {}
        }

        pub fn ask_to_end(&mut self) {
            match *self {}
        }

        pub fn finish(&mut self) -> io::Result<Vec<LaunchMessage>> {
            match *self {}
        }
    }

    pub use NoLaunch as Launched;

    /// Refuses.
    pub fn launch(_plan: &LaunchPlan, _in: Stdio, _out: Stdio, _err: Stdio) -> io::Result<NoLaunch> {
        const WHY: &str =
            "agents and validation commands run on Linux only: use a Linux machine, a virtual one or WSL";
        Err(io::Error::new(io::ErrorKind::Unsupported, WHY))
    }
}
