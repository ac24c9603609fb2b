"""Settings come from TOML and JSON alike; what is none is refused by its name."""

from pathlib import Path
from typing import Any

import pytest

from lib.common.program import ToolError
from wheels.verify.settings import Settings, make_settings, read_config


def test_toml_and_json_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('[settings]\nmax_path = 5\nbuild_paths = ["/x/"]\n[[exception]]\nid = "W404"\n')
    (tmp_path / "a.json").write_text(
        '{"settings": {"max_path": 5, "build_paths": ["/x/"]}, "exception": [{"id": "W404"}]}'
    )
    documents = [read_config(tmp_path / name) for name in ("a.toml", "a.json")]
    assert documents[0] == documents[1]
    assert make_settings(documents[0]["settings"], "a.toml") == Settings(max_path=5, build_paths=("/x/",))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"max_paths": 5}, "no setting is called 'max_paths'; expected one of max_path,"),
        ({"max_path": "5"}, "setting max_path is '5'; expected"),
        ({"max_path": True}, "setting max_path is True"),
        ({"debug_info": 1}, "setting debug_info is 1"),
        ({"build_paths": "/x"}, "setting build_paths is '/x'"),
        ({"build_paths": [1]}, "setting build_paths is"),
        (
            {"opened_libraries": ["libx.so"]},
            "setting opened_libraries is .*expected a table: a reason for each pattern",
        ),
        ({"opened_libraries": {"libx.so": " "}}, "expected a table: a reason for each pattern"),
        ({"build_paths": ["/x("]}, "build_paths has '/x\\('.*not a regular expression"),
    ],
)
def test_a_bad_setting_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ToolError, match=message) as error:
        make_settings(values, "verify.toml")
    assert str(error.value).startswith("verify.toml: ")


def test_of_several_documents_the_last_counts_and_what_is_opened_is_joined() -> None:
    opened = {"liba.so": "a", "libb.so": "b"}
    first = make_settings({"max_path": 5, "max_file_size": 1, "opened_libraries": opened}, "a")
    both = make_settings({"max_path": 6, "opened_libraries": {"libb.so": "c"}}, "b", first)
    assert both == Settings(max_path=6, max_file_size=1, opened_libraries={"liba.so": "a", "libb.so": "c"})


@pytest.mark.parametrize(
    ("name", "text"), [("a.toml", "x ="), ("a.json", "{"), ("a.json", "[]"), ("a.toml", "other = 1")]
)
def test_a_configuration_that_cannot_be_read_is_named(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ToolError, match=name):
        read_config(tmp_path / name)
    with pytest.raises(ToolError, match=r"none\.toml"):
        read_config(tmp_path / "none.toml")
