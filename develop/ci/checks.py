"""The checks of .ci/run, in their order: what each is called, what it shows, what it runs and what it needs.

A check with `needs` is skipped where they are not met. SCHEDULED, at the end, names the checks that run once a week.
"""

from develop.ci import steps
from develop.ci.check import ALL, APT, ENGINES, INSTALLERS, Check

#: What many others need; these wait for the network, not for each other.
FETCHED = (
    Check(
        "root-debian13",
        "make a Debian 13 root",
        steps.make(lambda machine: machine.debian13),
        (steps.DEBIAN,),
        holds=APT,
    ),
    Check(
        "fetch-rocm7",
        "fetch real ROCm 7 (small)",
        steps.make(lambda machine: machine.rocm7),
        (steps.DEBIAN_PACKAGES,),
        holds="",
    ),
    Check(
        "root-sid",
        "make a root of Debian unstable",
        steps.make(lambda machine: machine.sid),
        (steps.DEBIAN,),
        holds=APT,
    ),
    Check(
        "fetch-rocm5",
        "fetch real ROCm 5.7 (small)",
        steps.make(lambda machine: machine.rocm5),
        (steps.DEBIAN_PACKAGES,),
        holds="",
    ),
    Check(
        "root-engines",
        "make a root with remote engines",
        steps.make(lambda machine: machine.engines),
        (steps.DEBIAN,),
        holds=APT,
    ),
)
REMOTE = (
    Check(
        "remote-cache",
        "a second checkout builds nothing again",
        steps.module("tests.remote.cache"),
        (steps.DEBIAN,),
        holds="",
    ),
    Check(
        "remote-cache-rocm7",
        "a second checkout builds nothing of real ROCm 7 again",
        steps.with_rocm7("tests.remote.cache"),
        (steps.DEBIAN,),
        holds="",
    ),
    Check("remote-execution", "builds and tests on remote workers", steps.remote(), (steps.DEBIAN,), holds=ENGINES),
    Check("remote-tests", "every test on remote workers", steps.remote("--all-tests"), (steps.DEBIAN,), holds=ENGINES),
    Check("remote-hip", "HIP programs, compiled by remote workers", steps.remote_hip, (steps.DEBIAN,), holds=ENGINES),
)
BUILDS = "tests/e2e/builds"
#: The integration tests that make a development tree. What the others show does not depend on an archive.
WITH_DEVEL = tuple(
    f"//tests/integration:{name}_test"
    for name in ("family", "framework", "mini", "side_by_side", "split", "suffix_family")
)
CHECKS: tuple[Check, ...] = (
    Check(
        "all-wheels", "bazelw build //packaging:all_wheels", steps.bazel("build", "//packaging:all_wheels"), holds=ALL
    ),
    Check("tests", "bazelw test //tests/...", steps.bazel_tests, holds=ALL),
    Check(
        "jail",
        "this machine has jails for actions, so tests that need one were not skipped",
        steps.bazel(
            "test", "//tests/hermetic:actions_test", "--test_env=HERMETIC_REQUIRED=1", "--test_filter=jail_is_bare"
        ),
    ),
    Check(
        "inputs",
        "every action fails without any one of its inputs",
        steps.bazel("test", "//tests/hermetic:actions_test", "--test_env=HERMETIC_ALL=1", "--test_timeout=3600"),
    ),
    Check("every-test", "no test is left out of //tests/...", steps.every_test),
    Check("no-shell", "no action has a shell", steps.no_shell),
    Check("no-op", "a second build has nothing to do", steps.no_op),
    Check("aarch64", "launcher for aarch64", steps.launcher_for_aarch64),
    Check(
        "devel-archive",
        "devel tree in an archive",
        steps.bazel("test", "--//rules/settings:devel_archive=tar", *WITH_DEVEL),
    ),
    Check(
        "kills",
        "expansion of the devel tree killed at 200 moments",
        steps.bazel(
            "test",
            "//packaging/rocm/tests:runtime_tests",
            "--test_env=ROCM_SDK_TEST_KILLS=200",
            "--test_filter=random_moments",
        ),
    ),
    # While the disk is empty.
    Check("big-wheel-build", "build a wheel of over 4 GiB", steps.make(lambda machine: machine.big_wheel)),
    Check("big-wheel", "every tool accepts a wheel of over 4 GiB", steps.big_wheel),
    Check("mini-versions", "make the example SDK's packages, in two versions", steps.make(steps.mini_versions)),
    # Early, because they wait for each other, and others can run beside them.
    *FETCHED,
    *REMOTE,
    steps.with_pytest("catalog", "changes and bad input, through real builds", f"{BUILDS}/catalog_test.py"),
    steps.with_pytest(
        "lock", "archives that a lock file names, through real builds", f"{BUILDS}/lock_test.py", holds=""
    ),
    steps.with_pytest("actions", "a change runs only what it concerns", f"{BUILDS}/actions_test.py"),
    steps.with_pytest("windows-actions", "a change of a DLL concerns it alone", f"{BUILDS}/windows_actions_test.py"),
    steps.with_pytest(
        "cache-keys", "settings are part of the keys of the actions that they concern", f"{BUILDS}/cache_keys_test.py"
    ),
    steps.with_pytest(
        "thin-actions", "a change of device code concerns its target alone", f"{BUILDS}/thin_actions_test.py"
    ),
    steps.with_pytest(
        "unseen-edits", "edits that keep size and mtime, under a running server", f"{BUILDS}/unseen_edits_test.py"
    ),
    steps.with_pytest("rebuild", "wheels of a channel, built again by somebody else", f"{BUILDS}/rebuild_test.py"),
    steps.with_pytest("workers", "persistent workers make what a sandbox makes", f"{BUILDS}/workers_test.py"),
    steps.with_pytest("versions", "versions, layouts and targets, through real builds", f"{BUILDS}/versions_test.py"),
    Check("channel", "channels in a directory and in S3, with kills, faults and clients", steps.channel, holds=""),
    Check("registry", "an image of layers in a registry, made as the page says", steps.push, (steps.DEBIAN,)),
    Check("validators-mini", "every tool accepts the example SDK's wheels", steps.validate_mini),
    Check(
        "rocm-wheels",
        "the command on wheels, installed by pip and uv without Bazel",
        steps.module("tests.e2e.wheels_command.commands"),
    ),
    Check("hostile-zips", "hostile archives, as pip and uv judge them", steps.module("tests.e2e.validators.hostile")),
    Check("corpus", "popular wheels, judged as other checkers do", steps.module("tests.e2e.verify.corpus")),
    steps.with_pytest(
        "consumer", "another project packages its own SDK", "tests/e2e/consumer/consumer_test.py", holds=""
    ),
    steps.with_pytest(
        "another-sdk",
        "mistakes in an SDK that others built, and their messages",
        "tests/e2e/consumer/another_sdk_test.py",
        holds="",
    ),
    Check(
        "foreign-sdks",
        "CUDA's libraries and ffmpeg from wheels, on Linux and under wine; users read no word of ROCm",
        steps.foreign_sdks,
        (steps.DEBIAN,),
        holds="",
        tests=("tests/e2e/foreign_sdks/foreign_sdks_test.py",),
    ),
    steps.with_pytest(
        "release",
        "other modules build with the release archive, which is always the same",
        "tests/e2e/release/archive_test.py",
        holds="",
    ),
    Check("pages", "what pages and examples say can be pasted into a shell", steps.pages),
    Check("installers", "installers: pip 23, the newest pip, uv", steps.installers, holds=INSTALLERS),
    Check(
        "devel-histories",
        "development trees live through installers, each kind of place, and file systems",
        steps.devel_histories,
        holds=INSTALLERS,
    ),
    Check(
        "elf", "ELF edits and forwarders, with every linker and both CPUs", steps.edit_elf, (steps.DEBIAN,), holds=""
    ),
    Check(
        "windows-launcher",
        "launcher for Windows, under wine",
        steps.launcher_for_windows,
        (steps.DEBIAN,),
        tests=("tests/e2e/windows/launcher_test.py",),
    ),
    Check(
        "windows-packages",
        "packages for Windows, installed and used by CPython for Windows under wine",
        steps.packages_for_windows,
        (steps.DEBIAN,),
        tests=steps.PACKAGES_FOR_WINDOWS,
    ),
    Check("windows-corpus", "images of real wheels for Windows, read as lief does", steps.windows_corpus, holds=""),
    Check(
        "split-wheels",
        "wheels from PyPI, split, have the code that LLVM's bundler finds",
        steps.split_wheels,
        (steps.DEBIAN,),
    ),
    Check("wheel-variants", "which wheel variant machines get, by the reference implementation", steps.wheel_variants),
    Check("framework", "a framework built against the devel tree", steps.framework, (steps.DEBIAN,)),
    Check("installers-debian13", "installers, under Debian 13's Python", steps.installers_debian13, (steps.DEBIAN,)),
    Check("index", "pip and uv fetch from the index what they install", steps.index, (steps.DEBIAN,), holds=INSTALLERS),
    Check("page", "the landing page, in Chromium", steps.page, (steps.DEBIAN,), holds=""),
    *steps.THIN5.checks("ROCm 5.7 (thin)", steps.DEBIAN),
    *steps.THIN7.checks("ROCm 7 (thin)", steps.DEBIAN),
    *steps.KPACK7.checks("ROCm 7 (kpack)", steps.KPACK, steps.DEBIAN),
    *steps.FAMILY7.checks("ROCm 7 (family)", steps.DEBIAN),
    *steps.SPLIT7.checks("ROCm 7 (split)", steps.DEBIAN),
    Check("split-reports", "what users reported does not happen", steps.SPLIT7.reports, (steps.DEBIAN,)),
    Check("split-sets", "each set of packages does what its users need", steps.SPLIT7.sets, (steps.DEBIAN,)),
    Check("clients", "programs from PyPI run with ROCm 7 (split)", steps.SPLIT7.clients, (steps.DEBIAN,)),
    Check(
        "hip-wheel",
        "an extension with HIP code, from ROCm 7's packages to installations",
        steps.hip_wheel,
        (steps.DEBIAN,),
    ),
    Check("validators", "every tool accepts the wheels", steps.SPLIT7.validate, (steps.DEBIAN,)),
    Check("amd", "our packages against AMD's own", steps.compare_with_amd, (steps.AMD, steps.DEBIAN_PACKAGES)),
    Check(
        "hip",
        "HIP programs: what a change runs, the same bytes from the strictest sandbox",
        steps.with_rocm7("hip.tests.e2e.programs"),
        (steps.DEBIAN_PACKAGES,),
        holds="",
    ),
    Check(
        "hip-libraries",
        "a HIP program with each library of ROCm 7, and of Debian's ROCm",
        steps.hip_libraries,
        (steps.DEBIAN_PACKAGES,),
        holds="",
    ),
    Check(
        "hip-optional",
        "a thousand C++ targets of which ten use HIP, with an SDK and without",
        steps.with_rocm7("hip.tests.e2e.optional"),
        (steps.DEBIAN_PACKAGES,),
        holds="",
    ),
    Check(
        "todays-modules",
        "the rules with today's rules_cc and rules_python, and pip.parse with our wheels",
        steps.todays_modules,
        (steps.MODULES, steps.DEBIAN_PACKAGES),
        holds="",
    ),
    Check("hip-page", "the README's HIP program, from an empty folder", steps.hip_page, (steps.DEBIAN_PACKAGES,)),
    Check(
        "debian-rocm",
        "Debian's ROCm in one command",
        steps.module("tests.e2e.install.debian_rocm"),
        (steps.DEBIAN_PACKAGES,),
    ),
)

#: Once a week, and before a release: what other checks show with smaller, fewer or other inputs.
SCHEDULED = frozenset(
    {
        # Over 4 GiB; `tests` has the same code with small members and a lowered limit.
        "big-wheel-build",
        "big-wheel",
        # Other people's wheels and installers: what they hold or answer changes with theirs, not with ours.
        "corpus",
        "foreign-sdks",
        "hostile-zips",
        "split-wheels",
        "windows-corpus",
        # `tests` has each action in a jail with only its inputs, and `remote-cache` its key in another place.
        "root-engines",
        "remote-execution",
        # `tests` kills at 20 moments.
        "kills",
        # What users get of a release; each file of it is tested where it is.
        "release",
        # A second input, or all, where the first ones are checked with each change.
        "inputs",
        "devel-archive",
        "remote-tests",
        "hip-libraries",
        "hip-optional",
        "fetch-rocm5",
        "installers-debian13",
        "remote-cache-rocm7",
        "remote-hip",
        # AMD's script packs all of ROCm 7.
        "amd",
        # `hip` builds a bigger project with real ROCm.
        "hip-page",
        # All tests, with other modules.
        "todays-modules",
        "validators",
        *(f"thin-rocm5-{what}" for what in ("build", "use", "verify", "code")),
        *(f"family-{what}" for what in ("build", "use", "verify")),
        "split-reports",
        "split-sets",
        "wheel-variants",
    }
)
