"""Which projects are looked up on an index, and with which credentials. tests/e2e/publish.py uploads to real ones."""

import base64
from pathlib import Path

from tools.publish.files import read_files
from tools.publish.package_index import IndexUrls, authorization, projects
from tools.publish.sample import FILES, with_pages, write

SAME = IndexUrls("https://pypi.example/legacy/", "https://pypi.example/simple/")
OTHER = IndexUrls("https://upload.example/legacy/", "https://pypi.example/simple/")


def test_projects(tmp_path: Path) -> None:
    files = read_files(write(tmp_path, with_pages(FILES)))
    assert projects(files) == ["rocm", "rocm-sdk-core"]


def basic(text: str) -> dict[str, str]:
    """Return the header of basic authentication."""
    return {"authorization": f"Basic {base64.b64encode(text.encode()).decode()}"}


def test_pages_are_asked_for_with_the_credentials_of_the_upload() -> None:
    login = {"UV_PUBLISH_USERNAME": "me", "UV_PUBLISH_PASSWORD": "secret"}
    assert authorization(SAME, login) == basic("me:secret")
    assert authorization(SAME, {"UV_PUBLISH_TOKEN": "pypi-1"}) == basic("__token__:pypi-1")
    assert authorization(SAME, {"UV_PUBLISH_USERNAME": "me"}) == {}
    assert authorization(OTHER, login) == {}, "another host is not told the password"
