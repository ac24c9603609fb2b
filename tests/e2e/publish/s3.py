"""Publishing to a real S3 server: what `tests/e2e/publish/places.py` runs where boto3 is installed."""

import hashlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from tests.e2e.publish.publisher import Publisher, check_conflict, check_halfway, is_page, tree
from tests.e2e.publish.swift_server import Server, swift_server
from tests.e2e.testing.servers import flaky_proxy

#: A wheel that is sent in parts: slightly more than two of 16 MiB.
BIG = "rocm_sdk_big-1.0-py3-none-any.whl"
BIG_SIZE = (32 << 20) + 5


@dataclass(frozen=True)
class Bucket:
    """A bucket, as another client than the publisher sees it."""

    client: Any
    name: str

    def objects(self, prefix: str) -> dict[str, bytes]:
        """Return the content of every object, by its key below a prefix."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.name, Prefix=prefix)
        keys = [item["Key"] for page in pages for item in page.get("Contents", ())]
        return {key.removeprefix(prefix): self.get(key)["Body"].read() for key in keys}

    def get(self, key: str) -> dict[str, Any]:
        """Return the answer to GetObject."""
        answer: dict[str, Any] = self.client.get_object(Bucket=self.name, Key=key)
        return answer

    def unfinished(self) -> list[str]:
        """Return the keys of uploads in parts that have not ended."""
        return [one["Key"] for one in self.client.list_multipart_uploads(Bucket=self.name).get("Uploads", ())]


def make_bucket(server: Server) -> Bucket:
    """Make a bucket."""
    client = boto3.session.Session().client(
        "s3",
        endpoint_url=server.url,
        aws_access_key_id=server.access_key,
        aws_secret_access_key=server.secret_key,
        config=Config(s3={"addressing_style": "path"}),
    )
    client.create_bucket(Bucket="packages")
    return Bucket(client, "packages")


def with_big_file(dist: Path, scratch: Path) -> Path:
    """Return a copy of the directory with a file that is sent in parts."""
    copy = scratch / "dist"
    shutil.copytree(dist, copy)
    (copy / BIG).write_bytes(os.urandom(BIG_SIZE))
    return copy


def with_few_files(dist: Path, scratch: Path) -> Path:
    """Return a copy of the directory with a file of each kind, for what need not be shown of more."""
    copy = scratch / "few"
    copy.mkdir()
    for path in sorted(dist.iterdir()):
        if path.name.startswith(("index.", "rocm_sdk_core-", BIG)):
            shutil.copyfile(path, copy / path.name)
    return copy


def check_served(bucket: Bucket, prefix: str, content: Mapping[str, bytes]) -> None:
    """Assert what a web server in front of the bucket would say of each object."""
    types = {
        ".html": "text/html; charset=utf-8",
        ".json": "application/vnd.pypi.simple.v1+json",
        ".whl": "application/zip",
    }
    for path, data in content.items():
        answer = bucket.get(prefix + path)
        assert answer["Metadata"] == {"sha256": hashlib.sha256(data).hexdigest()}, path
        assert answer["CacheControl"] == ("no-cache" if is_page(path) else "public, max-age=31536000, immutable"), path
        suffix = Path(path).suffix
        assert answer["ContentType"] == types.get(suffix, answer["ContentType"]), path


def check_interruptions(publisher: Publisher, bucket: Bucket, content: Mapping[str, bytes], url: str) -> None:
    """Kill the publisher at several moments, some of them while the big file is on its way."""
    to = ("--to=s3://packages/killed", f"--endpoint-url={url}")
    missing = sorted(path for path in content if not is_page(path))
    seen = 0
    for line in (1, missing.index(BIG) - 1, 1, len(content) - len(missing)):
        publisher.kill_after(max(line, 1), *to)
        visible = bucket.objects("killed/")
        if len(visible) < len(content):
            check_halfway(visible, content)
        assert len(visible) >= seen, "what was sent is gone"
        seen = len(visible)
    publisher.run(*to)
    assert bucket.objects("killed/") == content


def check_race(publisher: Publisher, bucket: Bucket, url: str) -> None:
    """Let two publishers send the same files at the same time: both do, and each file is there once."""
    first = publisher.start("--to=s3://packages/same", f"--endpoint-url={url}")
    second = publisher.start("--to=s3://packages/same", f"--endpoint-url={url}")
    for process in (first, second):
        output, _ = process.communicate()
        assert process.returncode == 0, output
    assert bucket.objects("same/") == tree(publisher.dist)


def check_s3(publisher: Publisher, scratch: Path) -> None:
    """Publish to Swift."""
    publisher = publisher.of(with_big_file(publisher.dist, scratch))
    content = tree(publisher.dist)
    with swift_server(publisher.programs, scratch / "swift") as server:
        bucket = make_bucket(server)
        to = ("--to=s3://packages/some/prefix", "--run-id=1", f"--endpoint-url={server.url}")
        output = publisher.run(*to, status=2)
        assert "no credentials; set AWS_ACCESS_KEY_ID" in output, output
        publisher = publisher.with_environment(AWS_ACCESS_KEY_ID=server.access_key, AWS_SECRET_ACCESS_KEY="wrong")
        output = publisher.run(*to, status=2)
        assert "cannot list what is there: An error occurred (SignatureDoesNotMatch)" in output, output
        publisher = publisher.with_environment(AWS_SECRET_ACCESS_KEY=server.secret_key)
        output = publisher.run("--to=s3://absent-bucket", f"--endpoint-url={server.url}", status=2)
        assert "s3://absent-bucket/" in output, output
        assert "NoSuchBucket" in output, output
        prefix = "some/prefix/1-linux/python/"
        publisher.run(*to, "--dry-run")
        assert not bucket.objects("")
        publisher.run(*to)
        assert bucket.objects(prefix) == content
        assert not bucket.unfinished()
        check_served(bucket, prefix, content)
        assert f"0 files and 0 pages (0 bytes); {len(content)} were there" in publisher.run(*to)
        check_conflict(publisher, scratch, *to)
        assert bucket.objects(prefix) == content
        check_interruptions(publisher, bucket, content, server.url)
        publisher = publisher.of(with_few_files(publisher.dist, scratch))
        check_race(publisher, bucket, server.url)
        with flaky_proxy(int(server.url.rpartition(":")[2]), failures=5) as port:
            publisher.run("--to=s3://packages/flaky", f"--endpoint-url=http://127.0.0.1:{port}")
        assert bucket.objects("flaky/") == tree(publisher.dist)
