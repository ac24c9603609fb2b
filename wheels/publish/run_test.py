"""What is done, by what a place has."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from develop.testing.publish_sample import CORE, FILES, SDIST, STATIC, VARIANT, VARIANT_LIST, tree, with_pages, write
from lib.common.program import ToolError
from wheels.publish.directory import DirectoryPlace
from wheels.publish.files import LocalFile, read_files
from wheels.publish.place import ConflictError, Sent
from wheels.publish.run import Comparison, Options, check, compare, describe, publish

OTHER = "rocm-6.0.tar.gz"
PAGES = ("simple/rocm/index.html", "simple/index.html", "index.html")


class Place:
    """A place that only answers, and counts for how many files the digest was asked."""

    shown = "the place"

    def __init__(self, content: Mapping[str, tuple[int | None, str]], *, keeps_index: bool = False) -> None:
        self.keeps_index = keeps_index
        self.asked: list[str] = []
        self._content = content

    def tidy(self) -> None:
        """Do nothing."""

    def listing(self) -> Mapping[str, int | None]:
        """Return the sizes that the test gave."""
        return {path: size for path, (size, _) in self._content.items()}

    def sha256(self, path: str) -> str:
        """Return the digest that the test gave."""
        self.asked.append(path)
        return self._content[path][1]

    def put(self, file: LocalFile, sent: Sent) -> None:
        """Do not happen."""
        raise AssertionError(file)

    put_page = put

    def only_publisher(self) -> AbstractContextManager[None]:
        """Wait for nobody."""
        return nullcontext()


@pytest.fixture
def files(tmp_path: Path) -> list[LocalFile]:
    return read_files(write(tmp_path, with_pages(FILES)))


def names(files: tuple[LocalFile, ...]) -> list[str]:
    """Return the paths, in order."""
    return [file.path for file in files]


def as_it_is(files: list[LocalFile]) -> dict[str, tuple[int | None, str]]:
    """Return the content of a place that has all of these."""
    return {file.path: (file.size, file.sha256) for file in files}


def test_into_an_empty_place(files: list[LocalFile]) -> None:
    place = Place({})
    plan = compare(files, place)
    assert names(plan.missing) == sorted(FILES)
    assert names(plan.pages) == list(PAGES), "the page at the top comes last, and pages of projects first"
    assert not place.asked


def test_where_all_is_there(files: list[LocalFile]) -> None:
    plan = compare(files, Place(as_it_is(files)))
    assert plan == Comparison(missing=(), pages=(), there=tuple(files), conflicts=(), unlisted=())


def test_other_bytes_under_the_same_name(files: list[LocalFile]) -> None:
    content = as_it_is(files)
    content[CORE] = (content[CORE][0], "aa" * 32)  # of the same size
    content[SDIST] = (1, "bb" * 32)
    content[f"{CORE}.metadata"] = (None, "cc" * 32)  # of a size that the place does not tell
    content["index.html"] = (1, "dd" * 32)
    place = Place(content)
    plan = compare(files, place)
    assert [(file.path, digest[:2]) for file, digest in plan.conflicts] == [
        (SDIST, "bb"),
        (CORE, "aa"),
        (f"{CORE}.metadata", "cc"),
    ]
    assert names(plan.pages) == ["index.html"], "pages may change"
    with pytest.raises(ConflictError) as raised:
        check(plan, place, Options())
    text = str(raised.value)
    for file, digest in plan.conflicts:
        assert file.path in text
        assert digest in text
        assert file.sha256 in text
    assert "the place has other bytes than this build" in text
    assert "Build another version" in text


def test_what_the_new_index_would_not_list(files: list[LocalFile]) -> None:
    elsewhere = {f"gfx110X-all/{OTHER}": (1, ""), "notes.txt": (1, "")}
    place = Place(as_it_is(files) | elsewhere | {OTHER: (1, ""), f"static/{OTHER}": (1, "")})
    plan = compare(files, place)
    assert plan.unlisted == (OTHER, f"static/{OTHER}"), "other directories may have indexes of their own"
    with pytest.raises(ToolError, match=f"(?s)no longer list.*{OTHER}.*--leave-unlisted"):
        check(plan, place, Options())
    check(plan, place, Options(leave_unlisted=True))


def test_a_place_that_keeps_its_index(files: list[LocalFile]) -> None:
    """It gets neither pages nor what is meant for an index of its own; other files in it are its own affair."""
    place = Place({SDIST: as_it_is(files)[SDIST], OTHER: (None, "")}, keeps_index=True)
    plan = compare(files, place)
    assert names(plan.missing) == [CORE]
    assert names(plan.there) == [SDIST]
    assert not plan.pages
    assert not plan.unlisted
    assert STATIC not in [*names(plan.missing), *names(plan.there)]


def with_variant(directory: Path, labels: str) -> list[LocalFile]:
    """Write the files of an index with a wheel variant."""
    variants = {VARIANT: b"variant", f"{VARIANT}.metadata": b"Name: rocm", VARIANT_LIST: labels.encode()}
    return read_files(write(directory, with_pages({**FILES, **variants})))


def test_lists_of_wheel_variants_never_change(tmp_path: Path) -> None:
    """Lock files have their digests. They come before the pages that name them."""
    files, place = with_variant(tmp_path / "one", "gfx942"), DirectoryPlace(tmp_path / "place")
    found = compare(files, place)
    assert VARIANT_LIST in names(found.missing)
    assert VARIANT in names(found.missing)
    assert names(found.pages) == list(PAGES)
    publish(files, place, Options())
    assert tree(tmp_path / "place") == tree(tmp_path / "one")
    with pytest.raises(ConflictError, match=VARIANT_LIST):
        publish(with_variant(tmp_path / "other", "gfx950"), place, Options())
    with pytest.raises(ToolError, match=f"(?s)no longer list.*{VARIANT}"):
        publish(read_files(write(tmp_path / "none", with_pages(FILES))), place, Options())


def test_a_place_that_keeps_its_index_gets_no_wheel_variants(tmp_path: Path) -> None:
    """It would refuse their names, and has no place for their list."""
    place = Place({}, keeps_index=True)
    found = compare(with_variant(tmp_path, "gfx942"), place)
    assert (names(found.missing), found.refused) == ([SDIST, CORE], (VARIANT,))
    assert f"leave  {VARIANT}: a package index takes no wheel variants" in describe(found, place.shown)
