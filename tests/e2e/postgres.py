#!/usr/bin/env python3
"""A server whose jobs are in a PostgreSQL: real processes and a real database, that goes away in
every way a database can. No process ends because of it, what runs goes on, and all is as before
3 s after it is back. Compared by id with what the jobs themselves have written.

    postgres.py [NAME...]
"""
import os
import signal
import subprocess
import threading
import time

from cluster import Cluster
from instance import PERDURE, Instance, Refused, Unreachable, kill, run_cli
from table import Table, expect, until

BACK = 3.0  # seconds until everything is as before


class OnPostgres(Instance):
    def __init__(self):
        super().__init__()
        self.cluster = Cluster()
        self.args = ["--store", self.cluster.uri]

    def remove(self):
        super().remove()
        self.cluster.remove()


TABLE = Table(prepare=lambda row: OnPostgres())


def witness(instance, name, seconds=0):
    """A job that writes a line when it begins, and ends after so long."""
    path = f"{instance.directory}/{name}"
    job = instance.submit({"argv": ["sh", "-c", f"echo $PERDURE_JOB >> {path}; sleep {seconds}"]})
    return job, path


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return file.read().split()


def processes_of(instance):
    return {role: instance.pids(role) for role in ("watchdog", "server", "worker")}


def outage(instance, take_away, bring_back, lasts=1.0):
    """One job runs through it, once; what is submitted meanwhile is refused, or is there."""
    long_job, path = witness(instance, "long", seconds=lasts + 1.5)
    until("its start", lambda: lines_of(path))
    before = processes_of(instance)
    take_away()
    began = time.monotonic()
    try:
        instance.ask("POST", "/v1/jobs", {"argv": ["true"]}, timeout=6)
        expect(False, "accepted without a database")
    except (Refused, Unreachable) as refusal:
        expect(not isinstance(refusal, Unreachable), "no answer in 6 s")
    expect(time.monotonic() - began < 5.5, "refused late:", time.monotonic() - began)
    time.sleep(max(0.0, lasts - (time.monotonic() - began)))
    bring_back()
    back = time.monotonic()
    next_job, next_path = witness(instance, "next")
    until("the next job", lambda: lines_of(next_path))
    took = time.monotonic() - back
    ended = instance.wait_until_ended([long_job, next_job], patience=20)
    expect(all(job["state"] == "succeeded" for job in ended.values()), ended)
    expect(lines_of(path) == [long_job], "not once:", lines_of(path))
    expect(processes_of(instance) == before, "a process has ended:", before,
           processes_of(instance), "".join(instance.said[-20:]))
    expect(took < BACK, f"as before only after {took:.1f} s")
    return f"as before after {took:.2f} s"


# --- the first five minutes ---------------------------------------------------------------------


@TABLE.row
def it_works_as_with_files(instance):
    ran = run_cli(instance, "run", "--", "sh", "-c", "echo hello")
    expect(ran.returncode == 0 and "hello" in ran.stdout, ran.stdout, ran.stderr)
    keyed = run_cli(instance, "submit", "--key", "one", "--", "true")
    expect(keyed.returncode == 0, keyed.stderr)
    listed = run_cli(instance, "jobs")
    expect(listed.stdout.count("succeeded") >= 1, listed.stdout)
    for words in (["workers"], ["queues"], ["recoveries"], ["limits"]):
        shown = run_cli(instance, *words)
        expect(shown.returncode == 0, words, shown.stderr)
    checked = run_cli(instance, "fsck")
    expect(checked.returncode == 0, checked.stdout, checked.stderr)
    expect(any("store postgres" in line for line in instance.said), instance.said)


@TABLE.row
def jobs_survive_a_restart_of_everything(instance):
    later = instance.submit({"argv": ["true"], "delay": "2s"})
    done, path = witness(instance, "done")
    instance.wait_until_ended([done], patience=10)
    expect(instance.stop() == 0, "exit code")
    instance.cluster.stop()
    instance.cluster.start()
    instance.start()
    expect(instance.job(done)["state"] == "succeeded", instance.job(done))
    instance.wait_until_ended([later], patience=15)
    expect(lines_of(path) == [done], lines_of(path))


@TABLE.row
def a_password_is_not_taken_from_a_command_line(instance):
    uri = instance.cluster.uri.replace("perdure@", "perdure:secret@")
    for store in (uri, instance.cluster.uri + "&password=secret"):
        result = subprocess.run([PERDURE, "server", "--data", instance.directory + "/other",
                                 "--store", store, "--listen", "127.0.0.1:0"],
                                capture_output=True, text=True, timeout=20, check=False)
        expect(result.returncode == 2, result.returncode, result.stderr)
        expect("PGPASSFILE" in result.stderr, result.stderr)
        expect("secret" not in result.stderr, result.stderr)


@TABLE.row
def a_second_server_on_the_cell_is_refused(instance):
    result = subprocess.run([PERDURE, "server", "--data", instance.directory + "/other", "--store",
                             instance.cluster.uri, "--listen", "127.0.0.1:0"],
                            capture_output=True, text=True, timeout=20, check=False)
    expect(result.returncode == 4, result.returncode, result.stderr)
    expect("keeps this cell" in result.stderr, result.stderr)
    job, path = witness(instance, "after")
    instance.wait_until_ended([job], patience=10)


@TABLE.row
def people_can_read_it(instance):
    job, path = witness(instance, "read")
    instance.wait_until_ended([job], patience=10)
    sql = instance.cluster.sql
    expect(sql("SELECT state FROM perdure.jobs", "jobs") == "succeeded",
           sql("SELECT * FROM perdure.jobs", "jobs"))
    expect(sql("SELECT id FROM perdure.jobs", "jobs") == job, job)
    expect(sql("SELECT succeeded FROM perdure.queues", "jobs") == "1", "counts")
    sql("SELECT * FROM perdure.attempts", "jobs")
    sql("SELECT * FROM perdure.ledger", "jobs")


# --- the database goes away ---------------------------------------------------------------------


@TABLE.row
def the_database_is_restarted(instance):
    return outage(instance, instance.cluster.stop, instance.cluster.start)


@TABLE.row
def the_database_is_killed(instance):
    return outage(instance, lambda: instance.cluster.stop(signal.SIGKILL), instance.cluster.start)


@TABLE.row
def a_stranger_locks_a_table(instance):
    cluster = instance.cluster
    strangers = []

    def lock():
        words = cluster.psql("BEGIN; LOCK TABLE perdure.job IN ACCESS EXCLUSIVE MODE;"
                             " SELECT pg_sleep(60)")
        strangers.append(subprocess.Popen(words, stdout=subprocess.DEVNULL,
                                          stderr=subprocess.DEVNULL))
        until("the lock", lambda: cluster.sql(
            "SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted"
            " AND relation = 'perdure.job'::regclass", "jobs") == "1")

    def unlock():
        cluster.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()")
        strangers[0].wait(10)

    return outage(instance, lock, unlock)


@TABLE.row
def connections_are_exhausted(instance):
    cluster = instance.cluster

    def take_all():
        cluster.sql("ALTER ROLE perdure CONNECTION LIMIT 0")
        cluster.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE usename = 'perdure'")

    def give_back():
        cluster.sql("ALTER ROLE perdure CONNECTION LIMIT -1")

    return outage(instance, take_all, give_back)


@TABLE.row
def everything_is_killed_under_load(instance):
    """Server, worker and database, in turn; every accepted job runs, and is compared by id."""
    accepted = []
    stop = threading.Event()

    def submit():
        while not stop.is_set():
            try:
                answer = instance.ask("POST", "/v1/jobs", {
                    "argv": ["sh", "-c", f"echo $PERDURE_JOB >> {instance.directory}/all"]})
                accepted.append(answer["id"])
            except (Refused, Unreachable):
                time.sleep(0.05)

    clients = [threading.Thread(target=submit) for _ in range(2)]
    for client in clients:
        client.start()
    for round_ in range(3):
        time.sleep(0.7)
        kill(instance.pids("server")[0])
        time.sleep(0.7)
        instance.cluster.stop(signal.SIGKILL if round_ % 2 else signal.SIGINT)
        instance.cluster.start()
    time.sleep(0.5)
    stop.set()
    for client in clients:
        client.join()
    ended = instance.wait_until_ended(accepted, patience=40)
    expect(all(job["state"] == "succeeded" for job in ended.values()), "not all succeeded")
    missing = set(accepted) - set(lines_of(instance.directory + "/all"))
    expect(not missing, "accepted and never run:", missing)
    checked = run_cli(instance, "fsck")
    expect(checked.returncode == 0, checked.stdout, checked.stderr)
    return f"{len(accepted)} jobs"


if __name__ == "__main__":
    TABLE.main()
