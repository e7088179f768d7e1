"""The container image of a hub, as an OCI layout in a tar file. The program is static, so nothing else is in it but the
certificates of the system that packs; a container service is not needed to make it."""

import datetime
import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path

from .common import ADDRESS, DESCRIPTION, VERSION, source_time, stop, tar_entry

USER = 65532
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


class Layout:
    """Blobs by their hash."""

    def __init__(self):
        self.files = {"oci-layout": json.dumps({"imageLayoutVersion": "1.0.0"}).encode()}

    def add(self, kind, data):
        if not isinstance(data, bytes):
            data = json.dumps(data, sort_keys=True).encode()
        digest = hashlib.sha256(data).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = data
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(data)}

    def write(self, path):
        with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
            for name, data in sorted(self.files.items()):
                tar.addfile(tar_entry(name, size=len(data)), io.BytesIO(data))


def pack_all(trees, out):
    """One file with an image for each processor, in one index."""
    layout = Layout()
    manifests = [add_image(layout, tree) for tree in trees]
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests}
    # One image is named itself: not every service reads an index in an index.
    named = manifests[0] if len(manifests) == 1 else layout.add(INDEX, index)
    names = {"org.opencontainers.image.ref.name": VERSION, "io.containerd.image.name": f"docker.io/library/capsid:{VERSION}"}
    entry = named | {"annotations": names}
    layout.files["index.json"] = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]}).encode()
    processors = "-".join(manifest["platform"]["architecture"] for manifest in manifests)
    path = out / f"capsid-{VERSION}-image-{processors}.tar"
    layout.write(path)
    return path


def add_image(layout, unpacked):
    plain = layer(unpacked)
    system = {"os": "linux", "architecture": unpacked.system.debian}
    time = datetime.datetime.fromtimestamp(source_time(), datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    labels = {
        "org.opencontainers.image.title": "capsid",
        "org.opencontainers.image.description": DESCRIPTION,
        "org.opencontainers.image.version": VERSION,
        "org.opencontainers.image.licenses": "Apache-2.0",
    }
    if ADDRESS:
        labels["org.opencontainers.image.source"] = ADDRESS
    config = system | {
        "created": time,
        "config": {
            "User": f"{USER}:{USER}",
            "Env": ["PATH=/usr/bin", "HOME=/data", "CAPSID_HOME=/data"],
            "Entrypoint": ["/usr/bin/capsid"],
            "Cmd": ["hub", "serve", "--listen", "0.0.0.0:4000", "--data", "/data"],
            "WorkingDir": "/data",
            "Volumes": {"/data": {}},
            "ExposedPorts": {"4000/tcp": {}},
            "StopSignal": "SIGTERM",
            "Labels": labels,
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(plain).hexdigest()}"]},
        "history": [{"created": time, "created_by": "scripts/pack image"}],
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": layout.add(CONFIG, config),
        "layers": [layout.add(LAYER, gzip.compress(plain, 9, mtime=0))],
    }
    return layout.add(MANIFEST, manifest) | {"platform": system}


def layer(unpacked):
    """The file system: the program, certificates, an account, and folders for data and temporary files."""
    certificates = Path("/") / CERTIFICATES
    if not certificates.is_file():
        stop(f"`{certificates}` is missing: install the package ca-certificates")
    users = f"root:x:0:0:root:/:/sbin/nologin\ncapsid:x:{USER}:{USER}:capsid:/data:/sbin/nologin\n"
    files = {
        "usr/bin/capsid": (unpacked.program.read_bytes(), 0o755),
        CERTIFICATES: (certificates.read_bytes(), 0o644),
        "etc/passwd": (users.encode(), 0o644),
        "etc/group": (f"root:x:0:\ncapsid:x:{USER}:\n".encode(), 0o644),
    }
    for name in ("LICENSE", "NOTICE", "THIRD-PARTY.txt"):
        files[f"usr/share/doc/capsid/{name}"] = ((unpacked.tree / name).read_bytes(), 0o644)
    folders = {str(parent) for path in files for parent in Path(path).parents} - {"."}
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for folder in sorted(folders):
            tar.addfile(tar_entry(folder, 0o755, tarfile.DIRTYPE))
        tar.addfile(tar_entry("tmp", 0o1777, tarfile.DIRTYPE))
        tar.addfile(tar_entry("data", 0o700, tarfile.DIRTYPE, owner=USER))
        for path, (content, mode) in sorted(files.items()):
            tar.addfile(tar_entry(path, mode, size=len(content)), io.BytesIO(content))
    return data.getvalue()
