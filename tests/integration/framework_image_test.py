"""An image with a framework for one GPU, above the packages that it requires; and the layer of a split wheel."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

from image_files import IMAGES, SITE, manifest_of, unpacked

LAYER = Path(os.environ["LAYER"])


def test_the_framework_finds_the_packages_below_it(tmp_path: Path) -> None:
    (image,) = IMAGES
    site = unpacked(image, tmp_path) / SITE
    code = "import ctypes, mini_framework; print(ctypes.CDLL(sys.argv[1]).mini_blas_depth())"
    command = [sys.executable, "-c", f"import sys; {code}", str(site / "mini_framework/libmini_blas.so")]
    environment = {"PYTHONPATH": str(site), "HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.stderr, int(done.stdout or 0) > 1) == ("", True)


def test_the_framework_is_a_layer_of_its_own(tmp_path: Path) -> None:
    (image,) = IMAGES
    layers = manifest_of(image)["layers"]
    assert len({layer["digest"] for layer in layers}) == len(layers) == 5
    record = next((unpacked(image, tmp_path) / SITE).glob("mini_framework-*.dist-info/RECORD")).read_text()
    assert "mini_framework/libmini_blas.so,sha256=" in record


def test_the_layer_of_a_split_wheel_has_one_of_the_wheels() -> None:
    with tarfile.open(LAYER) as layer:
        infos = {name.split("/")[4] for name in layer.getnames() if ".dist-info" in name}
    assert len(infos) == 1
    assert "+gfx1101.dist-info" in infos.pop()
