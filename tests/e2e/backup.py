#!/usr/bin/env python3
"""A backup is taken while jobs are submitted and run; it is restored, and compared by id: whatever
was accepted before is in it, in a state that it really had. What is restored runs nothing that
another instance may still run.

    backup.py [NAME...]
"""
import json
import os
import threading
import time

from instance import ENDED, Instance, Refused, run_cli
from table import Table, expect, until

TABLE = Table(lambda _: Instance(slots=4))


def cli(instance, *args):
    done = run_cli(instance, *args)
    return done.returncode, done.stdout + done.stderr


def backed_up(instance, name="backup"):
    path = f"{instance.directory}/{name}"
    done = run_cli(instance, "backup", path, "--json")
    expect(done.returncode == 0, "no backup:", done.stdout, done.stderr)
    return path, json.loads(done.stdout)


def restored(instance, backup, *args):
    """Another instance, not started, with what was restored."""
    other = Instance(slots=4)
    data = other.directory + "/data"
    done = run_cli(instance, "restore", backup, "--data", data, "--json", *args)
    if done.returncode != 0:
        other.remove()
        raise AssertionError("not restored: " + done.stdout + done.stderr)
    # A copy turns workers away.
    other.role = "up" if "--take-over" in args else "server"
    return other, json.loads(done.stdout)


class Load:
    """Submits without a pause until it is told to stop; knows what was accepted, and when."""

    def __init__(self, instance):
        self.instance = instance
        self.accepted = []
        self.slowest = 0
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.ends.is_set():
            began = time.monotonic()
            self.accepted.append(self.instance.submit(
                {"argv": ["echo", f"line {len(self.accepted)}"]}))
            self.slowest = max(self.slowest, time.monotonic() - began)

    def stop(self):
        self.ends.set()
        self.thread.join()


@TABLE.row
def everything_accepted_before_is_in_it_in_a_state_that_it_had(instance):
    load = Load(instance)
    try:
        until("some jobs", lambda: len(load.accepted) > 300)
        before = list(load.accepted)
        ended_before = {job["id"]: job["state"] for job in instance.jobs() if job["state"] in ENDED}
        backup, made = backed_up(instance)
        until("some more jobs", lambda: len(load.accepted) > len(before) + 100)
    finally:
        load.stop()
    ended = instance.wait_until_ended(load.accepted, 60)
    expect(made["jobs"] >= len(before), made, len(before))
    expect(load.slowest < 5, "a submit has waited for the backup:", load.slowest)
    other, report = restored(instance, backup)
    try:
        expect(report["jobs"] == made["jobs"], report, made)
        other.start()
        copied = {job["id"]: job["state"] for job in other.jobs()}
        expect(len(copied) == made["jobs"], len(copied), made)
        missing = [job for job in before if job not in copied]
        expect(not missing, "accepted, and not in the backup:", missing[:5])
        unknown = [job for job in copied if job not in ended]
        expect(not unknown, "in the backup, and nowhere else:", unknown[:5])
        for job, state in ended_before.items():
            expect(copied[job] == state, job, "had ended as", state, "and is", copied[job])
        for job, state in copied.items():
            expect(state not in ENDED or state == ended[job]["state"], job, state)
        # Output is of the same moment: what has succeeded has all of it.
        for job in [one for one in copied if copied[one] == "succeeded"][:200]:
            said = [one.ask("GET", f"/v1/jobs/{job}/logs") for one in (instance, other)]
            expect(said[0] == said[1] and said[0], job, said)
    finally:
        other.remove()


@TABLE.row
def a_copy_shows_everything_and_runs_nothing(instance):
    witness = instance.directory + "/witness"
    instance.insist("POST", "/v1/queues/default/pause")
    job = instance.submit({"argv": ["sh", "-c", f"echo ran >>{witness}"]})
    backup, _ = backed_up(instance)
    code, said = cli(instance, "fsck", "--offline", "--data", backup)
    expect(code == 0 and "1 jobs" in said, "the backup is not sound:", said)
    other, _ = restored(instance, backup)
    try:
        other.start()
        expect(other.job(job)["state"] == "ready", other.job(job))
        for path, body in (("/v1/jobs", {"argv": ["true"]}), (f"/v1/jobs/{job}/cancel", None),
                           ("/v1/queues/default/resume", None)):
            try:
                other.ask("POST", path, body)
            except Refused as refused:
                expect(refused.status == 503 and "--take-over" in str(refused), path, refused)
            else:
                raise AssertionError("a copy has changed: " + path)
        time.sleep(1)  # long enough for a worker, if it were given anything
        expect(other.job(job)["state"] == "ready" and not os.path.exists(witness), "it ran")
        expect(other.stop() == 0, "it did not stop in peace")
    finally:
        other.remove()


# P4
@TABLE.row
def who_takes_over_holds_what_must_not_run_twice(instance):
    instance.insist("POST", "/v1/queues/default/pause")
    once = instance.submit({"argv": ["true"], "effects": "once"})
    again = instance.submit({"argv": ["true"]})
    runs = instance.submit({"argv": ["sleep", "60"], "effects": "once", "queue": "other"})
    until("it to run", lambda: instance.job(runs)["state"] == "running")
    backup, _ = backed_up(instance)
    instance.insist("POST", f"/v1/jobs/{runs}/cancel")
    expect(instance.stop() == 0, "it did not stop in peace")
    other, report = restored(instance, backup, "--take-over")
    try:
        expect(report["held"] == 1 and report["paused_queues"] == ["other"], report)
        other.start()
        expect(other.job(once).get("held") is True, other.job(once))
        other.insist("POST", "/v1/queues/default/resume")
        until("the other to run", lambda: other.job(again)["state"] == "succeeded")
        expect(len(other.job(once).get("attempts", [])) == 0, "it ran by itself")
        expect(len(other.job(runs)["attempts"]) == 1, "it ran again")
        other.insist("POST", f"/v1/jobs/{once}/unhold")
        until("it to be let go", lambda: other.job(once)["state"] == "succeeded")
    finally:
        other.remove()


@TABLE.row
def what_cannot_be_restored_is_refused_with_a_sentence(instance):
    instance.submit({"argv": ["true"]})
    backup, _ = backed_up(instance)
    data = instance.directory + "/data"
    empty = instance.directory + "/empty"
    for args, sentence in (
            (("backup", backup), "exists"),
            (("restore", backup, "--data", data), "is not empty"),
            (("restore", instance.directory, "--data", empty), "there is no backup"),
            (("restore", data, "--data", empty), "is no backup"),
            (("up", "--data", backup), "is a backup"),
            (("backup", "/proc/no/such/folder"), "cannot make")):
        code, said = cli(instance, *args)
        expect(code != 0 and sentence in said, args, code, said)
    with open(backup + "/perdure.db", "r+b") as file:
        file.seek(5 * 4096)
        file.write(b"\xff" * 4096)
    code, said = cli(instance, "restore", backup, "--data", empty)
    expect(code != 0 and "damaged" in said, code, said)
    expect(not os.path.exists(empty + "/perdure.db"), "it was restored nevertheless")


@TABLE.row
def without_a_server_the_directory_is_enough(instance):
    job = instance.submit({"argv": ["echo", "hello"]})
    instance.wait_until_ended([job], 20)
    path = instance.directory + "/offline"
    data = instance.directory + "/data"
    code, said = cli(instance, "backup", path, "--offline", "--data", data)
    expect(code != 0 and "has the data directory" in said, code, said)
    instance.process.kill()  # what it leaves is in the logs
    instance.process.wait()
    until("all to be gone", lambda: not instance.pids("server"))
    code, said = cli(instance, "backup", path, "--offline", "--data", data)
    expect(code == 0 and "1 jobs" in said, code, said)
    other, _ = restored(instance, path)
    try:
        other.start()
        expect(other.job(job)["state"] == "succeeded", other.job(job))
        expect(other.ask("GET", f"/v1/jobs/{job}/logs") == b"hello\n", "its output")
    finally:
        other.remove()


if __name__ == "__main__":
    TABLE.main()
