"""Signed statements: what securesystemslib's own verifier accepts and refuses, and messages about planted faults."""

import base64
import json
from pathlib import Path

import pytest
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import Key

from develop.testing.signing import make_key
from lib.common.program import ToolError
from lib.provenance.statement import Statement
from wheels.common.attestation import provenance_object, verified_statement
from wheels.common.keys import load_public_key, signer

STATEMENT = Statement("acme-1.0-py3-none-any.whl", "a" * 64, "//:acme", "//:provenance", {}, {}, ())
TEXT = json.dumps(STATEMENT.document()).encode()


def signed(folder: Path, text: bytes = TEXT, name: str = "key") -> bytes:
    return provenance_object(text, signer(*make_key(folder, name)))


def changed(content: bytes, part: str, new: bytes) -> bytes:
    """Return a provenance object with other bytes in its envelope."""
    document = json.loads(content)
    document["attestation_bundles"][0]["attestations"][0]["envelope"][part] = base64.b64encode(new).decode()
    return json.dumps(document).encode()


def refused(folder: Path, content: bytes) -> str:
    with pytest.raises(ToolError) as found:
        verified_statement(content, load_public_key(make_key(folder)[0]), "acme.provenance")
    return str(found.value)


def test_a_signed_statement_is_read(tmp_path: Path) -> None:
    assert verified_statement(signed(tmp_path), load_public_key(make_key(tmp_path)[0]), "there") == STATEMENT


def test_the_form_is_that_of_pep_740(tmp_path: Path) -> None:
    document = json.loads(signed(tmp_path))
    assert document.keys() == {"version", "attestation_bundles"}
    (bundle,) = document["attestation_bundles"]
    assert bundle.keys() == {"publisher", "attestations"}
    assert bundle["publisher"]["kind"] == "key"
    (attestation,) = bundle["attestations"]
    assert attestation.keys() == {"version", "verification_material", "envelope"}
    assert document["version"] == attestation["version"] == 1
    assert base64.b64decode(attestation["envelope"]["statement"]) == TEXT


def test_the_verifier_of_securesystemslib_accepts_ours_and_refuses_a_changed_one(tmp_path: Path) -> None:
    attestation = json.loads(signed(tmp_path))["attestation_bundles"][0]["attestations"][0]
    document = {
        "payload": attestation["envelope"]["statement"],
        "payloadType": "application/vnd.in-toto+json",
        "signatures": [
            {"keyid": attestation["verification_material"]["keyid"], "sig": attestation["envelope"]["signature"]}
        ],
    }
    keys: list[Key] = [load_public_key(make_key(tmp_path)[0])]
    assert Envelope.from_dict(json.loads(json.dumps(document))).verify(keys, 1).keys() == {keys[0].keyid}
    document["payload"] = base64.b64encode(TEXT.replace(b"a" * 64, b"b" * 64)).decode()
    with pytest.raises(VerificationError):
        Envelope.from_dict(document).verify(keys, 1)


def test_each_fault_has_its_message(tmp_path: Path) -> None:
    content = signed(tmp_path)
    other = TEXT.replace(b"a" * 64, b"b" * 64)
    assert "is not of this statement: one of them was changed" in refused(
        tmp_path, changed(content, "statement", other)
    )
    assert "is not of this statement" in refused(tmp_path, changed(content, "signature", b"x" * 64))
    assert "is signed by the key " in refused(tmp_path, signed(tmp_path, name="another"))
    assert "is not signed; expected" in refused(tmp_path, TEXT)
    assert "is no provenance object of PEP 740" in refused(tmp_path, b"{}")
    assert "is not a statement of these rules" in refused(tmp_path, signed(tmp_path, b"{}"))
