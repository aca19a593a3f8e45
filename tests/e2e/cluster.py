"""A PostgreSQL of its own: in a temporary directory, on a unix socket, synced like a real one.
It does not run as root: then it is run as `nobody`. What it has started ends with it."""
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

PROGRAMS = "/usr/lib/postgresql/15/bin"


class Cluster:
    def __init__(self, **settings):
        self.directory = tempfile.mkdtemp(prefix="perdure-pg-")
        self.account = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self.account = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(self.directory, nobody.pw_uid, nobody.pw_gid)
        self.settings = {"listen_addresses": "", "shared_buffers": "32MB", "max_connections": "20",
                         **settings}
        self.process = None
        self.port = "5432"
        self._program("initdb", "--no-sync", "--auth=trust", "--username=postgres",
                      "--encoding=UTF8", "--locale=C.UTF-8", "-D", self.directory + "/data").wait()
        self.start()
        # As managed services give it: no superuser, and nothing but its own database.
        self.sql("CREATE ROLE perdure LOGIN")
        self.sql("CREATE DATABASE jobs OWNER perdure")

    def _program(self, name, *words):
        with open(self.directory + "/log", "ab") as log:
            return subprocess.Popen([f"{PROGRAMS}/{name}", *words], stdin=subprocess.DEVNULL,
                                    stdout=log, stderr=log, cwd=self.directory,
                                    start_new_session=True, **self.account)

    @property
    def uri(self):
        return f"postgres://perdure@/jobs?host={self.directory}"

    def start(self):
        words = [word for name, value in self.settings.items()
                 for word in ("-c", f"{name}={value}")]
        self.process = self._program("postgres", "-D", self.directory + "/data", "-k",
                                     self.directory, *words)
        deadline = time.monotonic() + 30
        while subprocess.run([f"{PROGRAMS}/pg_isready", "-q", "-h", self.directory],
                             check=False).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError("the database does not start:\n" + self.log())
            time.sleep(0.02)

    def log(self):
        with open(self.directory + "/log", errors="replace") as file:
            return "".join(file.readlines()[-20:])

    def stop(self, number=signal.SIGINT):
        """SIGINT: everybody is disconnected; SIGKILL: its backends are killed as well."""
        backends = self._backends() if number == signal.SIGKILL else []
        self.process.send_signal(number)
        for backend in backends:
            try:
                os.kill(backend, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait(30)

    def _backends(self):
        path = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        with open(path) as file:
            return [int(pid) for pid in file.read().split()]

    def psql(self, sql, database="jobs", user="postgres"):
        return [f"{PROGRAMS}/psql", "-qtAX", "-h", self.directory, "-U", user, "-d", database,
                "-v", "ON_ERROR_STOP=1", "-c", sql]

    def sql(self, sql, database="postgres"):
        done = subprocess.run(self.psql(sql, database), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout.strip()

    def remove(self):
        if self.process and self.process.poll() is None:
            self.stop(signal.SIGQUIT)
        shutil.rmtree(self.directory, ignore_errors=True)
