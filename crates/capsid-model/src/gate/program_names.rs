//! Programs that run code or other programs, by name.

/// Interpreters, by name without version: `python3.12` is `python`.
const INTERPRETERS: &[&str] = &[
    "ash",
    "bash",
    "csh",
    "dash",
    "elvish",
    "fish",
    "ipython",
    "jruby",
    "julia",
    "ksh",
    "lua",
    "luajit",
    "mksh",
    "node",
    "nodejs",
    "osascript",
    "perl",
    "php",
    "powershell",
    "pwsh",
    "pypy",
    "python",
    "pythonw",
    "R",
    "rbash",
    "Rscript",
    "ruby",
    "sh",
    "tclsh",
    "tcsh",
    "zsh",
];

/// Interpreters that are npm packages or come with a subcommand in front of the script.
const NPM_INTERPRETERS: &[&str] = &[
    "babel-node",
    "bun",
    "coffee",
    "deno",
    "esno",
    "jiti",
    "swc-node",
    "ts-node",
    "ts-node-esm",
    "tsx",
    "vite-node",
];

/// Programs whose arguments are another command.
const LAUNCHERS: &[&str] = &[
    "awk",
    "bunx",
    "busybox",
    "c8",
    "chokidar",
    "chroot",
    "cmd",
    "command",
    "concurrently",
    "corepack",
    "cross-env",
    "cross-env-shell",
    "doas",
    "docker",
    "dotenv",
    "dotenvx",
    "entr",
    "env",
    "env-cmd",
    "eval",
    "exec",
    "expect",
    "find",
    "flock",
    "gawk",
    "lerna",
    "mawk",
    "nice",
    "nodemon",
    "nohup",
    "npm-run-all",
    "npm-run-all2",
    "nyc",
    "nx",
    "onchange",
    "parallel",
    "pnpm",
    "pnpx",
    "podman",
    "run-p",
    "run-s",
    "script",
    "sed",
    "setsid",
    "shx",
    "ssh",
    "start-server-and-test",
    "start-test",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "time",
    "timeout",
    "turbo",
    "unshare",
    "wait-on",
    "watch",
    "wireit",
    "xargs",
    "yarn",
    "zx",
];

/// Whether a program reads code from its arguments or a script.
pub fn is_interpreter(program: &str) -> bool {
    INTERPRETERS.contains(&family(program)) || is_npm_interpreter(program)
}

/// Whether an interpreter is usually installed as an npm package.
pub fn is_npm_interpreter(program: &str) -> bool {
    NPM_INTERPRETERS.contains(&family(program))
}

/// Whether a program starts the command that its arguments name.
pub fn is_launcher(program: &str) -> bool {
    LAUNCHERS.contains(&family(program))
}

/// A program's name without folder, `.exe` and version.
pub fn family(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    // Some names end in a digit themselves.
    if LAUNCHERS.contains(&name) {
        return name;
    }
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-')
}
