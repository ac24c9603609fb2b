"""The coverage of ROCm 7.2.4, as Debian builds it, for tests."""

from lib.device.coverage import Coverage


def _of(text: str) -> tuple[str, ...]:
    return tuple(f"gfx{one}" for one in text.split())


#: The targets that most libraries serve, in the order of people.
ALL = _of("803 900 906 908 90a 942 1010 1030 1100 1101 1102 1151 1200 1201")
#: The libraries that serve them all.
BASE = tuple(
    f"lib/lib{name}" for name in ("rocblas.so.5", "rocfft.so.0", "rocrand.so.1", "rocsolver.so.0", "rocsparse.so.1")
)
ROCM_7 = Coverage(
    dict.fromkeys(BASE, ALL)
    | {
        "lib/libhipblaslt.so.1": _of("908 90a 1100 1101 1102 1151 1200 1201"),
        "lib/libhipsparselt.so.0": _of("942 950"),
        "lib/librccl.so.1": _of("908 90a 942 950 1030 1100 1101 1200 1201"),
    }
)
