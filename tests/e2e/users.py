#!/usr/bin/env python3
"""Jobs of another user, and secrets of jobs, on a real instance. Needs root; the other users are
bare numbers, so nothing has to be made or removed on the host. One table; each row is a function.

    users.py [NAME...]
"""
import hashlib
import json
import os
import pwd
import signal
import subprocess
import sys
import tempfile
import threading

from instance import PERDURE, Instance, Refused, environment_of, run_cli
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

    def processes_of(self, job, epoch):
        wanted = {f"PERDURE_JOB={job}".encode(), f"PERDURE_EPOCH={epoch}".encode()}
        return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
                if wanted <= set(environment_of(pid))]

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


def command_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


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
    plain = ("setpriv", f"--reuid={SERVER}", f"--regid={SERVER}", "--clear-groups")
    with tempfile.TemporaryDirectory() as own:
        os.chown(own, SERVER, SERVER)
        said = refusal("--state", own + "/state", "--user", str(JOB), prefix=plain)
        expect("CAP_SETUID, CAP_SETGID, CAP_KILL, CAP_CHOWN" in said, said)
        said = refusal("--state", own + "/state", "--user", "submitter", prefix=plain)
        expect("CAP_SETUID, CAP_SETGID, CAP_KILL, CAP_CHOWN" in said, said)
    os.chmod(host.directory, 0o700)
    said = refusal(*host.args)
    expect(f"may not pass {host.directory}" in said, said)


# --- jobs of whoever submitted them ---------------------------------------------------------------

SUBMITTER = pwd.getpwnam("daemon")  # accounts that every host has
OTHER = pwd.getpwnam("games")

ASK = """
import http.client, json, sys
port, method, path, body, token = json.loads(sys.argv[1])
c = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
headers = {"Content-Type": "application/json"}
if token: headers["Authorization"] = "Bearer " + token
c.request(method, path, json.dumps(body) if body is not None else None, headers)
a = c.getresponse()
print(a.status, a.read().decode())
"""


def ask_as(account, host, method, path, body=None, token=None):
    done = subprocess.run(
        ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups",
         sys.executable, "-c", ASK, json.dumps([host.port, method, path, body, token])],
        capture_output=True, text=True, timeout=30, cwd="/", check=False)
    status, _, text = done.stdout.partition(" ")
    expect(status.isdigit(), done.stdout, done.stderr)
    return int(status), json.loads(text)


def submit_as(account, host, script, **fields):
    status, made = ask_as(account, host, "POST", "/v1/jobs",
                          {"argv": ["sh", "-c", script], "policy": "never", **fields})
    expect(status == 201, status, made)
    return made["id"]


def as_submitters(host, *more):
    host.args = ["--state", host.state, "--user", "submitter", "--allow-user", "daemon,games",
                 *more]
    host.start()


def ended(host, job):
    host.wait_until_ended([job], 40)
    return host.job(job)


def why(host, job):
    return json.dumps(host.insist("GET", f"/v1/jobs/{job}/why")["blockers"])


@TABLE.row
def each_job_runs_as_whoever_submitted_it(host):
    as_submitters(host)
    for account in (SUBMITTER, OTHER):
        job = ended(host, submit_as(account, host, "id -u; id -g; echo $USER; stat -c %u ."))
        exits(job, 0)
        expect(host.output(job).split() == [str(account.pw_uid), str(account.pw_gid),
                                            account.pw_name, str(account.pw_uid)],
               host.output(job))
        expect(job["submitted_by"] == {"name": account.pw_name, "uid": account.pw_uid}, job)
    shown = run_cli(host, "job", "show", job["id"]).stdout
    expect(f"games (uid {OTHER.pw_uid})" in shown and "submitted by games" in shown, shown)
    expect("games" in run_cli(host, "jobs").stdout, run_cli(host, "jobs").stdout)


@TABLE.row
def nobody_names_another_submitter(host):
    as_submitters(host)
    for body in ({"argv": ["id"], "submitted_by": {"name": "root", "uid": 0}},
                 {"argv": ["id"], "parent": {"job": "0000000000001", "epoch": 1}}):
        status, said = ask_as(SUBMITTER, host, "POST", "/v1/jobs", body)
        expect(status == 400, status, said)
    # A callback on another's job is one's own; a retry of another's job is theirs.
    job = submit_as(OTHER, host, "exit 0", delay="2s")
    status, said = ask_as(SUBMITTER, host, "POST", f"/v1/jobs/{job}/callbacks",
                          {"on": "end", "job": {"argv": ["id", "-u"]}})
    expect(status == 201, status, said)
    made = ended(host, job)["callbacks"][0]["made"][0]["job"]
    expect(host.output(ended(host, made)).strip() == str(SUBMITTER.pw_uid), host.job(made))
    status, again = ask_as(SUBMITTER, host, "POST", f"/v1/jobs/{job}/retry")
    expect(status == 201, again)
    expect(ended(host, again["id"])["submitted_by"]["name"] == "games", host.job(again["id"]))


@TABLE.row
def who_has_no_account_is_not_run_and_why_says_so(host):
    as_submitters(host)
    token = run_cli(host, "token", "create", "deploy", "--role", "submitter").stdout.strip()
    by_token = submit_as(SUBMITTER, host, "id -u", tenant="default")
    status, made = ask_as(SUBMITTER, host, "POST", "/v1/jobs", {"argv": ["id"]}, token)
    expect(status == 201, made)
    by_root = host.submit({"argv": ["id"]})
    ended(host, by_token)
    for job, name in ((made["id"], "token deploy"), (by_root, "root")):
        said = why(host, job)
        expect("each job as whoever submitted it" in said and name in said, said)
        expect(host.job(job)["state"] == "ready" and not host.job(job)["attempts"], host.job(job))


@TABLE.row
def jobs_of_root_run_only_if_that_is_allowed(host):
    as_submitters(host, "--set", "worker.root_submitters=true")
    job = ended(host, host.submit({"argv": ["id", "-u"], "policy": "never"}))
    expect(host.output(job).strip() == "0", host.output(job))


# --- a job that submits others --------------------------------------------------------------------

INSIDE = {"PATH": os.path.dirname(PERDURE) + ":/usr/bin:/bin"}


@TABLE.row
def a_job_submits_waits_and_cancels_through_its_socket(host):
    host.start()
    stranger = host.submit({"argv": ["sleep", "1000"], "delay": "1h"})
    script = ("set -e; a=$(perdure submit -- sh -c 'exit 5'); set +e; "
              "perdure job wait $a; echo waited $?; "
              "b=$(perdure submit --delay 1h -- true); perdure job cancel $b; echo cancelled $?; "
              f"perdure job cancel {stranger}; echo stranger $?; perdure jobs; echo jobs $?; "
              "echo children $a $b; exit 0")
    job = host.run(script, env=INSIDE)
    said = host.output(job)
    exits(job, 0, said)
    expect("waited 5" in said and "cancelled 0" in said, said)
    expect("stranger 0" not in said and "jobs 0" not in said, said)
    children = said.split("children ")[1].split()[:2]
    for child in map(host.job, children):
        expect(child["parent"] == {"job": job["id"], "epoch": 1}, child)
        expect(child["submitted_by"] == job["submitted_by"] == {"name": "root", "uid": 0}, child)
    expect(host.job(children[1])["state"] == "cancelled", host.job(children[1]))
    expect(host.job(children[1])["acts"][0]["by"] == "root", host.job(children[1]))
    expect(host.job(stranger)["state"] == "scheduled", host.job(stranger))
    shown = run_cli(host, "job", "show", children[0]).stdout
    expect(f"{job['id']}, attempt 1" in shown, shown)


@TABLE.row
def what_a_job_submits_survives_the_death_of_its_worker_once(host):
    """The worker is stopped while it is asked, and killed: the next one is asked again."""
    host.start()
    job = host.submit({"argv": ["sh", "-c", f"touch {host.theirs}/up; "
                                f"while [ ! -e {host.theirs}/go ]; do sleep 0.05; done; "
                                f"perdure submit -- true >{host.theirs}/id 2>{host.theirs}/said; "
                                f"echo $? >{host.theirs}/code; sleep 1000"],
                       "env": INSIDE})
    until("the job to run", lambda: os.path.exists(host.theirs + "/up"))
    old = host.pids("worker")
    os.kill(old[0], signal.SIGSTOP)
    with open(host.theirs + "/go", "w", encoding="utf-8"):
        pass
    until("the job to ask", lambda: any(b"submit" in part for pid in host.processes_of_jobs()
                                        for part in command_of(pid)))
    os.kill(old[0], signal.SIGKILL)
    until("its answer", lambda: os.path.exists(host.theirs + "/code"))
    with open(host.theirs + "/id", encoding="utf-8") as file:
        child = file.read().strip()
    shown = host.job(child)
    expect(shown["parent"] == {"job": job, "epoch": 1}, shown)
    same = [each for each in host.insist("GET", "/v1/jobs")["jobs"]
            if each.get("parent", {}).get("job") == job]
    expect(len(same) == 1, same)
    expect(len(host.job(job)["attempts"]) == 1, "it was adopted")


@TABLE.row
def a_replaced_attempt_submits_nothing(host):
    """Its worker is stopped until its lease is over and another one has the job; then its process,
    which still lives, asks."""
    host.args += ["--set", "timing.heartbeat=1s", "--set", "timing.lease=5s",
                  "--set", "timing.hold=1s"]
    host.start()
    script = (f"touch {host.theirs}/up-$PERDURE_EPOCH; "
              f"while [ ! -e {host.theirs}/go ]; do sleep 0.05; done; "
              f"perdure submit -- true >{host.theirs}/id-$PERDURE_EPOCH "
              f"2>{host.theirs}/said-$PERDURE_EPOCH; sleep 1000")
    job = host.submit({"argv": ["sh", "-c", script], "env": INSIDE, "policy": "forever"})
    until("the job to run", lambda: os.path.exists(host.theirs + "/up-1"))
    shown = host.job(job)
    session = shown["session"]
    old = host.pids("worker")
    os.kill(old[0], signal.SIGSTOP)
    second = subprocess.Popen(
        [PERDURE, "worker", "--server", f"http://127.0.0.1:{host.port}", "--name", "second",
         "--state", host.directory + "/second", "--user", str(JOB)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=dict(os.environ, HOME=host.directory,
                 **dict([host.marker.split("=", 1)])), cwd="/")
    try:
        until("another attempt", lambda: os.path.exists(host.theirs + "/up-2"), 60)
        # What the old worker would say for it, said now: the server's answer is certain.
        for path, body in (("/v1/jobs", {"argv": ["touch", host.theirs + "/child"]}),
                           (f"/v1/jobs/{job}/cancel", None)):
            try:
                host.ask("POST", "/v1/worker/inside",
                         {"session": session, "job": job, "epoch": 1, "number": 1,
                          "method": "POST", "target": path,
                          "body": json.dumps(body) if body else ""})
                raise AssertionError("a replaced attempt was answered")
            except Refused as refused:
                expect(refused.code == "fenced", refused.code)
        with open(host.theirs + "/go", "w", encoding="utf-8"):
            pass
        os.kill(old[0], signal.SIGCONT)
        until("the new attempt to submit", lambda: os.path.exists(host.theirs + "/id-2") and
              os.path.getsize(host.theirs + "/id-2"))
        until("the old one to be gone", lambda: host.processes_of(job, 1) == [])
        made = [each for each in host.insist("GET", "/v1/jobs")["jobs"]
                if each.get("parent", {}).get("job") == job]
        expect([each["parent"]["epoch"] for each in made] == [2], made)
    finally:
        second.terminate()
        second.wait(60)


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
