"""Our detection answers as rocm-bootstrap's does, on each machine that rocm-bootstrap's own tests make up.

Those tests run here as they are. Whenever one asks for the GPUs, we are asked, too.
"""

from pathlib import Path

import pytest
from rocm_bootstrap import _platform, detect
from rocm_bootstrap.tests import test_detect
from rocm_bootstrap.tests.conftest import fake_platform
from rocm_bootstrap.tests.test_detect import *  # noqa: F403
from rocm_sdk.detect import DISABLE_VARIABLE, FORCE_VARIABLE, ask_sources

__all__ = ["fake_platform"]


@pytest.fixture(autouse=True)
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each question asked twice, and the answers compared."""
    theirs = detect.detect_gpus

    def ours() -> list[str]:
        for variable in (DISABLE_VARIABLE, FORCE_VARIABLE):
            monkeypatch.setenv(variable, _platform.get_env(variable) or "")
        for node in _platform.list_kfd_nodes():
            properties = tmp_path / "nodes" / node.name / "properties"
            properties.parent.mkdir(parents=True, exist_ok=True)
            properties.write_text(_platform.read_kfd_properties(node))
        path = tmp_path / "bin"
        path.mkdir(exist_ok=True)
        (path / "clinfo.txt").write_text(_platform.run_clinfo())
        (path / "clinfo").write_text(f"#!/bin/sh\nexec /bin/cat {path}/clinfo.txt\n")
        (path / "clinfo").chmod(0o755)
        return [gpu.target for answer in ask_sources(tmp_path / "nodes", str(path)) for gpu in answer.gpus]

    def checked() -> list[detect.DetectedGpu]:
        try:
            found = theirs()
        except ValueError:
            with pytest.raises(ValueError):
                ours()
            raise
        assert ours() == [gpu.target.name for gpu in found]
        return found

    for module in (detect, test_detect):
        monkeypatch.setattr(module, "detect_gpus", checked)
