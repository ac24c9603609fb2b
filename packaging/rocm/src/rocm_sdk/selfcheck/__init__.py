"""The checks of `rocm-sdk test`: is this installation whole, and does it work.

It needs no GPU, and changes nothing but the development tree, which it makes if need be.

- `run`        lists the checks of what is installed, runs several at a time and reports,
- `check`      what a check is, and how it says that something is wrong,
- `packages`   the packages as such: versions, the chosen target, RECORD, who owns what, the development tree,
- `binaries`   libraries and programs: do they load, do they find each other and device code that was split off,
- `scripts`    console scripts: do they answer; Python packages: can they be imported.

Each check is a function that returns a remark, or raises. `rocm-sdk doctor` looks at the machine around it instead.
"""
