#!/usr/bin/env python3
"""What bad input and bad surroundings get: a stable code, a sentence that says what to do, nothing
stored, nothing lost, and the process lives. One table; each row is a function that says what is
wrong, or nothing. (What bad requests get over HTTP is tests/wire/bad_input_test.cpp.)

    bad_input.py [NAME...]
"""
import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import time

from instance import ENDED, PERDURE, Refused, Unreachable, database, is_alive, run_cli
from table import Table, expect

TABLE = Table(is_started=False)


def perdure(*args, directory=".", timeout=30, env=None):
    return subprocess.run([PERDURE, *args], capture_output=True, text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, cwd=directory,
                          env=dict(os.environ, **(env or {})))


def refused_start(result, *words, codes=(2, 3, 4, 8, 75)):
    """A process that refused to start: at once, with a code and all these words."""
    expect(result.returncode in codes, "exit code", result.returncode, result.stderr)
    for word in words:
        expect(word in result.stderr, f"`{word}` is missing in:", result.stderr)
    expect("terminate" not in result.stderr and "bug" not in result.stderr, result.stderr)


def up(instance, *args):
    return perdure("up", "--data", instance.directory + "/data", "--listen", "127.0.0.1:0", *args,
                   directory=instance.directory)


# --- starting -----------------------------------------------------------------------------------


@TABLE.row
def a_second_server_on_the_same_directory(instance):
    instance.start()
    refused_start(up(instance), instance.directory, codes=(4,))
    instance.submit({"argv": ["true"]})


@TABLE.row
def a_database_file_of_something_else(instance):
    os.mkdir(instance.directory + "/data")
    foreign = sqlite3.connect(instance.directory + "/data/perdure.db")
    foreign.execute("CREATE TABLE cat (name)")
    foreign.commit()
    foreign.close()
    refused_start(up(instance), "perdure.db", codes=(8,))
    kept = sqlite3.connect(instance.directory + "/data/perdure.db")
    expect(kept.execute("SELECT count(*) FROM cat").fetchone() == (0,), "the file was changed")


@TABLE.row
def a_database_that_is_no_database(instance):
    os.mkdir(instance.directory + "/data")
    with open(instance.directory + "/data/perdure.db", "w") as file:
        file.write("a letter to a friend\n" * 500)
    refused_start(up(instance), "perdure.db", codes=(8,))


@TABLE.row
def a_busy_port(instance):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = perdure("up", "--data", instance.directory + "/data", "--listen",
                         f"127.0.0.1:{port}")
    refused_start(result, str(port), codes=(4,))


@TABLE.row
def an_address_that_others_can_reach(instance):
    refused_start(perdure("up", "--data", instance.directory + "/data", "--listen", "0.0.0.0:0"),
                  "0.0.0.0", codes=(2,))


@TABLE.row
def a_config_with_an_unknown_key(instance):
    config(instance, '[worker]\nslots = 3\nslotz = 4\n')
    refused_start(perdure("config", directory=instance.directory), "perdure.toml", "3", "slotz",
                  "slots", codes=(2,))


@TABLE.row
def a_truncated_config(instance):
    config(instance, '[worker\nslots = ')
    refused_start(perdure("config", directory=instance.directory), "perdure.toml", codes=(2,))


@TABLE.row
def a_foreign_config(instance):
    config(instance, "<html>\0\1\2</html>")
    refused_start(perdure("config", directory=instance.directory), "perdure.toml", codes=(2,))


def config(instance, text):
    with open(instance.directory + "/perdure.toml", "w") as file:
        file.write(text)


@TABLE.row
def a_data_directory_that_is_a_file(instance):
    open(instance.directory + "/data", "w").close()
    refused_start(up(instance), "data")


# --- disks --------------------------------------------------------------------------------------


def mounted(instance, options):
    os.mkdir(instance.directory + "/data")
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", instance.directory + "/data"],
                   check=True)


def unmount(instance):
    subprocess.run(["umount", "-l", instance.directory + "/data"], check=False)


@TABLE.row
def a_full_disk_and_then_room_again(instance):
    mounted(instance, "size=24m,mode=0700")
    try:
        instance.start()
        before = instance.submit({"argv": ["true"]})
        instance.wait_until_ended([before], 20)
        fill(instance.directory + "/data/ballast")
        refusal = refused_submits(instance)
        expect(refusal is None or refusal.status == 503, refusal)
        expect(refusal is None or "disk" in str(refusal), refusal)
        os.remove(instance.directory + "/data/ballast")
        began = time.monotonic()
        after = instance.submit({"argv": ["true"]}, patience=10)
        instance.wait_until_ended([after], 20)
        expect(time.monotonic() - began < 10, "normal again only after", time.monotonic() - began)
        expect(instance.job(before)["state"] == "succeeded", "lost", before)
    finally:
        instance.process.kill()
        unmount(instance)


def fill(path):
    with open(path, "wb") as file:
        try:
            while True:
                file.write(b"x" * 65536)
                file.flush()
        except OSError:
            pass


def refused_submits(instance):
    """Submits until one is refused; each answer must come within 5 s."""
    for _ in range(200):
        began = time.monotonic()
        try:
            instance.ask("POST", "/v1/jobs", {"argv": ["true"], "args": "x" * 30000}, timeout=6)
        except Refused as refused:
            expect(time.monotonic() - began < 5.5, "refused after", time.monotonic() - began)
            return refused
        except Unreachable:
            return None  # the server has gone and comes back
    raise AssertionError("nothing was refused on a full disk")


@TABLE.row
def a_read_only_disk(instance):
    mounted(instance, "size=8m,ro,mode=0700")
    try:
        refused_start(up(instance), "data")
    finally:
        unmount(instance)


# --- jobs ---------------------------------------------------------------------------------------


def ended(instance, job, patience=60):
    identity = instance.submit(job)
    instance.wait_until_ended([identity], patience)
    return instance.job(identity)


def log_of(instance, job):
    log = b""
    while True:
        piece = instance.ask("GET", f"/v1/jobs/{job['id']}/logs?offset={len(log)}")
        if not piece:
            return log
        log += piece


def unusable(instance, argv, *words):
    job = ended(instance, {"argv": argv})
    expect(job["state"] == "failed" and job["cause"] == "command_unusable", json.dumps(job))
    text = json.dumps(job)
    for word in words:
        expect(word in text, f"`{word}` is missing in:", text)


@TABLE.row
def a_command_that_does_not_exist(instance):
    unusable(instance.start(), ["no-such-command"], "no-such-command")


@TABLE.row
def a_command_that_is_a_directory(instance):
    unusable(instance.start(), ["/usr"], "directory")


@TABLE.row
def a_command_without_the_run_bit(instance):
    path = instance.directory + "/plain"
    open(path, "w").close()
    unusable(instance.start(), [path], "executable")


@TABLE.row
def a_working_directory_that_is_not_there(instance):
    instance.start()
    job = ended(instance, {"argv": ["true"], "cwd": "/no/such/folder"})
    expect(job["cause"] == "command_unusable" and "/no/such/folder" in json.dumps(job), job)


@TABLE.row
def a_job_that_prints_a_gigabyte(instance):
    instance.start()
    job = ended(instance, {"argv": ["sh", "-c", "yes | head -c 1000000000; echo the end"],
                           "output_max": 1 << 20})
    expect(job["state"] == "succeeded", job)
    log = log_of(instance, job)
    expect(len(log) < (1 << 20) + 1000, "kept", len(log))
    expect(log.startswith(b"y\ny\n") and log.endswith(b"the end\n"), log[:20], log[-20:])


@TABLE.row
def a_job_that_prints_binary_without_a_newline(instance):
    instance.start()
    job = ended(instance, {"argv": ["sh", "-c", r"printf '\000\377\001abc'"]})
    log = log_of(instance, job)
    expect(log == b"\0\xff\1abc", log)


@TABLE.row
def a_job_that_prints_much_that_is_no_text(instance):
    """Its end is reported, and so are the ends of those that are reported with it."""
    instance.start()
    zeros = instance.submit({"argv": ["head", "-c", "20000", "/dev/zero"]})
    bytes_ = instance.submit({"argv": ["sh", "-c", r"head -c 20000 /dev/zero | tr '\\0' '\\377'"]})
    others = [instance.submit({"argv": ["true"]}) for _ in range(5)]
    for job in instance.wait_until_ended([zeros, bytes_, *others], 60).values():
        expect(job["state"] == "succeeded", job)
    expect(log_of(instance, {"id": zeros}) == b"\0" * 20000, "the zeros are not there")


@TABLE.row
def an_id_that_does_not_exist(instance):
    instance.start()
    result = run_cli(instance, "job", "show", "0000000000000")
    expect(result.returncode == 3, result)


def open_session(instance, machine):
    """A worker that nobody has started: what it knows, it has from the protocol's page."""
    directory = {"machine": machine, "boot": "b", "device": 1, "inode": 1}
    opening = {"protocol": 1, "directory": directory, "life": 1, "worker": machine, "slots": 1,
               "offer": {"tenant": "default", "queues": ["nothing"]}, "on_disk": []}
    return instance.ask("POST", "/v1/worker/open", opening)["session"]


def send_output(instance, session, job, text):
    head = {"job": job, "epoch": 1, "offset": 5, "size": len(text)}
    body = json.dumps(head, separators=(",", ":")).encode() + b"\n" + text
    connection = http.client.HTTPConnection("127.0.0.1", instance.port, timeout=10)
    connection.request("POST", "/v1/worker/logs?session=" + session, body,
                       {"Content-Type": "application/octet-stream"})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


@TABLE.row
def output_that_another_session_sends(instance):
    """[P2]: what a job has printed comes from the session that runs it, and from nobody else."""
    instance.start()
    job = instance.submit({"argv": ["sh", "-c", "echo mine; exec sleep 600"]})
    deadline = time.monotonic() + 60
    while log_of(instance, {"id": job}) != b"mine\n":
        expect(time.monotonic() < deadline, "its own output has not come")
        time.sleep(0.05)
    status, answer = send_output(instance, open_session(instance, "m1"), job, b"forged\n")
    expect((status, answer) == (200, {"answers": ["fenced"]}), status, answer)
    log = log_of(instance, {"id": job})
    expect(log == b"mine\n", log)
    instance.ask("POST", f"/v1/jobs/{job}/cancel")


# --- what is stored ------------------------------------------------------------------------------


def outcome(instance, job, patience=60):
    deadline = time.monotonic() + patience
    while True:
        shown = instance.job(job)
        if shown["state"] in ENDED:
            return shown
        expect(time.monotonic() < deadline, "it does not end:", json.dumps(shown))
        time.sleep(0.05)


def damage(instance, *statements):
    with database(instance.directory + "/data/perdure.db") as opened:
        for statement, *values in statements:
            changed = opened.execute(statement, values).rowcount
            expect(changed > 0, "nothing was damaged by", statement)


@TABLE.row
def a_corrupt_job_in_the_database(instance):
    """The server starts, twice; each damaged job is shown as damaged; its neighbours run."""
    instance.start()
    instance.ask("POST", "/v1/queues/later/pause")
    done = instance.submit({"argv": ["true"]})
    outcome(instance, done)
    ready, ready_too = (instance.submit({"argv": ["true"], "queue": "later"}) for _ in range(2))
    timed, timed_too = (instance.submit({"argv": ["true"], "delay": "3s"}) for _ in range(2))
    instance.stop()
    with database(instance.directory + "/data/perdure.db") as opened:
        rows = [number for number, in opened.execute("SELECT id FROM job ORDER BY id")]
    expect(len(rows) == 5, rows)
    damage(instance, *[("UPDATE job SET spec = x'ff' WHERE id = ?", rows[n]) for n in (0, 1, 3)])
    for _ in range(2):
        instance.start()
        instance.ask("POST", "/v1/queues/later/resume")
        for job in (ready_too, timed_too):
            expect(outcome(instance, job)["state"] == "succeeded", instance.job(job))
        for job in (done, ready, timed):
            expect(instance.job(job)["state"] == "damaged", instance.job(job))
        expect(outcome(instance, instance.submit({"argv": ["true"]}))["state"] == "succeeded")
        instance.stop()
    checked = perdure("fsck", "--offline", "--data", instance.directory + "/data")
    expect(checked.returncode == 1, checked.returncode, checked.stdout, checked.stderr)
    for job in (done, ready, timed):
        expect(job in checked.stdout, f"fsck does not name {job}:", checked.stdout)


def until_running(instance, *jobs):
    deadline = time.monotonic() + 20
    while any(instance.job(job)["state"] != "running" for job in jobs):
        expect(time.monotonic() < deadline, "they do not start")
        time.sleep(0.05)


@TABLE.row
def a_corrupt_job_that_runs(instance):
    """Its worker goes on with everything else, also the next one; the server lives."""
    instance.start()
    victim = instance.submit({"argv": ["sleep", "4"]})
    neighbour = instance.submit({"argv": ["sh", "-c", "sleep 4; exit 5"]})
    until_running(instance, victim, neighbour)
    # While the watchdog stands still nobody starts the server again: the file is nobody's.
    watchdog, = instance.pids("watchdog")
    os.kill(watchdog, signal.SIGSTOP)
    server, = instance.pids("server")
    os.kill(server, signal.SIGKILL)
    while is_alive(server):
        time.sleep(0.01)
    damage(instance, ("UPDATE job SET spec = x'ff' WHERE id = (SELECT min(id) FROM job)",))
    os.kill(watchdog, signal.SIGCONT)
    shown = outcome(instance, neighbour)
    expect(shown["state"] == "failed" and shown["epoch"] == 1, shown)
    expect(outcome(instance, instance.submit({"argv": ["true"]}))["state"] == "succeeded")
    for pid in instance.pids("worker"):
        os.kill(pid, 9)
    expect(outcome(instance, instance.submit({"argv": ["true"]}))["state"] == "succeeded")


# --- workers --------------------------------------------------------------------------------------


@TABLE.row
def two_workers_with_the_same_name(instance):
    """Names are for people: both work, both are listed, neither disturbs the other."""
    instance.args = ["--name", "twin"]
    instance.slots = 1
    instance.start()
    second = subprocess.Popen(
        [PERDURE, "worker", "--server", f"http://127.0.0.1:{instance.port}", "--name", "twin",
         "--slots", "1", "--state", instance.directory + "/other"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=instance.directory,
        env=dict(os.environ, **dict([instance.marker.split("=")])))
    try:
        deadline = time.monotonic() + 20
        while len(instance.ask("GET", "/v1/workers")["workers"]) < 2:
            expect(time.monotonic() < deadline, "the second one does not come")
            time.sleep(0.05)
        jobs = [instance.submit({"argv": ["sleep", "2"]}) for _ in range(2)]
        until_running(instance, *jobs)
        sessions = {instance.job(job)["session"] for job in jobs}
        expect(len(sessions) == 2, sessions)
        for job in jobs:
            shown = outcome(instance, job)
            expect(shown["state"] == "succeeded" and shown["epoch"] == 1, shown)
    finally:
        second.terminate()
        second.wait(30)


@TABLE.row
def a_second_worker_on_the_same_state(instance):
    instance.start()
    refused_start(perdure("worker", "--server", f"http://127.0.0.1:{instance.port}", "--state",
                          instance.directory + "/data/worker"), "worker", codes=(4,))
    expect(outcome(instance, instance.submit({"argv": ["true"]}))["state"] == "succeeded")


# --- what a job may use, and what it says ------------------------------------------------------


@TABLE.row
def a_limit_that_cannot_be_kept(instance):
    """What nobody can hold to its limits does not run, and says why."""
    instance.start()
    job = instance.submit({"kind": "perdure.noop", "resources": {"processes": 5}})
    shown = outcome(instance, job)
    expect(shown["state"] == "failed" and "cannot limit" in str(shown), shown)
    for wrong in ({"memory": 5}, {"memory": "much"}, {"cpu_percent": 0}, {"threads": 5}):
        try:
            instance.submit({"argv": ["true"], "resources": wrong})
            raise AssertionError(f"{wrong} was accepted")
        except Refused as refused:
            expect(refused.status == 400 and "resources" in str(refused.body), refused.body)


if __name__ == "__main__":
    TABLE.main()
