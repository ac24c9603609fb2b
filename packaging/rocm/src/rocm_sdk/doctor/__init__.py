"""What around the packages can keep them from working, and what to do about it: `rocm-sdk doctor`.

`rocm-sdk test` checks the packages themselves, file by file. Here it is the machine and the environment, and what the
other commands know of the packages.

- `examine`     the table of all checks; `examine()` runs them,
- `facts`       what the checks look at, gathered once,
- `finding`     what a check yields, and how findings are printed,
- `gpus`        GPUs: are there any, may this user open them, do variables hide them,
- `packages`    the packages: versions, places, missing files, the compiler, the development tree,
- `loading`     libraries: do they load here, is there only one HIP,
- `other_rocm`  another ROCm on the machine,
- `frameworks`  builds of frameworks for CUDA, or with a HIP of their own.

Each check is a function from `Facts` to findings. A problem breaks something. A warning may be as you want it. A note
is only to be known.
"""
