"""Tests of what can be asked for, and of what is downloaded then."""

from pathlib import Path
from typing import Any

import pytest

from develop.testing.index_sample import CORE, DEVICES, LIBRARIES, SELECTOR, SIZES, STATIC_WHEEL, THIN, Sample
from lib.common.program import range_text, size_text
from lib.index.downloads import Offers, find_offers
from lib.index.landing_page import example_requirement
from lib.index.model import STATIC, Distribution, Index, indexes, read_distribution
from lib.index.selector import Selector, read_selector


def read(sample: Sample) -> list[Distribution]:
    """Read the distributions of a sample as the tool does."""
    found = []
    for folder, directory in (("main", ""), ("static", STATIC)):
        for path in sorted((sample.directory / folder).glob("*.in")):
            name = str(path).removesuffix(".in")
            found.append(read_distribution(f"{name}.json", str(path), directory))
    return found


def offers_of(sample: Sample, selector: Selector | None) -> tuple[Offers, Offers, Index, Index]:
    """Return what the main index and the static one offer."""
    distributions = read(sample)
    main, static = indexes(distributions)
    assert static is not None
    first, second = (find_offers(distributions, index, selector) for index in (main, static))
    assert first is not None
    assert second is not None
    return first, second, main, static


def size(*names: str) -> int:
    return sum(SIZES[name] for name in names)


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    return Sample(tmp_path).add_sdk()


@pytest.fixture
def selector(tmp_path: Path) -> Selector:
    return read_selector(str(tmp_path / "distributions.json"))


def test_an_extra_brings_what_it_requires_and_what_that_requires(sample: Sample, selector: Selector) -> None:
    offers = {offer.extra: offer for offer in offers_of(sample, selector)[1].offers}
    assert list(offers) == ["", "libraries", "device-gfx1100", "device-gfx942"]
    assert offers[""].brings == ("rocm-sdk-core",)
    assert offers[""].least == offers[""].most == size(STATIC_WHEEL, CORE)
    assert offers["device-gfx942"].brings == ("rocm-sdk-core", "rocm-sdk-device-gfx942", "rocm-sdk-libraries")
    assert offers["device-gfx942"].most == size(STATIC_WHEEL, CORE, LIBRARIES, DEVICES[1])
    assert not any(offer.chooses for offer in offers.values())


def test_the_sdist_has_an_extra_that_chooses_too(sample: Sample, selector: Selector) -> None:
    (choosing,) = [offer for offer in offers_of(sample, selector)[0].offers if offer.chooses]
    assert choosing.extra == "device"
    assert choosing.brings == ("rocm-sdk-core", "rocm-sdk-libraries")
    assert choosing.least == size(STATIC_WHEEL, CORE, LIBRARIES, DEVICES[0])
    assert choosing.most == size(STATIC_WHEEL, CORE, LIBRARIES, DEVICES[1])


def test_the_example_lets_the_machine_choose_where_it_can(sample: Sample, selector: Selector) -> None:
    main_offers, static_offers, main, static = offers_of(sample, selector)
    assert example_requirement(main, main_offers, selector) == "rocm[device]==7.0"
    assert example_requirement(static, static_offers, selector) == "rocm[device-gfx942]==7.0"


def test_without_a_selector_there_are_the_extras_of_the_metadata(sample: Sample) -> None:
    offers, _, main, _ = offers_of(sample, None)
    assert {offer.extra for offer in offers.offers} == {"", "libraries", "device-gfx1100", "device-gfx942"}
    assert example_requirement(main, offers, None) == "rocm==7.0"


def test_in_the_family_layout_the_libraries_are_chosen(tmp_path: Path) -> None:
    """Names of families have capitals, extras have not."""
    wheel = "rocm_sdk_libraries_gfx110X_all-7.0-py3-none-linux_x86_64.whl"
    sample = Sample(tmp_path).add(CORE).add(wheel, "Requires-Dist: rocm-sdk-core==7.0").add("rocm-7.0.tar.gz")
    requires = 'Requires-Dist: rocm-sdk-libraries-gfx110X-all==7.0; extra == "libraries-gfx110x-all"'
    sample.add(STATIC_WHEEL, "Provides-Extra: libraries-gfx110x-all", requires, static=True)
    packages = {"core": {"distribution": "rocm-sdk-core"}, "libraries": {"distribution": "rocm-sdk-libraries-{target}"}}
    document: dict[str, Any] = {"layout": "family", "targets": ["gfx110X-all"], "default_target": "gfx110X-all"}
    sample.select(document | {"packages": packages})
    selector = read_selector(str(tmp_path / "distributions.json"))
    assert [target.project for target in selector.targets] == ["rocm-sdk-libraries-gfx110x-all"]
    offers, _, main, _ = offers_of(sample, selector)
    (choosing,) = [offer for offer in offers.offers if offer.chooses]
    assert choosing.extra == "libraries"
    assert example_requirement(main, offers, selector) == "rocm[libraries]==7.0"


def test_in_the_thin_layout_the_libraries_are_chosen_and_named_by_target(tmp_path: Path) -> None:
    sample = Sample(tmp_path).add_thin_sdk()
    selector = read_selector(str(tmp_path / "distributions.json"))
    assert [(target.name, target.project, target.extra) for target in selector.targets] == [
        ("gfx90a", "rocm-sdk-libraries-gfx90a", "libraries-gfx90a"),
        ("gfx1030", "rocm-sdk-libraries-gfx1030", "libraries-gfx1030"),
    ]
    main_offers, static_offers, main, static = offers_of(sample, selector)
    (choosing,) = [offer for offer in main_offers.offers if offer.chooses]
    assert (choosing.extra, choosing.brings) == ("libraries", ("rocm-sdk-core",))
    assert choosing.least == size(STATIC_WHEEL, CORE, THIN["gfx1030"])
    assert choosing.most == size(STATIC_WHEEL, CORE, THIN["gfx90a"])
    assert example_requirement(main, main_offers, selector) == "rocm[libraries]==7.0"
    assert example_requirement(static, static_offers, selector) == "rocm[libraries-gfx90a]==7.0"
    assert [offer.extra for offer in static_offers.offers] == ["", "libraries-gfx1030", "libraries-gfx90a"]


def test_where_nothing_has_extras_the_example_is_what_nothing_requires(tmp_path: Path) -> None:
    sample = Sample(tmp_path).add("a-7.0-py3-none-any.whl").add("b-7.0-py3-none-any.whl", "Requires-Dist: a")
    distributions = read(sample)
    [main] = indexes(distributions)
    assert find_offers(distributions, main, None) is None
    assert example_requirement(main, None, None) == "b==7.0"


def test_extras_of_what_is_required_count_and_circles_end(tmp_path: Path) -> None:
    sample = Sample(tmp_path).add("a-7.0-py3-none-any.whl", "Requires-Dist: b[more]", "Provides-Extra: x")
    sample.add(
        "b-7.0-py3-none-any.whl", "Provides-Extra: more", 'Requires-Dist: c; extra == "more"', "Requires-Dist: a"
    )
    sample.add("c-7.0-py3-none-any.whl").add("d-7.0-py3-none-any.whl")
    distributions = read(sample)
    offers = find_offers(distributions, indexes(distributions)[0], None)
    assert offers is not None
    assert offers.offers[0].brings == ("b", "c")


def test_markers_do_not_ask_the_machine_that_writes_the_page(tmp_path: Path) -> None:
    markers = ['sys_platform == "linux"', 'sys_platform == "win32"', 'platform_machine == "x86_64"']
    fields = [f"Requires-Dist: {name}; {marker}" for name, marker in zip("bcd", markers, strict=True)]
    sample = Sample(tmp_path).add("a-7.0-py3-none-any.whl", "Provides-Extra: x", *fields)
    for name in "bcd":
        sample.add(f"{name}-7.0-py3-none-any.whl")
    distributions = read(sample)
    offers = find_offers(distributions, indexes(distributions)[0], None)
    assert offers is not None
    assert offers.offers[0].brings == ("b", "d")


def test_a_selector_without_targets(tmp_path: Path) -> None:
    """A build without code for any GPU target has libraries, and no device packages."""
    document = SELECTOR | {"targets": [], "default_target": ""}
    Sample(tmp_path).select({**document, "packages": {"core": {"distribution": "rocm-sdk-core"}}})
    assert read_selector(str(tmp_path / "distributions.json")) == Selector((), "", ())


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.00 kB"),
        (12_345, "12.3 kB"),
        (99_949, "99.9 kB"),
        (99_950, "100 kB"),
        (999_499, "999 kB"),
        (999_500, "1.00 MB"),
        (2_130_000_000, "2.13 GB"),
        (5_000_000_000_000_000, "5000 TB"),
    ],
)
def test_sizes_read_well(size: int, text: str) -> None:
    assert size_text(size) == text


def test_a_range_that_reads_as_one_size_is_one() -> None:
    assert range_text(1_000_000, 1_001_000) == "1.00 MB"
    assert range_text(1_000_000, 2_000_000) == "1.00 MB to 2.00 MB"
