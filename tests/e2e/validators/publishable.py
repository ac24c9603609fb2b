"""What is asked of distributions before they are published: by twine, pydistcheck, auditwheel, and others.

Part of `validators.py`.
"""

from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path

from tests.e2e.validators.tools import Tools, run


def publishing_commands(distribution: Path, tools: Tools) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yield what a wheel or sdist goes through: the tool's name and its command."""
    yield "twine", (tools.programs / "twine", "check", "--strict", distribution)
    yield "pydistcheck", (tools.programs / "pydistcheck", "--config", tools.pydistcheck, distribution)


def check_opinions(wheels: list[Path], tools: Tools, reports: Path) -> None:
    """Have auditwheel judge the platform tags, and CycloneDX's schema the bills of materials; print what they say."""
    command = (tools.programs / "python", "-B", "-m", "tests.e2e.validators.opinions", "--reports", reports, *wheels)
    print(run(*command), end="", flush=True)


def check_classifiers(wheels: list[Path], tools: Tools) -> None:
    """Compare the classifiers of wheels with those that PyPI takes."""
    known = set(run(tools.programs / "trove-classifiers").splitlines())
    for wheel in wheels:
        metadata = wheel.with_name(f"{wheel.name}.metadata").read_text(encoding="utf-8")
        found = set(Parser().parsestr(metadata, headersonly=True).get_all("Classifier", []))
        assert found, f"{wheel.name}: names no classifier"
        assert found <= known, f"{wheel.name}: {sorted(found - known)}: PyPI does not know these classifiers"
