//! The kernel's own interfaces: what a confined command asks of them is refused, and an unconfined one gets it.

use capsid_sandbox::{Confinement, Isolation, ProcessLimits, ValidationProfile, run_validation_at};
use capsid_testkit::test_repo::TestRepo;

/// One attack in Perl, which can call the kernel by number. It prints `REACHED` if it succeeded.
struct Attack {
    name: &'static str,
    code: &'static str,
    /// Whether the same code reaches its target when it is not confined, by whom.
    control: Control,
}

#[derive(PartialEq, Clone, Copy)]
enum Control {
    Anybody,
    RootOnly,
    /// The target may be missing on this machine, so only the answer of the filter is checked.
    Unknown,
}

/// Numbers of x86-64. `call` makes a call and says whether it got past the filter: EPERM (1) and ENOSYS (38) are its answers.
const PRELUDE: &str = "use strict; sub call { my ($n, @a) = @_; my $r = syscall($n, @a); \
    my $e = $!+0; print 'REACHED' if $r >= 0 || ($e != 1 && $e != 38); print qq( $r $e\\n); }\n";

const ATTACKS: &[Attack] = &[
    Attack { name: "keyctl", code: "call(250, 0, -3, 0)", control: Control::Anybody },
    Attack {
        name: "add_key",
        code: "call(248, 'user', 'capsid-test', 'x', 1, -3)",
        control: Control::Anybody,
    },
    Attack {
        name: "request_key",
        code: "call(249, 'user', 'capsid-none', 0, -3)",
        control: Control::Anybody,
    },
    Attack { name: "bpf", code: "call(321, 0, 0, 0)", control: Control::Unknown },
    Attack { name: "perf_event_open", code: "call(298, 0, 0, -1, -1, 0)", control: Control::Anybody },
    Attack { name: "userfaultfd", code: "call(323, 1)", control: Control::Unknown },
    Attack { name: "io_uring_setup", code: "call(425, 1, 0)", control: Control::Unknown },
    Attack { name: "open_by_handle_at", code: "call(304, -100, 0, 0)", control: Control::Unknown },
    Attack { name: "vsock", code: "call(41, 40, 1, 0)", control: Control::Unknown },
    Attack { name: "packet socket", code: "call(41, 17, 3, 0)", control: Control::RootOnly },
    Attack { name: "kernel crypto socket", code: "call(41, 38, 5, 0)", control: Control::Unknown },
    Attack { name: "unshare user", code: "call(272, 0x10000000)", control: Control::Anybody },
    Attack { name: "unshare mounts", code: "call(272, 0x00020000)", control: Control::RootOnly },
    Attack {
        name: "clone user",
        code: "my $r = syscall(56, 0x10000011, 0, 0, 0, 0); exit 0 if $r == 0; my $e = $!+0; \
        print 'REACHED' if $r > 0; print qq( $r $e\\n)",
        control: Control::Anybody,
    },
    Attack { name: "clone3", code: "call(435, 0, 0)", control: Control::Anybody },
    Attack {
        name: "setns",
        code: "open(my $f, '<', '/proc/self/ns/uts') or die; call(308, fileno($f), 0)",
        control: Control::RootOnly,
    },
    Attack { name: "mount", code: "call(165, 'none', '/tmp', 'tmpfs', 0, 0)", control: Control::Unknown },
    Attack { name: "umount", code: "call(166, '/nowhere', 2)", control: Control::RootOnly },
    Attack { name: "chroot", code: "call(161, '/')", control: Control::RootOnly },
    Attack { name: "fsopen", code: "call(430, 'tmpfs', 0)", control: Control::RootOnly },
    Attack {
        name: "terminal input",
        code: "open(my $t, '<', '/dev/null'); my $c = 'x'; call(16, fileno($t), 0x5412, $c)",
        control: Control::Anybody,
    },
    Attack {
        name: "terminal input, high bits",
        code: "open(my $t, '<', '/dev/null'); my $c = 'x'; call(16, fileno($t), 0x100005412, $c)",
        control: Control::Anybody,
    },
    Attack {
        name: "terminal console",
        code: "open(my $t, '<', '/dev/null'); my $c = 'x'; call(16, fileno($t), 0x541c, $c)",
        control: Control::Anybody,
    },
    Attack { name: "x32 getpid", code: "call(0x40000000 + 39)", control: Control::Unknown },
    Attack { name: "kernel log", code: "call(103, 10, 0, 0)", control: Control::Unknown },
    Attack { name: "clock", code: "call(227, 99, 0)", control: Control::Anybody },
    Attack { name: "module", code: "call(176, 'capsid_no_such_module', 0)", control: Control::Unknown },
    Attack { name: "swap", code: "call(168, '/nowhere')", control: Control::RootOnly },
];

fn run(level: Isolation, profile: ValidationProfile, code: &str) -> String {
    let repo = TestRepo::new();
    repo.write("attack.pl", format!("{PRELUDE}{code};\nprint qq(ran\\n);"));
    let argv = ["perl", "attack.pl"].map(str::to_owned);
    let confinement = Confinement { profile, ..Confinement::to(repo.path()) };
    let finished = run_validation_at(level, &argv, &confinement, &ProcessLimits::default()).unwrap();
    format!("{}{}{:?}", finished.stdout, finished.stderr, finished.end)
}

#[test]
#[cfg(target_arch = "x86_64")]
fn calls_that_no_command_needs_are_refused() {
    let root = rustix::process::geteuid().is_root();
    let mut controls = 0;
    for attack in ATTACKS {
        for profile in [ValidationProfile::Validation, ValidationProfile::Untrusted] {
            let confined = run(Isolation::Namespaces, profile, attack.code);
            assert!(confined.contains("ran\n"), "{}: {confined}", attack.name);
            assert!(!confined.contains("REACHED"), "{}: {confined}", attack.name);
        }
        let landlock = run(Isolation::Landlock, ValidationProfile::Validation, attack.code);
        assert!(!landlock.contains("REACHED"), "{}: {landlock}", attack.name);
        if attack.control == Control::Anybody || (attack.control == Control::RootOnly && root) {
            let control = run(Isolation::None, ValidationProfile::Validation, attack.code);
            assert!(control.contains("REACHED"), "{}: {control}", attack.name);
            controls += 1;
        }
    }
    println!("{} attacks, {controls} with a control", ATTACKS.len());
}

#[test]
fn sockets_that_landlock_has_no_rule_for_are_refused_by_number() {
    let attacks = [
        ("udp", "call(41, 2, 2, 0)"),
        ("udp6", "call(41, 10, 2, 0)"),
        ("unix", "call(41, 1, 1, 0)"),
        ("mptcp", "call(41, 2, 1, 262)"),
        ("shm", "call(29, 0, 4096, 0x3b6)"),
        ("semaphore", "call(64, 0, 1, 0x3b6)"),
        ("queue", "call(68, 0, 0x3b6)"),
    ];
    for (name, code) in attacks {
        let confined = run(Isolation::Landlock, ValidationProfile::Validation, code);
        assert!(confined.contains("ran") && !confined.contains("REACHED"), "{name}: {confined}");
        let control = run(Isolation::None, ValidationProfile::Validation, code);
        assert!(control.contains("REACHED"), "{name}: {control}");
    }
    let pair =
        run(Isolation::Landlock, ValidationProfile::Validation, "my $p = 'x' x 8; call(53, 1, 1, 0, $p)");
    assert!(pair.contains("REACHED"), "a pair of sockets leads nowhere and is allowed: {pair}");
}

#[test]
fn a_stranger_has_no_netlink_and_sees_no_users() {
    let code = "call(41, 16, 3, 0); open(my $f, '<', '/etc/passwd'); my @l = <$f>; print scalar @l";
    let stranger = run(Isolation::Namespaces, ValidationProfile::Untrusted, code);
    assert!(!stranger.contains("REACHED") && stranger.contains("2ran"), "{stranger}");
    assert!(run(Isolation::Namespaces, ValidationProfile::Validation, code).contains("REACHED"));
}

#[test]
fn the_kernels_files_are_masked() {
    let code = "for my $p ('/proc/sys/kernel/hostname', '/proc/sys/vm/drop_caches', '/proc/sysrq-trigger', \
                '/proc/sys/kernel/core_pattern', '/proc/irq/default_smp_affinity') \
                { print qq(REACHED $p\\n) if open(my $f, '+<', $p) } \
                for my $p ('/proc/keys', '/proc/key-users', '/proc/kallsyms', '/proc/timer_list') \
                { my $f; open($f, '<', $p) and <$f> and print qq(REACHED $p\\n) } \
                for my $p ('/dev/vda', '/dev/sda', '/dev/mem', '/dev/kmsg', '/sys/kernel', '/proc/1/root/etc') \
                { print qq(REACHED $p\\n) if -e $p }";
    let confined = run(Isolation::Namespaces, ValidationProfile::Validation, code);
    assert!(confined.contains("ran") && !confined.contains("REACHED"), "{confined}");
    let control = run(Isolation::None, ValidationProfile::Validation, code);
    assert!(control.contains("REACHED /proc/keys"), "{control}");
}
