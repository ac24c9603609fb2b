"""What Starlark takes for the normal form of a version is what the library `packaging` takes for it."""

import json
import os
from pathlib import Path

import pytest
from packaging.version import InvalidVersion, Version

FORMS = json.loads(Path(os.environ["NORMAL_FORMS"]).read_text(encoding="utf-8"))


def normal(spelling: str) -> str | None:
    try:
        return str(Version(spelling))
    except InvalidVersion:
        return None


@pytest.mark.parametrize(("spelling", "form"), FORMS)
def test_normal_form_is_that_of_packaging(spelling: str, form: str | None) -> None:
    assert form == normal(spelling)


def test_there_are_right_and_wrong_ones() -> None:
    assert len([form for _, form in FORMS if form is None]) >= 15
    assert len([form for _, form in FORMS if form is not None]) >= 30
