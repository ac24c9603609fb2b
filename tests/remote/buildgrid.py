"""BuildGrid as remote execution service (REAPI), with PostgreSQL, Redis and buildbox workers.

    with BuildGrid(root, programs, directory) as service:
        service.add_worker()
        … --remote_executor=service.url …

It keeps blobs on disk, results of actions in Redis, and what is to be executed in PostgreSQL: all outlive the server's
own process.
"""

import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType

from tests.e2e.testing.servers import Server, port_is_open
from tests.remote.worker import Worker, in_root

PORT = 18351
REDIS_PORT = 18379
#: Seconds without a word from a worker after which its actions are given to others.
KEEPALIVE = 10
#: What workers offer; --config=remote of this test asks for it.
PLATFORM = {"ISA": "x86-64", "OSFamily": "linux"}
CONFIGURATION = """\
server:
  - !channel
    address: "127.0.0.1:{port}"
    insecure-mode: true
authorization: {{method: none}}
monitoring: {{enabled: false}}
# Bazel uploads many small inputs at once; with fewer threads the server turns calls away.
thread-pool-size: 400
connections:
  - !sql-connection &sql {{connection-string: "{database}", pool-size: 5, max-overflow: 10}}
  - !redis-connection &redis {{host: 127.0.0.1, port: {redis_port}, db: 0}}
storages:
  - !disk-storage &cas {{path: "{directory}/cas"}}
caches:
  - !redis-action-cache &results
    storage: *cas
    redis: *redis
    allow-updates: true
    cache-failed-actions: false
    entry-type: action-result-digest
schedulers:
  - !sql-scheduler &scheduler
    sql: *sql
    storage: *cas
    action-cache: *results
    max-execution-timeout: 1800
    bot-session-keepalive-timeout: {keepalive}
    poll-interval: 0.2
    bot-poll-interval: 0.2
    property-set: !dynamic-property-set
      match-property-keys: [ISA, OSFamily]
    assigners:
      - !priority-age-assigner
        count: 1
        interval: 0.2
        priority-assignment-percentage: 100
        bot-assignment-strategy: !assign-by-capacity {{}}
instances:
  - name: ""
    services:
      - !cas {{storage: *cas}}
      - !bytestream {{storage: *cas}}
      - !action-cache {{cache: *results}}
      - !execution {{scheduler: *scheduler}}
"""


class BuildGrid:
    """The service, and its workers."""

    def __init__(self, root: Path, programs: Path, directory: Path) -> None:
        self._root = root
        self._programs = programs
        self.directory = directory
        self.url = f"grpc://127.0.0.1:{PORT}"
        self.workers: list[Worker] = []
        self._database = f"postgresql+psycopg2://bgd@/postgres?host={directory}/postgres"
        configuration = directory / "buildgrid.yml"
        directory.mkdir(parents=True)
        values = {"port": PORT, "database": self._database, "redis_port": REDIS_PORT, "keepalive": KEEPALIVE}
        configuration.write_text(CONFIGURATION.format(**values, directory=directory))
        self._below = [self._postgres(), self._redis()]
        command = [str(programs / "bgd"), "server", "start", str(configuration)]
        self.server = Server("BuildGrid", command, directory / "server.log", port_is_open(PORT))

    def _postgres(self) -> Server:
        """Make a database; PostgreSQL refuses to run as root."""
        data, sockets = self.directory / "data", self.directory / "postgres"
        users = [line.split(":") for line in (self._root / "etc/passwd").read_text().splitlines()]
        user = next(user for user in users if user[0] == "postgres")
        owner, group = int(user[2]), int(user[3])
        for place in (data, sockets):
            place.mkdir(mode=0o700)
            shutil.chown(place, owner, group)
        binaries = sorted((self._root / "usr/lib/postgresql").glob("*/bin"))[-1]
        programs = f"/{binaries.relative_to(self._root)}"
        drop = ("setpriv", f"--reuid={owner}", f"--regid={group}", "--clear-groups")
        options = ("--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8", "--username=bgd")
        subprocess.run(
            in_root(self._root, *drop, f"{programs}/initdb", f"--pgdata={data}", *options),
            check=True,
            capture_output=True,
        )
        settings = ("listen_addresses=", "fsync=off", "synchronous_commit=off", "full_page_writes=off")
        flags = [flag for setting in settings for flag in ("-c", setting)]
        command = in_root(self._root, *drop, f"{programs}/postgres", "-D", str(data), "-k", str(sockets), *flags)
        return Server("PostgreSQL", command, self.directory / "postgres.log", (sockets / ".s.PGSQL.5432").exists)

    def _redis(self) -> Server:
        place = self.directory / "redis"
        place.mkdir()
        options = ("--bind", "127.0.0.1", "--port", str(REDIS_PORT), "--dir", str(place), "--save", "")
        command = in_root(self._root, "redis-server", *options, "--appendonly", "yes", "--appendfsync", "no")
        return Server("Redis", command, self.directory / "redis.log", port_is_open(REDIS_PORT))

    def add_worker(self) -> Worker:
        """Start another worker, which runs one action at a time."""
        name = f"worker{len(self.workers) + 1}"
        worker = Worker(self._root, self.directory, name, f"http://127.0.0.1:{PORT}", PLATFORM)
        self.workers.append(worker)
        return worker.start()

    def __enter__(self) -> "BuildGrid":
        try:
            for server in self._below:
                server.start()
            migrate = [str(self._programs / "bgd"), "migrate", "apply", self._database]
            subprocess.run(migrate, check=True, capture_output=True)
            self.server.start()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End everything."""
        for worker in self.workers:
            worker.stop()
        for server in [self.server, *reversed(self._below)]:
            server.stop()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def make_programs(folder: Path) -> Path:
    """Install the locked BuildGrid into a virtual environment; return the directory of its programs."""
    if not (folder / "bin/bgd").exists():
        subprocess.run(["python3", "-m", "venv", folder], check=True)
        lock = Path(__file__).with_name("requirements.txt")
        pip = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(lock)]
        subprocess.run(pip, check=True, env=os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"})
    return folder / "bin"
