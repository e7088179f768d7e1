//! The units of systemd.

use crate::layout::SignerLayout;

/// The account that the service runs as.
pub const ACCOUNT: &str = "capsid-signer";
/// The unit of the service.
pub const SERVICE_UNIT: &str = "capsid-signer.service";
/// The unit of its socket.
pub const SOCKET_UNIT: &str = "capsid-signer.socket";

/// The service. It gets the socket as its standard input, so it can neither make nor replace it.
pub fn service_unit(layout: &SignerLayout) -> String {
    format!(
        "[Unit]
Description=Signing service of Capsid
Documentation=man:systemd.exec(5)
Requires={SOCKET_UNIT}
After={SOCKET_UNIT}

[Service]
User={ACCOUNT}
Group={ACCOUNT}
ExecStart={} {}
StandardInput=socket
StandardOutput=journal
StandardError=journal
StateDirectory=capsid-signer
StateDirectoryMode=0711
UMask=0077
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
ProtectProc=invisible
PrivateTmp=yes
PrivateDevices=yes
PrivateNetwork=yes
RestrictAddressFamilies=AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
CapabilityBoundingSet=
SystemCallArchitectures=native
SystemCallFilter=@system-service
LimitCORE=0
Restart=always

[Install]
WantedBy=multi-user.target
Also={SOCKET_UNIT}
",
        layout.program.display(),
        layout.serve_words()
    )
}

/// Its socket. Everybody may connect: the kernel says who does.
pub fn socket_unit(layout: &SignerLayout) -> String {
    format!(
        "[Unit]
Description=Socket of the signing service of Capsid

[Socket]
ListenStream={}
SocketMode=0666
DirectoryMode=0755
Backlog=128

[Install]
WantedBy=sockets.target
",
        layout.socket.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_units_hold_every_line_that_confines_the_service() {
        let unit = service_unit(&SignerLayout::system());
        for line in [
            "User=capsid-signer",
            "ExecStart=/usr/local/lib/capsid/capsid trail signer serve",
            "StateDirectory=capsid-signer",
            "StateDirectoryMode=0711",
            "UMask=0077",
            "NoNewPrivileges=yes",
            "ProtectSystem=strict",
            "ProtectHome=yes",
            "PrivateTmp=yes",
            "PrivateDevices=yes",
            "PrivateNetwork=yes",
            "RestrictAddressFamilies=AF_UNIX",
            "MemoryDenyWriteExecute=yes",
            "CapabilityBoundingSet=",
            "SystemCallFilter=@system-service",
            "LimitCORE=0",
            "Restart=always",
        ] {
            assert!(unit.lines().any(|each| each == line), "{line}");
        }
        assert!(socket_unit(&SignerLayout::system()).contains("ListenStream=/run/capsid-signer/sock\n"));
    }
}
