//! The `capsid` program.

/// The allocator of musl takes many times as long for small pieces, above all with threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    capsid::main()
}
