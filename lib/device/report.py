"""What `list` prints of a file: lines for people, a document for scripts. Pure functions."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from lib.device.model import Bundle, CodeObject, DeviceCode

#: The target of code objects whose entry ID names none.
NO_TARGET: Final = "(no target)"


def target_name(code: CodeObject) -> str:
    """Return the canonical target ID of a code object."""
    return str(code.entry.target or NO_TARGET)


def describe(device: DeviceCode, hashes: Sequence[dict[CodeObject, str]] | None) -> Iterator[str]:
    """Yield the lines that tell a person about a file; `hashes` has each bundle's hashes, None for totals alone."""
    if device.split:
        yield f"{device.path}: its device code is in archives, {len(device.split)} wrappers refer to it"
        return
    if not device.spans:
        yield f"{device.path}: no device code"
        return
    kinds = Counter(_compression(bundle) for bundle in device.bundles)
    how = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    size = sum(span.size for span in device.spans)
    wrappers = f", {len(device.wrappers)} wrappers" if device.spans[0].name else ""
    yield f"{device.path}: {len(device.bundles)} bundles ({how or 'none'}){wrappers}, {size} bytes"
    if device.wrappers and device.unwrapped:
        yield f"  {len(device.unwrapped)} bundles have no wrapper: HIP does not see them"
    codes = list(device.code_objects())
    count = Counter(target_name(code) for code in codes)
    for target in sorted(count):
        total = sum(code.size for code in codes if target_name(code) == target)
        yield f"  {target:<24} {count[target]:>6} code objects {total:>14} bytes"
    for bundle, found in zip(device.bundles, hashes or [], strict=False):
        yield f"  bundle at {bundle.offset:#x}, {_compression(bundle)}, {bundle.size} bytes"
        for code, digest in found.items():
            yield f"    {digest}  {code.size:>10}  {code.entry.text}"


def document(device: DeviceCode, hashes: Sequence[dict[CodeObject, str]] | None) -> dict[str, Any]:
    """Return all that is known of a file, for JSON; with the SHA-256 of each code object if `hashes` is given."""
    return {
        "path": device.path,
        "spans": [{"name": s.name, "offset": s.offset, "size": s.size, "address": s.address} for s in device.spans],
        "bundles": [
            {
                "offset": bundle.offset,
                "size": bundle.size,
                "compression": _compression_document(bundle),
                "code_objects": [
                    {
                        "id": code.entry.text,
                        "kind": code.entry.kind,
                        "triple": code.entry.triple,
                        "target": str(code.entry.target) if code.entry.target else None,
                        "offset": code.offset,
                        "size": code.size,
                    }
                    | ({"sha256": hashes[number][code]} if hashes is not None else {})
                    for code in bundle.code_objects
                ],
            }
            for number, bundle in enumerate(device.bundles)
        ],
        "wrappers": [
            {
                "address": wrapper.address,
                "offset": wrapper.offset,
                "pointer": wrapper.pointer.value,
                "bundle_address": wrapper.bundle_address,
                "bundle_offset": wrapper.bundle_offset,
            }
            for wrapper in device.wrappers
        ],
        "split_wrappers": [{"address": one.address, "offset": one.offset, "index": one.index} for one in device.split],
    }


def _compression(bundle: Bundle) -> str:
    known = bundle.compression
    return "plain" if known is None else f"{known.method.name.lower()} (CCOB version {known.version})"


def _compression_document(bundle: Bundle) -> dict[str, Any] | None:
    known = bundle.compression
    if known is None:
        return None
    digest = known.digest.hex()
    return {
        "version": known.version,
        "method": known.method.name.lower(),
        "inflated_size": known.inflated_size,
        "md5_head": digest,
    }
