"""The install script, with the version and the address of its release filled in."""

from .common import ADDRESS, PACKAGING, VERSION


def pack(out):
    text = (PACKAGING / "install.sh").read_text()
    download = f"{ADDRESS}/releases/download/v{VERSION}" if ADDRESS else ""
    path = out / "install.sh"
    path.write_text(text.replace("@VERSION@", VERSION).replace("@DOWNLOAD@", download))
    path.chmod(0o755)
    return path
