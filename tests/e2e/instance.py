"""A real Perdure on a directory of its own: started, asked, and killed by pid.

Everything that an instance has started is found through /proc by a marker in the environment, so
that nothing can be left behind unseen, and nothing else can be hit.
"""
import contextlib
import glob
import http.client
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PERDURE = os.environ.get("E2E_PERDURE", os.path.join(ROOT, "build", "bin", "perdure"))


OUR_BUG = re.compile(r"Sanitizer|runtime error: |broken invariant|terminate called|free\(\): |"
                     r"malloc\(\): |corrupted|stack smashing|died by signal (6|7|8|11) ")


class Refused(Exception):
    """An answer that is not 2xx."""

    def __init__(self, status, body):
        error = body.get("error", {}) if isinstance(body, dict) else {}
        super().__init__(f"{status} {error.get('code')}: {error.get('message')}")
        self.status = status
        self.code = error.get("code")
        self.body = body


class Unreachable(Exception):
    """No answer: it may have happened."""


def environment_of(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def name_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def remove_groups(directory):
    """The cgroups of workers whose state lies below: what was killed cannot remove its own."""
    names = set()
    for folder, _, _ in os.walk(directory):
        about = os.stat(folder)
        names.add(f"perdure-{about.st_dev}-{about.st_ino}")
    with open("/proc/self/cgroup") as file:
        own = {line.rstrip("\n").split(":", 2)[2] for line in file}
    for mount in ["/sys/fs/cgroup/", *glob.glob("/sys/fs/cgroup/*/")]:
        for base in {os.path.normpath(mount + path) for path in own}:
            for name in names & set(os.listdir(base) if os.path.isdir(base) else ()):
                remove_group(os.path.join(base, name))


def remove_group(path):
    for folder, _, _ in os.walk(path, topdown=False):
        try:
            os.rmdir(folder)
        except OSError:
            pass  # somebody is in it, or it is gone


class Instance:
    """`perdure up` in a temporary directory."""

    def __init__(self, slots=8, args=()):
        self.directory = tempfile.mkdtemp(prefix="perdure-e2e-")
        self.marker = "E2E_INSTANCE=" + os.path.basename(self.directory)
        self.role = "up"  # or server, without a worker
        self.slots = slots
        self.args = list(args)
        self.environment = {}  # besides ours
        self.port = None
        self.process = None
        self.said = []
        self.ready = threading.Event()

    # --- life ---------------------------------------------------------------------------------

    def start(self, timeout=20):
        name, _, value = self.marker.partition("=")
        listen = f"127.0.0.1:{self.port or 0}"
        self.ready.clear()
        self.process = subprocess.Popen(
            [PERDURE, self.role, "--data", self.directory + "/data", "--listen", listen,
             *(("--slots", str(self.slots)) if self.role == "up" else ()), *self.args],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True, env=dict(os.environ, **self.environment, **{name: value}),
            cwd=self.directory)
        threading.Thread(target=self._listen, args=(self.process,), daemon=True).start()
        if not self.ready.wait(timeout):
            raise AssertionError("not ready in time; it said:\n" + "".join(self.said[-30:]))
        return self

    def _listen(self, process):
        for line in process.stderr:
            self.said.append(line)
            found = re.search(r"ready: http://[^:]+:(\d+)", line)
            if found:
                self.port = int(found.group(1))
                self.ready.set()

    def crashes(self):
        """What only a bug of ours says. The watchdog restarts what dies, so nobody else notices."""
        return [line.rstrip() for line in self.said if OUR_BUG.search(line)]

    def stop(self, timeout=60):
        """SIGTERM, as a person would; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout)

    def remove(self):
        """Whatever happened before: nothing is left."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        deadline = time.monotonic() + 10
        while self.processes() and time.monotonic() < deadline:
            for pid in self.processes():
                kill(pid)
            time.sleep(0.05)
        remove_groups(self.directory)
        shutil.rmtree(self.directory, ignore_errors=True)

    # --- processes ----------------------------------------------------------------------------

    def processes(self):
        """{pid: command line} of all that belongs to this instance, jobs included."""
        marker = self.marker.encode()
        found = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit() and self._is_mine(int(entry), marker) and is_alive(entry):
                found[int(entry)] = name_of(entry)
        return found

    def _is_mine(self, pid, marker):
        environment = environment_of(pid)
        if marker in environment:
            return True
        # Jobs and shims get an environment of their own; their folder tells whose they are.
        here = self.directory
        try:
            if os.readlink(f"/proc/{pid}/cwd").startswith(here):
                return True
        except OSError:
            pass
        return any(here.encode() in entry for entry in environment)

    def pids(self, role):
        """role: watchdog, server, worker or shim."""
        if role == "watchdog":
            return [self.process.pid] if self.process.poll() is None else []
        sign = {"server": " child-server", "worker": " child-worker", "shim": "perdure-shim"}[role]
        return [pid for pid, command in self.processes().items() if sign in command]

    # --- requests -----------------------------------------------------------------------------

    def ask(self, method, path, body=None, timeout=10):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as failure:
            raise Unreachable(str(failure)) from failure
        finally:
            connection.close()
        try:
            parsed = json.loads(text)
        except ValueError:
            parsed = text
        if answer.status >= 300:
            raise Refused(answer.status, parsed)
        return parsed

    def insist(self, method, path, body=None, patience=30):
        """Repeats until there is an answer; for what may be repeated."""
        deadline = time.monotonic() + patience
        while True:
            try:
                return self.ask(method, path, body)
            except (Unreachable, Refused) as failure:
                passing = isinstance(failure, Unreachable) or failure.status in (429, 503, 504)
                if not passing or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def submit(self, job, patience=30):
        return self.insist("POST", "/v1/jobs", job, patience)["id"]

    def job(self, job):
        return self.insist("GET", "/v1/jobs/" + job)

    def jobs(self, **query):
        """All of them, page by page."""
        query = {"limit": 500, **query}
        while True:
            page = self.insist("GET", "/v1/jobs?" + urllib.parse.urlencode(query))
            yield from page["jobs"]
            if "next" not in page:
                return
            query["before"] = page["next"]

    def wait_until_ended(self, jobs, patience):
        """{id: job}; fails with the names of those that have not ended."""
        deadline = time.monotonic() + patience
        missing = set(jobs)
        ended = {}
        while missing:
            for line in list(self.jobs()):
                if line["id"] in missing and line["state"] in ENDED:
                    ended[line["id"]] = line
                    missing.discard(line["id"])
            if missing and time.monotonic() > deadline:
                stuck = [self.job(one) for one in sorted(missing)[:5]]
                raise AssertionError(f"{len(missing)} jobs have not ended, for instance:\n" +
                                     "\n".join(json.dumps(one, indent=1) for one in stuck))
            if missing:
                time.sleep(0.1)
        return ended


ENDED = {"succeeded", "failed", "cancelled", "expired", "quarantined"}


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


@contextlib.contextmanager
def database(path):
    """A database that no server has open, to be changed. Its log stays beside it: who closes a
    database last moves the log into it and removes it, unless that one may only read."""
    reads = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    reads.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    writes = sqlite3.connect(path)
    try:
        yield writes
        writes.commit()
    finally:
        writes.close()
        reads.close()


def run_cli(instance, *args, timeout=60, stdin=""):
    """`perdure ARGS` against this instance."""
    return subprocess.run([PERDURE, *args], input=stdin, text=True, timeout=timeout,
                          capture_output=True, cwd=instance.directory,
                          env=dict(os.environ, PERDURE_SERVER=f"http://127.0.0.1:{instance.port}"))
