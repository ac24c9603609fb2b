"""The kinds of actions of the rules, and what each asks of where it runs."""

#: Every kind of action of the rules, and the action that makes their tools.
MNEMONICS = {
    "PyTool",
    "RocmCoverage",
    "RocmDescribe",
    "RocmIndex",
    "RocmInspect",
    "RocmLayer",
    "RocmLink",
    "RocmMaterial",
    "RocmPack",
    "RocmPlan",
    "RocmPlatformTag",
    "RocmRequireSdk",
    "RocmRuntime",
    "RocmSbom",
    "RocmSdist",
    "RocmSplitWheel",
    "RocmStatement",
    "RocmStaticWheel",
}
#: The kinds behind this project's own packages: the others are for a framework's wheel, for another SDK, or statements.
PACKAGING = MNEMONICS - {"RocmDescribe", "RocmRequireSdk", "RocmRuntime", "RocmSplitWheel", "RocmStatement"}
#: What an action says that may run in a persistent worker.
_WORKER = {"requires-worker-protocol", "supports-workers"}
#: What is asked besides `block-network`, by mnemonic. Actions that are many and short run in workers. RocmIndex
#: gives its directory links to files, and no link leads out of a sandbox. What RocmLink makes is put together from
#: segments, which a cache has anyway, and what the other three make from that.
FURTHER = {
    "RocmIndex": {"no-cache", "no-sandbox"},
    "RocmInspect": _WORKER,
    "RocmLayer": {"no-remote-cache-upload"} | _WORKER,
    "RocmLink": {"no-remote-cache-upload"} | _WORKER,
    "RocmPack": _WORKER,
    "RocmPlan": _WORKER,
    "RocmPlatformTag": _WORKER,
    "RocmSbom": _WORKER,
}
