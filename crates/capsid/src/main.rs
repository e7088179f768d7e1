//! The `capsid` program.

fn main() -> std::process::ExitCode {
    capsid::main()
}
