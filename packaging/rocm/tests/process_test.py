"""`initialize_process`: version patterns and lists in environment variables."""

from __future__ import annotations

import json
import re

import pytest
from fake_sdk import distributions
from hypothesis import given
from hypothesis import strategies as st
from rocm_sdk import process
from rocm_sdk.distributions import parse_distributions
from rocm_sdk.process import initialize_process, split_list, version_matches


@pytest.mark.parametrize(
    ("pattern", "version", "expected"),
    [
        ("7.10.0", "7.10.0", True),
        ("7.10.0", "7.10.0.dev0", False),
        ("7.10.0", "7x10.0", False),
        ("7.10.*", "7.10.0rc1", True),
        ("7.10.*", "7.1.0", False),
        ("*", "", True),
        ("7.*.1+*", "7.10.1+local", True),
        ("7.*.1+*", "7.10.1", False),
        ("", "7.10", False),
        (re.compile(r"7\.10"), "7.10.0", True),
        (re.compile(r"7\.10$"), "7.10.0", False),
        (re.compile("10"), "7.10", False),
    ],
)
def test_version_matches(pattern: str | re.Pattern[str], version: str, expected: bool) -> None:
    assert version_matches(pattern, version) is expected


VERSIONS = st.text("0123456789.+abrc-[(\\^$?\n", max_size=20)


@given(VERSIONS, VERSIONS)
def test_without_a_star_only_the_version_itself_matches(pattern: str, version: str) -> None:
    assert version_matches(pattern, version) == (pattern == version)


@given(st.lists(VERSIONS, min_size=2, max_size=4), st.data())
def test_stars_stand_for_any_characters(parts: list[str], data: st.DataObject) -> None:
    between = data.draw(st.lists(VERSIONS, min_size=len(parts) - 1, max_size=len(parts) - 1))
    version = parts[0] + "".join(between[number] + part for number, part in enumerate(parts[1:]))
    assert version_matches("*".join(parts), version)
    assert not version_matches("*".join(parts) + "x", version)


@given(VERSIONS, VERSIONS, VERSIONS)
def test_a_star_lets_start_and_end_decide(start: str, end: str, version: str) -> None:
    fits = version.startswith(start) and version.endswith(end) and len(version) >= len(start) + len(end)
    assert version_matches(f"{start}*{end}", version) == fits


def test_split_list() -> None:
    assert split_list(" a, b;c ;,; d\n") == ["a", "b", "c", "d"]
    assert split_list("") == []


#: What AMD's tests look for.
AMDS = "The program was compiled against a ROCm version matching "


def test_a_version_mismatch_warns_or_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    known = parse_distributions(json.dumps(distributions("split")))
    monkeypatch.setattr(process, "load_distributions", lambda: known)
    initialize_process(check_version="7.10.*", fail_on_version_mismatch=True, env_override=False)
    with pytest.warns(
        UserWarning, match=AMDS + r"'7\.11' but the installed ROCm version in this Python environment is 7\.10"
    ) as caught:
        initialize_process(check_version="7.11", env_override=False)
    assert [one.filename for one in caught] == [__file__]  # The line that the user can find: of the caller.
    with pytest.raises(RuntimeError, match=AMDS + r"'7\\\.9' but"):
        initialize_process(check_version=re.compile(r"7\.9"), fail_on_version_mismatch=True, env_override=False)


def test_arguments_of_later_versions_are_ignored() -> None:
    initialize_process(env_override=False, what_comes_next=True)


def test_the_environment_is_not_read_without_override(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCM_SDK_PRELOAD_LIBRARIES", "nosuch")
    initialize_process(env_override=False)
    with pytest.raises(RuntimeError, match=r"ROCM_SDK_PRELOAD_LIBRARIES='nosuch'.*unset it"):
        initialize_process()
