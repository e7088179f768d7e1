//! Which system calls a confined program may not use.

use super::sys::{self, SetupResult};
use crate::system::plan::SyscallFilter;
use libc::c_long;
use rustix::io::Errno;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Width, SeccompCmpOp as Is, SeccompCondition,
    SeccompFilter, SeccompRule, apply_filter,
};
use std::collections::BTreeMap;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refused to every confined program: keys, tracing of the kernel, other ways to files, the machine's clock and memory.
const BASE: &[c_long] = &[
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    libc::SYS_mbind,
    libc::SYS_fanotify_init,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

/// Refused to commands, which need neither mounts nor namespaces.
const STRICT: &[c_long] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
];

/// Refused where no namespace keeps them apart.
const SHARED_MEMORY: &[c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semctl,
    libc::SYS_semtimedop,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// They open sockets and files without passing a filter; programs fall back to the usual calls.
const RINGS: &[c_long] = &[libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// Attributes of files: Landlock has no right for them, and programs do without them on many file systems.
const ATTRIBUTES: &[c_long] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
];

/// The same on every architecture, and too new for libc.
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;

const NEW_NAMESPACES: [i32; 8] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWTIME,
];

/// Types of sockets other than TCP's.
const NOT_STREAMS: [i32; 5] =
    [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_RDM, libc::SOCK_SEQPACKET, libc::SOCK_DCCP];

/// Puts the filters on this process and all that it starts.
pub fn apply(filter: SyscallFilter) -> SetupResult<()> {
    for program in programs(filter).map_err(|why| sys::failure("seccomp", Errno::INVAL, why.to_string()))? {
        apply_filter(&program).map_err(|why| sys::failure("seccomp", Errno::INVAL, why.to_string()))?;
    }
    Ok(())
}

fn programs(filter: SyscallFilter) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
    if filter == SyscallFilter::Open {
        return Ok(Vec::new());
    }
    let mut refused = Rules::new();
    let mut absent = Rules::new();
    let mut unsupported = Rules::new();
    refuse(&mut refused, BASE);
    refuse(&mut absent, RINGS);
    // They put characters into the input of a terminal.
    for request in [libc::TIOCSTI, libc::TIOCLINUX] {
        // The kernel looks at 32 bits, and the C libraries have other types for it.
        let request = u64::from(request as u32);
        add(&mut refused, libc::SYS_ioctl, vec![condition(1, Width::Dword, Is::Eq, request)?])?;
    }
    let (strict, network) = match filter {
        SyscallFilter::Open | SyscallFilter::Base => (false, None),
        SyscallFilter::Strict | SyscallFilter::Untrusted => (true, None),
        SyscallFilter::BaseWithoutNamespaces { network, .. } => (false, Some(network)),
        SyscallFilter::StrictWithoutNamespaces { network } => (true, Some(network)),
    };
    if strict {
        refuse(&mut refused, STRICT);
        for flag in NEW_NAMESPACES {
            let flag = u64::from(flag.cast_unsigned());
            add(&mut refused, libc::SYS_clone, vec![condition(0, Width::Qword, Is::MaskedEq(flag), flag)?])?;
        }
        // Its flags are in memory, where no filter sees them; the C library falls back to `clone`.
        refuse(&mut absent, &[libc::SYS_clone3]);
    }
    if network.is_some() {
        refuse(&mut refused, SHARED_MEMORY);
        refuse(&mut unsupported, ATTRIBUTES);
        // Other processes of the user are there by their ids; a process may still change its own.
        for (call, pid) in [(libc::SYS_prlimit64, 0), (libc::SYS_setpriority, 1)] {
            add(&mut refused, call, vec![condition(pid, Width::Dword, Is::Ne, 0)?])?;
        }
    }
    restrict_sockets(&mut refused, filter, network)?;
    let compile = |rules: Rules, errno: Errno| -> Result<BpfProgram, seccompiler::BackendError> {
        let action = SeccompAction::Errno(errno.raw_os_error().cast_unsigned());
        let arch = std::env::consts::ARCH.try_into()?;
        SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?.try_into()
    };
    let mut programs = vec![compile(refused, Errno::PERM)?, compile(absent, Errno::NOSYS)?];
    if !unsupported.is_empty() {
        programs.push(compile(unsupported, Errno::OPNOTSUPP)?);
    }
    programs.extend(other_numbers());
    Ok(programs)
}

/// The families that are left: no namespace isolates the others.
fn restrict_sockets(
    rules: &mut Rules,
    filter: SyscallFilter,
    network: Option<bool>,
) -> Result<(), seccompiler::BackendError> {
    let mut families = vec![libc::AF_INET, libc::AF_INET6];
    if filter != SyscallFilter::Untrusted {
        families.push(libc::AF_NETLINK);
    }
    // Without a mount namespace, the sockets of the machine's services are there by their paths.
    if network.is_none() || matches!(filter, SyscallFilter::BaseWithoutNamespaces { sockets: true, .. }) {
        families.push(libc::AF_UNIX);
    }
    let others = families.iter().map(|&family| condition(0, Width::Dword, Is::Ne, number(family)));
    add(rules, libc::SYS_socket, others.collect::<Result<_, _>>()?)?;
    if network.is_some() {
        // The other protocols show or change the sockets, filters and devices of the whole machine.
        let netlink = condition(0, Width::Dword, Is::Eq, number(libc::AF_NETLINK))?;
        let not_routes = condition(2, Width::Dword, Is::Ne, number(libc::NETLINK_ROUTE))?;
        add(rules, libc::SYS_socket, vec![netlink, not_routes])?;
    }
    if network != Some(false) {
        return Ok(());
    }
    // Landlock refuses TCP alone, so nothing but TCP is left for it to refuse.
    for family in [libc::AF_INET, libc::AF_INET6] {
        let family = condition(0, Width::Dword, Is::Eq, number(family))?;
        for kind in NOT_STREAMS {
            let kind = condition(1, Width::Dword, Is::MaskedEq(0xf), number(kind))?;
            add(rules, libc::SYS_socket, vec![family.clone(), kind])?;
        }
        let not_default = condition(2, Width::Dword, Is::Ne, 0)?;
        let not_tcp = condition(2, Width::Dword, Is::Ne, number(libc::IPPROTO_TCP))?;
        add(rules, libc::SYS_socket, vec![family, not_default, not_tcp])?;
    }
    // A connection without `connect`.
    let fast_open = number(libc::MSG_FASTOPEN);
    for (call, flags) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
        add(rules, call, vec![condition(flags, Width::Dword, Is::MaskedEq(fast_open), fast_open)?])?;
    }
    Ok(())
}

fn number(value: i32) -> u64 {
    u64::from(value.cast_unsigned())
}

fn refuse(rules: &mut Rules, calls: &[c_long]) {
    rules.extend(calls.iter().map(|&call| (call, Vec::new())));
}

fn add(
    rules: &mut Rules,
    call: c_long,
    conditions: Vec<SeccompCondition>,
) -> Result<(), seccompiler::BackendError> {
    rules.entry(call).or_default().push(SeccompRule::new(conditions)?);
    Ok(())
}

fn condition(
    argument: u8,
    width: Width,
    operator: Is,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, width, operator, value)
}

/// The numbers of x32 have bit 30 set and would pass every list above. Calls of i386 are killed by those filters.
#[cfg(target_arch = "x86_64")]
fn other_numbers() -> Option<BpfProgram> {
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_GREATER_OR_EQUAL: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const X32: u32 = 0x4000_0000;
    let instruction = |code, jt, jf, k| seccompiler::sock_filter { code, jt, jf, k };
    Some(vec![
        instruction(LOAD_NUMBER, 0, 0, 0),
        instruction(JUMP_IF_GREATER_OR_EQUAL, 0, 1, X32),
        instruction(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | Errno::NOSYS.raw_os_error().cast_unsigned()),
        instruction(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ])
}

#[cfg(not(target_arch = "x86_64"))]
fn other_numbers() -> Option<BpfProgram> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_compiles() {
        let without = [true, false].map(|network| SyscallFilter::StrictWithoutNamespaces { network });
        let base = SyscallFilter::BaseWithoutNamespaces { network: true, sockets: false };
        let filters = [SyscallFilter::Base, SyscallFilter::Strict, SyscallFilter::Untrusted, base];
        for filter in filters.into_iter().chain(without) {
            assert!(programs(filter).unwrap().len() >= 2, "{filter:?}");
        }
        assert_eq!(programs(SyscallFilter::Open).unwrap().len(), 0);
    }

    #[test]
    fn no_call_is_in_two_lists() {
        let mut all = [BASE, STRICT, SHARED_MEMORY, ATTRIBUTES, RINGS].concat();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
