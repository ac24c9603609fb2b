"""Wheels are read and checked, whatever the number of processes; what cannot be read is named."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample as ElfSample
from develop.testing.tiny_elf import program
from develop.testing.wheel_sample import Sample
from lib.common.program import ToolError
from wheels.verify import engine
from wheels.verify.engine import Request, find_distributions, read_distributions, verify
from wheels.verify.finding import Finding
from wheels.verify.settings import Settings

LIBRARY = ElfSample(soname="liba.so", rpath="/usr/lib", zeros=17 << 20)


def write(folder: Path, *samples: Sample) -> None:
    folder.mkdir(exist_ok=True)
    for sample in samples:
        (folder / sample.filename).write_bytes(sample.build())


def found(path: Path, settings: Settings | None = None) -> list[Finding]:
    return list(verify([path], Request(settings or Settings(), wheel_set=False, processes=1)).judged.findings)


def test_a_sound_wheel_has_no_findings(tmp_path: Path) -> None:
    write(tmp_path, Sample())
    assert found(tmp_path) == []


def test_the_number_of_processes_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "usable_cores", lambda wanted: wanted)
    write(
        tmp_path,
        Sample({"a/liba.so": LIBRARY.build(), "a/x.bin": bytes(40 << 20)}),
        Sample({"b/__init__.py": b"/home/me/x ", "tests/__init__.py": b"\n" * 5}, name="other", tag="py3-none-any"),
    )
    outcomes = [verify([tmp_path], Request(processes=number)) for number in (1, 2, 3)]
    assert outcomes[0].judged == outcomes[1].judged == outcomes[2].judged
    assert {"W411", "W512"} <= {finding.id for finding in outcomes[0].judged.findings}
    facts = [[wheel.files for wheel in outcome.distributions.wheels] for outcome in outcomes]
    assert facts[0] == facts[1] == facts[2]


#: Reads a wheel with something that takes a minute for each file.
SLOW = """
import os, sys, time
from pathlib import Path
from wheels.verify import engine
from wheels.verify.engine import Request, verify
from wheels.verify.model import Collector

engine.usable_cores = lambda wanted: wanted

def slowly(path, size, head):
    os.write(1, b"reading\\n")
    time.sleep(60)
    return False

verify([Path(sys.argv[1])], Request(processes=2, collectors=(Collector("slow", slowly, slowly),)))
"""


def test_a_program_that_is_killed_takes_its_processes_along(tmp_path: Path) -> None:
    """They waited for work that would never come."""
    write(tmp_path, Sample({f"sample/{name}": bytes(engine.ALONE) for name in ("one", "two")}))
    command = [sys.executable, "-c", SLOW, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as program:
        assert program.stdout
        assert program.stdout.readline() == b"reading\n"
        children = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
        assert children
        program.kill()
    until = time.monotonic() + 30
    while alive := [child for child in children if is_running(child)]:
        assert time.monotonic() < until, alive
        time.sleep(0.05)


def is_running(process: str) -> bool:
    """Whether a process is there, and not a zombie (proc_pid_stat(5))."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_tables_at_the_end_of_a_large_deflated_library_are_read(tmp_path: Path) -> None:
    write(tmp_path, Sample({"a/liba.so": LIBRARY.build()}))
    (wheel,) = read_distributions([tmp_path], Request(processes=1)).wheels
    elf = wheel.files["a/liba.so"].elf
    assert elf is not None
    assert (elf.soname, elf.rpath) == ("liba.so", "/usr/lib")
    assert elf.section_headers
    assert wheel.archive.members[-2].compressed < 1 << 20


def test_budgets_are_kept(tmp_path: Path) -> None:
    write(tmp_path, Sample())
    size = (tmp_path / Sample().filename).stat().st_size
    for settings in (Settings(max_wheel_size=size - 1), Settings(max_file_size=50)):
        assert {finding.id for finding in found(tmp_path, settings)} == {"W113"}, settings
    assert found(tmp_path, Settings(max_wheel_size=size)) == []


def test_debug_information_is_found_unless_it_is_wanted(tmp_path: Path) -> None:
    write(tmp_path, Sample({"a/program": program(".debug_info", b"x" * 70)}))
    (finding,) = [one for one in found(tmp_path) if one.id == "W407"]
    assert finding.evidence == "1 sections, 70 bytes: .debug_info"
    assert "W407" not in {one.id for one in found(tmp_path, Settings(debug_info=True))}


def test_distributions_are_found_at_any_depth(tmp_path: Path) -> None:
    write(tmp_path, Sample(name="b"), Sample(name="a"))
    write(tmp_path / "static", Sample(name="c"))
    (tmp_path / "rocm-1.0.tar.gz").write_bytes(b"")
    wheels, sdists = find_distributions([tmp_path])
    assert [path.name[0] for path in wheels] == ["a", "b", "c"]
    assert [path.name for path in sdists] == ["rocm-1.0.tar.gz"]


@pytest.mark.parametrize(
    ("name", "message"), [("none", "no such file"), ("empty", "no distributions"), ("x.txt", "wheel")]
)
def test_what_is_no_distribution_is_named(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.txt").write_text("text")
    with pytest.raises(ToolError, match=message) as error:
        find_distributions([tmp_path / name])
    assert name in str(error.value)


@pytest.mark.parametrize(
    ("data", "evidence"),
    [
        (b"", "is empty"),
        (b"<!DOCTYPE html>", "begins with b'<!DOCTYP', not with b'PK': this is another file, not a zip archive"),
        (Sample().build()[:-30], "cut off after "),
    ],
)
def test_a_wheel_that_is_no_archive_is_one_finding(data: bytes, evidence: str, tmp_path: Path) -> None:
    (tmp_path / Sample().filename).write_bytes(data)
    [finding] = found(tmp_path)
    assert finding.id == "W101"
    assert finding.evidence.startswith(evidence)
