"""What is a fault of your own wheel, and only a note for a third-party wheel."""

from pathlib import Path

import pytest

from develop.testing.wheel_sample import METADATA, Sample
from wheels.verify import registry
from wheels.verify.engine import Request, verify
from wheels.verify.exceptions import FORM
from wheels.verify.finding import Finding, Severity
from wheels.verify.tool import main

#: Tests at the top, and a licence file that is not there.
SLOPPY = Sample(
    {"acme/__init__.py": b"x = 1\n", "tests/x.py": b"\0"},
    name="acme",
    tag="py3-none-any",
    metadata=METADATA.replace("License-File: LICENSE", "License-File: COPYING"),
)
BROKEN = Sample({"acme/__init__.py": b"x = 1\n"}, name="acme", tag="py3-none-any", record=b"")


def found(folder: Path, sample: Sample) -> dict[bool, list[Finding]]:
    """Return what is found in a wheel: once as a third-party wheel, once as your own."""
    path = folder / sample.filename
    path.write_bytes(sample.build())
    requests = {True: ([], Request(others=(folder,), processes=1)), False: ([path], Request(processes=1))}
    return {key: list(verify(paths, request).judged.findings) for key, (paths, request) in requests.items()}


def test_the_form_of_a_wheel_of_others_is_worth_notes(tmp_path: Path) -> None:
    findings = found(tmp_path, SLOPPY)
    assert [one.id for one in findings[True]] == [one.id for one in findings[False]]
    assert {"W307", "W512"} <= {one.id for one in findings[True]}
    assert {one.severity for one in findings[True]} == {Severity.NOTE}
    assert Severity.ERROR in {one.severity for one in findings[False]}


def test_what_breaks_an_installation_stays_an_error(tmp_path: Path) -> None:
    findings = found(tmp_path, BROKEN)
    assert findings[True] == findings[False]
    assert "W202" in {one.id for one in findings[True] if one.severity is Severity.ERROR}


def test_only_the_wheels_of_others_are_spared(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    theirs = tmp_path / "theirs" / SLOPPY.filename
    theirs.write_bytes(SLOPPY.build())
    ours = Sample(SLOPPY.files, name="ours", tag="py3-none-any")
    (tmp_path / ours.filename).write_bytes(ours.build())
    request = Request(others=(tmp_path / "theirs",), processes=1)
    findings = verify([tmp_path / ours.filename], request).judged.findings
    assert {one.wheel for one in findings if one.severity is not Severity.NOTE} == {ours.filename}


def test_the_rules_about_form_are_rules_that_fail() -> None:
    rules = registry.rules()
    assert rules.keys() >= FORM
    assert not [name for name in FORM if rules[name].severity is Severity.NOTE]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / SLOPPY.filename
    path.write_bytes(SLOPPY.build())
    assert main([str(path)]) == 1
    assert main(["--target", "gfx942", "--others", str(path)]) == 0
    assert "W307 note" in capsys.readouterr().out
    assert main([str(path), "--target", "mi300"]) == 2
    assert "'mi300' is not a GPU target" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([])
    assert "nothing to verify" in capsys.readouterr().err
