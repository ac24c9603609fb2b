"""Provenance objects in the form of PEP 740, which an index lists beside a distribution: signed statements.

    provenance_object([statement], signer)      what `FILE.provenance` has
    verified_statement(content, key, "where")   the statement in it

An attestation is a DSSE envelope as PEP 740 writes it: the statement, and a signature over it and its media type.
PyPI's have a Sigstore certificate as `verification_material`; ours name the key.
"""

import base64
import json
from collections.abc import Mapping
from typing import Any, Final

from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import Key, Signature, Signer

from lib.common.command import FoundError
from lib.common.program import ToolError
from lib.index.simple_api import PROVENANCE_SUFFIX
from lib.provenance.statement import PAYLOAD_TYPE, Statement, parse_statement

_VERSION: Final = 1


def provenance_object(statement: bytes, signer: Signer) -> bytes:
    """Sign a statement. Raises CannotRunError as the signer does."""
    envelope = Envelope(statement, PAYLOAD_TYPE, {})
    signature = envelope.sign(signer)
    encoded = {"statement": statement, "signature": bytes.fromhex(signature.signature)}
    attestation = {
        "version": _VERSION,
        "verification_material": {"keyid": signature.keyid},
        "envelope": {name: base64.b64encode(one).decode() for name, one in encoded.items()},
    }
    bundle = {"publisher": {"kind": "key", "keyid": signature.keyid}, "attestations": [attestation]}
    return (json.dumps({"version": _VERSION, "attestation_bundles": [bundle]}, indent=1) + "\n").encode()


def _envelope(attestation: Mapping[str, Any]) -> Envelope:
    given = {name: base64.b64decode(one, validate=True) for name, one in attestation["envelope"].items()}
    identity = attestation["verification_material"]["keyid"]
    signature = Signature(identity, given["signature"].hex())
    return Envelope(given["statement"], PAYLOAD_TYPE, {identity: signature})


def verified_statement(content: bytes, key: Key, where: str) -> Statement:
    """Return the statement in a provenance object that a key has signed.

    Raises ToolError for another document, and FoundError if there is no such statement, or if it was changed.
    """
    try:
        document = json.loads(content)
        if document["version"] != _VERSION:
            raise ValueError(f"version {document['version']}")
        bundles = document["attestation_bundles"]
        found = [_envelope(one) for bundle in bundles for one in bundle["attestations"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        signed = "is not signed" if b'"predicateType"' in content else f"is no provenance object of PEP 740: {error!r}"
        raise ToolError(
            f"{where}: {signed}; expected a FILE{PROVENANCE_SUFFIX} that a channel lists. Sign it with `rocm-wheels "
            "channel add --key`"
        ) from None
    own = [one for one in found if key.keyid in one.signatures]
    if not own:
        keys = ", ".join(sorted({identity for one in found for identity in one.signatures})) or "none"
        raise FoundError(f"{where}: is signed by the key {keys}; expected {key.keyid}. Name its key with --trust")
    try:
        own[0].verify([key], 1)
    except VerificationError:
        raise FoundError(
            f"{where}: the signature of {key.keyid} is not of this statement: one of them was changed. Do not use the "
            "distribution; fetch it and its statement again"
        ) from None
    return parse_statement(own[0].payload, where)
