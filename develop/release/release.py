r"""Makes the release archive of the rules, and its entry in a Bazel registry.

    python3 -B -m develop.release.release --output DIRECTORY

writes `rules_rocm_python-v{version}.tar.gz` and prints its SHA-256. It is git's
archive of a commit, so the same commit gives the same archive; .gitattributes
says what is left out. Links become files, because not every system unpacks
links. `--documentation bazel-bin/docs/api` adds an archive of the
documentation, of what `bazelw build //docs/api:all` wrote.

    python3 -B -m develop.release.release \
        --output DIRECTORY --registry REGISTRY --owner OWNER [--url URL]

also adds the release to a registry: a clone of the Bazel Central Registry, or
an empty directory for a trial, in which `--url` names the archive. It needs
git.
"""

import argparse
import base64
import gzip
import hashlib
import io
import sys
import tarfile
from pathlib import Path

from develop.release.commit import Commit, declared_module
from develop.release.entry import Release, Templates, add_entry
from lib.common.program import ToolError, report_errors

WORKSPACE = Path(__file__).resolve().parents[2]


def compressed(data: bytes) -> bytes:
    """Return data in gzip's format, without a name or a date."""
    stream = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=stream, mtime=0) as file:
        file.write(data)
    return stream.getvalue()


def with_files_for_links(data: bytes) -> bytes:
    """Return a tar archive in which each symbolic link is a copy of the file that it leads to.

    Raises ToolError if the archive does not have that file.
    """
    stream = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(data)) as given,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT, pax_headers=given.pax_headers) as archive,
    ):
        for member in given.getmembers():
            try:
                file = given.extractfile(member)
            except KeyError:
                raise ToolError(
                    f"{member.name}: a link to {member.linkname}, which the archive does not have; expected a file of "
                    "the release. Remove the link, or its target from .gitattributes"
                ) from None
            if member.issym() and file:
                content = file.read()
                member.type, member.linkname, member.mode, member.size = tarfile.REGTYPE, "", 0o644, len(content)
                file = io.BytesIO(content)
            archive.addfile(member, file)
    return stream.getvalue()


def documentation(directory: Path, date: int) -> bytes:
    """Return the tar archive of the protos that `starlark_doc_extract` wrote: sorted, and dated as the commit."""
    protos = sorted(directory.glob("*.binaryproto"))
    if not protos:
        raise ToolError(
            f"{directory}: no *.binaryproto; expected what the targets of //docs/api write. "
            "Build them: bazelw build //docs/api:all"
        )
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for proto in protos:
            member = tarfile.TarInfo(f"docs/api/{proto.name}")
            member.size, member.mtime = proto.stat().st_size, date
            with proto.open("rb") as file:
                archive.addfile(member, file)
    return stream.getvalue()


def integrity(data: bytes) -> str:
    """Return the digest of data as Subresource Integrity writes it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(data).digest()).decode()}"


def write(directory: Path, name: str, data: bytes) -> Path:
    """Write an archive, and print what others need to know of it."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    print(f"{path}\n  size       {len(data)}\n  sha256     {digest}\n  integrity  {integrity(data)}")
    return path


def make(arguments: argparse.Namespace) -> None:
    """Make what the command line asks for."""
    commit = Commit.find(arguments.repository, arguments.commit)
    module = commit.read("MODULE.bazel")
    name, version = declared_module(module)
    tag = f"v{version}"
    commit.check_tag(tag)
    print(f"{name} {version}, commit {commit.name}")
    data = compressed(with_files_for_links(commit.tar(f"{name}-{version}")))
    write(arguments.output, f"{name}-{tag}.tar.gz", data)
    if arguments.documentation:
        docs = compressed(documentation(arguments.documentation, commit.date()))
        write(arguments.output, f"{name}-{tag}.docs.tar.gz", docs)
    if arguments.registry:
        templates = Templates(
            metadata=commit.read(".bcr/metadata.template.json"),
            source=commit.read(".bcr/source.template.json"),
            presubmit=commit.read(".bcr/presubmit.yml"),
            module=module,
        )
        release = Release(name, version, arguments.owner, integrity(data), arguments.url)
        print(f"{add_entry(arguments.registry, templates, release)}\n  the entry of the registry")


def main(argv: list[str]) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="directory for the archives")
    parser.add_argument("--commit", default="HEAD", help="what is released (default: HEAD)")
    parser.add_argument("--repository", type=Path, default=WORKSPACE, help="clone that has it (default: this one)")
    parser.add_argument("--documentation", type=Path, help="directory with the protos of //docs/api")
    parser.add_argument("--registry", type=Path, help="directory of the registry")
    parser.add_argument("--owner", default="", help="owner of the repository on GitHub, for the registry")
    parser.add_argument("--url", default="", help="where the archive is, if not among the repository's releases")
    arguments = parser.parse_args(argv)
    if arguments.registry and not arguments.owner:
        parser.error("--registry without --owner; expected the owner of the repository on GitHub")
    return report_errors("develop.release", lambda: make(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
