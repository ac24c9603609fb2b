"""Serves the documentation's site on this machine.

bazel run //docs:serve [-- --port PORT]
"""

import argparse
import functools
import http.server
import sys
from pathlib import Path


def main(argv: list[str]) -> int:
    """Serve a directory until it is interrupted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="the site")
    parser.add_argument("--port", type=int, default=8000, help="default: %(default)s; 0 takes a free one")
    arguments = parser.parse_args(argv)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(arguments.directory))
    try:
        with http.server.ThreadingHTTPServer(("127.0.0.1", arguments.port), handler) as server:
            print(f"http://127.0.0.1:{server.server_port}/index.html", flush=True)
            server.serve_forever()
    except KeyboardInterrupt:
        return 0
    except OSError as error:
        print(f"ERROR: port {arguments.port}: {error.strerror}. Choose another: --port 0", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
