"""An S3 server on loopback: SeaweedFS, which is one program in one wheel.

moto would do as well, but it brings botocore, Flask and a dozen more, and botocore wants an older
python-dateutil than the one that is pinned. rclone's server, which is smaller, does not answer the
requests for the end of a file with which deltalake begins.
"""

import os
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KEY, SECRET = "loopbackkey", "zq7loopbacksecret"
BUCKET = "city"
_SERVERS = ("master", "volume", "filer", "s3", "admin")


@dataclass(frozen=True)
class Store:
    """A running server: its address, and an Arrow file system to write with."""

    endpoint: str
    files: Any

    @property
    def environment(self):
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ALLOW_HTTP": "true",  # for deltalake
            "AWS_EC2_METADATA_DISABLED": "true",
        }


@contextmanager
def running_store(folder: Path):
    """The server with an empty bucket, until the block ends."""
    ports = dict(zip(_SERVERS, _free_ports(2 * len(_SERVERS)), strict=False))
    others = [
        f"-{name}.port{kind}={port}"
        for name, (port, grpc) in ports.items()
        for kind, port in (("", port), (".grpc", grpc))
    ]
    command = [
        Path(sys.executable).parent / "weed", "-logtostderr", "mini", f"-dir={folder}",
        "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-bucket={BUCKET}", "-admin.ui=false",
        "-webdav=false", "-s3.port.iceberg=0", "-s3.port.lance=0", *others,
    ]  # fmt: skip
    keys = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "TMPDIR": str(folder)}
    with (
        (folder / "server.log").open("wb") as log,
        subprocess.Popen(
            command, cwd=folder, env=os.environ | keys, stdout=log, stderr=log
        ) as server,
    ):
        try:
            yield _answering(f"http://127.0.0.1:{ports['s3'][0]}", server)
        finally:
            server.terminate()


def _free_ports(count):
    with ExitStack() as stack:
        free = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in free:
            each.bind(("127.0.0.1", 0))
        found = [each.getsockname()[1] for each in free]
    return list(zip(found[::2], found[1::2], strict=True))


def _answering(endpoint, server):
    """The server, once it takes a file."""
    from pyarrow.fs import S3FileSystem

    files = S3FileSystem(
        access_key=KEY, secret_key=SECRET, region="us-east-1", endpoint_override=endpoint
    )
    for _ in range(300):
        assert server.poll() is None, "the S3 server did not start"
        try:
            with files.open_output_stream(f"{BUCKET}/.there") as stream:
                stream.write(b"yes")
        except OSError:
            time.sleep(0.2)
        else:
            return Store(endpoint, files)
    raise AssertionError("the S3 server does not answer")
