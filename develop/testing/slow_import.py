"""A program that forks while one of its threads imports a package for the first time."""

_PROGRAM = """
import os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore")  # Newer Pythons warn of forks beside threads.
import {package}
started = threading.Event()
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "{package}.{module}":
            started.set()
            time.sleep(0.5)
sys.meta_path.insert(0, Slow())
importing = threading.Thread(target=lambda: {package}.{name})
importing.start()
started.wait()
child = os.fork()
if not child:
    signal.alarm(10)
    {package}.{name}
    os._exit(0)
importing.join()
print(os.waitpid(child, 0)[1])
"""


def slow_import(package: str, module: str, name: str) -> str:
    """Return the program: `name` of the package is in its `module`. It prints how the child ended; 0 is well."""
    return _PROGRAM.format(package=package, module=module, name=name)
