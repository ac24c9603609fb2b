"""Key files and commands that sign, and what is refused."""

import shutil
import subprocess
from pathlib import Path

import pytest
from securesystemslib.exceptions import UnverifiedSignatureError

from develop.testing.signing import make_key
from lib.common.command import CannotRunError
from wheels.common.keys import load_public_key, signer


def test_a_command_signs(tmp_path: Path) -> None:
    path, command = make_key(tmp_path)
    signature = signer(path, command).sign(b"a text")
    key = load_public_key(path)
    key.verify_signature(signature, b"a text")
    with pytest.raises(UnverifiedSignatureError):
        key.verify_signature(signature, b"another")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="signs with OpenSSL")
def test_a_key_file_signs_with_openssl(tmp_path: Path) -> None:
    private, public = tmp_path / "key.pem", tmp_path / "key.pub"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", private], check=True)
    subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True)
    signature = signer(private).sign(b"a text")
    load_public_key(public).verify_signature(signature, b"a text")
    command = f"openssl pkeyutl -sign -rawin -inkey {private} -in {tmp_path / 'text'}"
    (tmp_path / "text").write_bytes(b"a text")
    assert signer(public, command).sign(b"a text") == signature


def test_what_does_not_sign(tmp_path: Path) -> None:
    path, command = make_key(tmp_path)
    other, _ = make_key(tmp_path, "other")
    for key, by, text in (
        (other, command, r"env .*: signs with another key than .*other\.pub\. Name the key of it"),
        (path, "sh -c 'echo locked >&2; exit 3'", r"sh: ended with 3: locked\. Nothing was signed"),
        (path, "no-such-command", r"no-such-command: No such file or directory\. Install it"),
        (tmp_path / "none", command, r"none: expected a public key in PEM\. Make one: openssl genpkey"),
    ):
        with pytest.raises(CannotRunError, match=text):
            signer(key, by).sign(b"a text")


def test_a_file_that_is_no_public_key(tmp_path: Path) -> None:
    path = tmp_path / "key.pub"
    with pytest.raises(CannotRunError, match=r"key.pub: expected a public key in PEM\. Make one: openssl"):
        load_public_key(path)
    path.write_text("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
    with pytest.raises(CannotRunError, match=r"expected a public key in PEM\. Make one: openssl genpkey"):
        load_public_key(path)
