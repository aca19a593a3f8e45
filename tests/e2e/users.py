#!/usr/bin/env python3
"""Jobs of another user, and secrets of jobs, on a real instance. Needs root; the other users are
bare numbers, so nothing has to be made or removed on the host. One table; each row is a function.

    users.py [NAME...]
"""
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import threading

from instance import PERDURE, Instance, environment_of, run_cli
from table import Table, expect, until

SERVER = 54320  # the server's user, where it is another one
JOB = 54321     # the jobs' user


class Host(Instance):
    """`perdure up` as root with jobs as JOB, whose state they can reach."""

    def __init__(self):
        super().__init__(slots=4)
        os.chmod(self.directory, 0o711)
        self.theirs = os.path.join(self.directory, "theirs")
        os.mkdir(self.theirs)
        os.chown(self.theirs, JOB, JOB)
        self.state = os.path.join(self.directory, "state")
        self.args = ["--state", self.state, "--user", str(JOB)]

    def run(self, script, **fields):
        """The job, when it has ended."""
        job = self.submit({"argv": ["sh", "-c", script], "policy": "never", **fields})
        self.wait_until_ended([job], 40)
        return self.job(job)

    def output(self, job):
        return run_cli(self, "logs", job["id"]).stdout

    def processes_of_jobs(self):
        return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
                if uid_of(pid) == JOB and any(self.directory.encode() in part
                                              for part in environment_of(pid))]

    def files_of_jobs(self):
        found = []
        for folder, folders, files in os.walk(self.state):
            for name in folders + files:
                path = os.path.join(folder, name)
                try:
                    if os.lstat(path).st_uid == JOB:
                        found.append(path)
                except FileNotFoundError:
                    pass
        return found


def uid_of(pid):
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return None


TABLE = Table(lambda row: Host(), is_started=False)


def exits(job, code, *facts):
    end = job["attempts"][-1]
    expect(end.get("cause") == "exit" and end.get("exit_code") == code, end, *facts)


@TABLE.row
def runs_as_that_user_in_a_folder_of_its_own(host):
    host.start()
    job = host.run("id -u; id -g; id -G; stat -c %u . \"$PERDURE_SOCKET\"; echo x >file; "
                   "perdure progress 40 half; echo '{\"a\":1}' >\"$PERDURE_RESULT\"",
                   env={"PATH": os.path.dirname(PERDURE) + ":/usr/bin:/bin"})
    exits(job, 0, host.output(job))
    expect(host.output(job).split() == [str(JOB)] * 5, host.output(job))
    expect(job["result"] == {"a": 1}, job.get("result"))


@TABLE.row
def reads_neither_database_nor_secrets(host):
    host.start()
    secrets = os.path.join(host.directory, "data", "job-secrets")
    os.makedirs(secrets, mode=0o700)
    job = host.run(f"d={host.directory}/data; cat $d/perdure.db; cat $d/job-secrets/x; ls $d; "
                   f"ls {host.state}; ls {host.state}/attempts; exit 7")
    exits(job, 7)
    said = host.output(job)
    expect(said.count("Permission denied") == 5 and "SQLite" not in said, said)


@TABLE.row
def cannot_forge_a_result_or_a_start(host):
    host.start()
    job = host.run("d=$(dirname \"$PERDURE_SOCKET\"); echo '{\"version\":1}' >$d/result.json; "
                   "echo x >$d/result.json.new; rm -f $d/started $d/order; mv $d/work $d/other; "
                   "echo x >>$d/output; echo x >$d/shim; exit 7")
    exits(job, 7)
    said = host.output(job)
    expect(said.count("Permission denied") == 7, said)


@TABLE.row
def cannot_kill_shim_worker_server_or_watchdog(host):
    host.start()
    before = {role: host.pids(role) for role in ("watchdog", "server", "worker")}
    pids = " ".join(str(pid) for all_of_role in before.values() for pid in all_of_role)
    job = host.run(f"for p in $PPID {pids}; do kill -9 $p; done; exit 7")
    exits(job, 7)
    expect(host.output(job).count("not permitted") == 4, host.output(job))
    after = {role: host.pids(role) for role in before}
    expect(before == after, before, after)


@TABLE.row
def leaves_no_process_behind(host):
    host.start()
    job = host.run("for i in 1 2 3; do "
                   "setsid sh -c 'trap \"\" TERM HUP; sleep 1000 & wait' & done; sleep 0.2; exit 7")
    exits(job, 7)
    expect(not host.processes_of_jobs(), host.processes_of_jobs())


@TABLE.row
def leaves_no_file_behind(host):
    victim = os.path.join(host.directory, "victim")
    os.mkdir(victim, 0o755)
    with open(os.path.join(victim, "file"), "w", encoding="utf-8") as file:
        file.write("kept")
    host.start()
    job = host.run(f"mkdir -p a/b/c; ln -s {victim} a/link; ln -s {victim}/file link; mkfifo pipe; "
                   "echo x >a/b/c/file; chmod 0 a/b/c a/b a; exit 7")
    exits(job, 7)
    until("the files to be gone", lambda: not host.files_of_jobs())
    about = os.stat(victim)
    expect(about.st_uid == 0 and about.st_mode & 0o777 == 0o755, about)
    expect(os.path.exists(os.path.join(victim, "file")))
    again = host.run("ls -A")
    expect(host.output(again) == "", host.output(again))


@TABLE.row
def a_running_job_is_adopted_and_can_be_cancelled(host):
    host.start()
    job = host.submit({"argv": ["sh", "-c", f"echo $$ >{host.theirs}/pid; sleep 1000"]})
    until("the job to run", lambda: os.path.exists(host.theirs + "/pid") and
          host.job(job)["state"] == "running")
    with open(host.theirs + "/pid", encoding="utf-8") as file:
        pid = int(file.read())
    old = host.pids("worker")
    os.kill(old[0], signal.SIGKILL)
    until("another worker", lambda: host.pids("worker") and host.pids("worker") != old)
    until("the job to be adopted", lambda: host.job(job)["state"] == "running")
    expect(uid_of(pid) == JOB, pid, uid_of(pid))
    host.insist("POST", f"/v1/jobs/{job}/cancel")
    host.wait_until_ended([job], 40)
    shown = host.job(job)
    expect(shown["state"] == "cancelled" and len(shown["attempts"]) == 1, shown)
    expect(uid_of(pid) is None, "it lives")


@TABLE.row
def a_job_dies_with_its_shim(host):
    host.start()
    job = host.submit({"argv": ["sh", "-c", f"echo $$ $PPID >{host.theirs}/pid; sleep 1000"],
                       "policy": "never"})
    until("the job to run", lambda: os.path.exists(host.theirs + "/pid") and
          os.path.getsize(host.theirs + "/pid"))
    with open(host.theirs + "/pid", encoding="utf-8") as file:
        pid, shim = map(int, file.read().split())
    os.kill(shim, signal.SIGKILL)
    host.wait_until_ended([job], 40)
    expect(host.job(job)["attempts"][-1]["cause"] == "shim_lost", host.job(job))
    expect(uid_of(pid) is None, "it lives")


@TABLE.row
def a_limit_of_memory_holds(host):
    host.start()
    told = until("the worker to say what it can limit",
                 lambda: [line for line in host.said if "limits: " in line])[0]
    if "memory" not in told.partition("limits: ")[2]:
        return "memory cannot be limited here"
    # One line without an end: `tail` keeps all of it.
    job = host.run("head -c 200M /dev/zero | tail >file", resources={"memory": "50MiB"})
    exits(job, 128 + signal.SIGKILL)
    return None


@TABLE.row
def server_and_worker_are_different_users(host):
    os.environ["PERDURE_SERVER_USERS"] = str(SERVER)  # whose server worker and commands believe
    data = os.path.join(host.directory, "data")
    os.mkdir(data, 0o700)
    os.chown(data, SERVER, SERVER)
    marker, _, value = host.marker.partition("=")
    host.process = subprocess.Popen(
        ["setpriv", f"--reuid={SERVER}", f"--regid={SERVER}", "--clear-groups", PERDURE, "server",
         "--data", data, "--listen", "127.0.0.1:0"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env=dict(os.environ, HOME=data, **{marker: value}), cwd="/")
    threading.Thread(target=host._listen, args=(host.process,), daemon=True).start()
    expect(host.ready.wait(20), "the server is not ready", host.said)
    worker = subprocess.Popen(
        [PERDURE, "worker", "--server", f"http://127.0.0.1:{host.port}", *host.args],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=dict(os.environ, HOME=host.directory, **{marker: value}), cwd="/")
    try:
        job = host.run(f"id -u; cat {data}/perdure.db; exit 7")
        exits(job, 7)
        until("its output", lambda: "Permission denied" in host.output(job))
        expect(host.output(job).startswith(str(JOB)), host.output(job))
    finally:
        worker.terminate()
        worker.wait(60)


@TABLE.row
def what_cannot_be_is_refused_with_a_sentence(host):
    def refusal(*args, prefix=()):
        told = subprocess.run([*prefix, PERDURE, "worker", "--server", "http://127.0.0.1:1", *args],
                              capture_output=True, text=True, timeout=30, cwd="/", check=False,
                              env=dict(os.environ, HOME=host.directory))
        expect(told.returncode == 2, told)
        return told.stderr

    state = ("--state", host.state)
    expect("no user `no-such-user`" in refusal(*state, "--user", "no-such-user"))
    expect("submitter" in refusal(*state, "--user", "submitter"))
    plain = ("setpriv", f"--reuid={SERVER}", f"--regid={SERVER}", "--clear-groups")
    with tempfile.TemporaryDirectory() as own:
        os.chown(own, SERVER, SERVER)
        said = refusal("--state", own + "/state", "--user", str(JOB), prefix=plain)
        expect("CAP_SETUID, CAP_SETGID, CAP_KILL, CAP_CHOWN" in said, said)
    os.chmod(host.directory, 0o700)
    said = refusal(*host.args)
    expect(f"may not pass {host.directory}" in said, said)


# --- secrets ------------------------------------------------------------------------------------


@TABLE.row
def a_secret_reaches_the_job_and_nothing_else(host):
    host.start()
    secrets = os.path.join(host.directory, "data", "job-secrets")
    os.makedirs(secrets, mode=0o700)
    for name, text in (("db", "hunter2\n"), ("db.allow", "queue=billing\n")):
        with open(os.path.join(secrets, name), "w", encoding="utf-8",
                  opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(text)
    wanted = {"env": {"V": "secret://db", "TOKEN": "hunter3"}, "queue": "billing"}
    digest = hashlib.sha256(b"hunter2hunter3").hexdigest()  # the command is in the order, too
    script = (f"printf %s \"$V$TOKEN\" | sha256sum | grep -q {digest} || exit 9; "
              f"touch {host.theirs}/up; sleep 1000")
    job = host.submit({"argv": ["sh", "-c", script], **wanted})
    until("the job to run", lambda: os.path.exists(host.theirs + "/up"))
    grep = ["grep", "-rlaE", "hunter[23]", host.state]
    expect(subprocess.run(grep, stdout=subprocess.DEVNULL, check=False).returncode == 1)
    host.insist("POST", f"/v1/jobs/{job}/cancel")
    host.wait_until_ended([job], 40)
    expect(subprocess.run(grep, stdout=subprocess.DEVNULL, check=False).returncode == 1)
    database = ["grep", "-la", "hunter2", host.directory + "/data/perdure.db",
                host.directory + "/data/perdure.db-wal"]
    expect(subprocess.run(database, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode != 0, "the secret is in the database")
    expect(host.job(job)["env"] == {"V": "secret://db", "TOKEN": "(masked)"}, host.job(job))
    refused = host.run("true", env={"V": "secret://db"})
    end = refused["attempts"][-1]
    expect(end["cause"] == "command_unusable" and "not for this job" in end["evidence"]["detail"],
           end)


if os.geteuid() != 0:
    print("needs root: nothing was tried")
    sys.exit(0)
TABLE.main()
