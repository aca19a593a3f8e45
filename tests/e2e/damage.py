#!/usr/bin/env python3
"""Damaged rows with a real server (C9): it is stopped, a row is overwritten, it is started again.
Others' work goes on, the damage is named everywhere, and a person removes it.

    damage.py [NAME...]
"""
import subprocess
import time

from instance import PERDURE, Instance, Refused, database, kill
from table import SHORT, Table, expect, until

TABLE = Table(lambda row: Instance(args=SHORT))


def number_of(job):
    """The id as the tables have it."""
    value = 0
    for c in job:
        value = value * 32 + "0123456789abcdefghjkmnpqrstvwxyz".index(c)
    return value


def cli(instance, *words):
    done = subprocess.run([PERDURE, *words, "--server", f"http://127.0.0.1:{instance.port}"],
                          capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def damage(instance, *statements, file="perdure.db"):
    """Kills server and worker, not what runs; overwrites rows; starts them again."""
    for role in ("watchdog", "server", "worker"):
        for pid in instance.pids(role):
            kill(pid)
    instance.process.wait()
    with database(instance.directory + "/data/" + file) as opened:
        opened.execute("PRAGMA ignore_check_constraints = 1")
        for sql in statements:
            changed = opened.execute(sql).rowcount
            expect(changed > 0, "changed nothing:", sql)
    instance.start()


def work_goes_on(instance):
    job = instance.submit({"argv": ["true"], "queue": "others"})
    until("another job's end", lambda: instance.job(job)["state"] == "succeeded")
    # Sweeps go on: what waits too long in a queue that is paused expires.
    instance.insist("POST", "/v1/queues/still/pause")
    late = instance.submit({"argv": ["true"], "queue": "still", "timeouts": {"queue": "1s"}})
    until("a sweep", lambda: instance.job(late)["state"] == "expired")
    expect(not instance.crashes(), instance.crashes())
    expect(not any("sweep failed" in line for line in instance.said), "a sweep failed")


def fsck(instance):
    return instance.ask("GET", "/v1/fsck", timeout=60)


def named(instance, table):
    found = [each for each in fsck(instance)["damaged"] if each["table"] == table]
    expect(found, "fsck does not name", table)
    expect(f'perdure_damaged_rows{{table="{table}"}}' in metrics(instance), "no metric", table)
    said = [line for line in instance.said if "damaged: it is left alone" in line]
    expect(any(f"table={table}" in line for line in said), "not logged", table, said)
    expect(len(said) == len(set(line.partition("table=")[2] for line in said)), "logged twice")
    return found[0]


def metrics(instance):
    text = instance.ask("GET", "/metrics")
    return text.decode() if isinstance(text, bytes) else str(text)


def is_clean(instance):
    def look():
        report = fsck(instance)
        return report["clean"] or None
    until("a clean fsck", look, 20)
    code, said = cli(instance, "fsck")
    expect(code == 0, said)


def a_job_is_damaged_and_removed(instance, job, *more):
    listed = {each["id"]: each for each in instance.jobs()}
    expect(listed[job]["state"] == "damaged", listed.get(job))
    shown = instance.job(job)
    expect(shown["state"] == "damaged" and "discard" in shown["remedy"], shown)
    code, said = cli(instance, "job", "show", job)
    expect(code == 0 and "remedy" in said, said)
    code, said = cli(instance, "jobs")
    expect(code == 0 and "damaged" in said, said)
    code, said = cli(instance, "fsck")
    expect(code == 1 and job in said, said)
    expect(cli(instance, "recoveries")[0] == 0, "recoveries fails")
    code, said = cli(instance, "job", "discard", job, "--damaged", *more)
    expect(code == 0, said)
    try:
        instance.ask("GET", "/v1/jobs/" + job)
        raise AssertionError("it is still there")
    except Refused as refused:
        expect(refused.status == 404, refused)


def run_row(instance, change):
    job = instance.submit({"argv": ["sleep", "300"], "key": "k", "effects": "once"})
    until("a running job", lambda: instance.job(job)["state"] == "running")
    damage(instance, f"UPDATE run SET {change} WHERE job = {number_of(job)}")
    work_goes_on(instance)
    twin = instance.submit({"argv": ["true"], "key": "k"})
    time.sleep(3)
    expect(instance.job(twin)["state"] in ("ready", "blocked"), "two share a key")
    named(instance, "job")
    code, said = cli(instance, "job", "discard", job, "--damaged")
    expect(code != 0 and "may still run" in said, said)
    a_job_is_damaged_and_removed(instance, job, "--may-still-run")
    until("the key's next", lambda: instance.job(twin)["state"] == "succeeded")
    is_clean(instance)


@TABLE.row
def a_run_row_with_a_negative_session(instance):
    run_row(instance, "session = -5")


@TABLE.row
def a_run_row_with_an_unknown_session(instance):
    run_row(instance, "session = 12345")


@TABLE.row
def a_run_row_that_is_noise(instance):
    run_row(instance, "life = x'ffeedd'")


def session_row(instance, change):
    job = instance.submit({"argv": ["true"]})
    until("an end", lambda: instance.job(job)["state"] == "succeeded")
    damage(instance, f"UPDATE session SET {change}")
    work_goes_on(instance)
    found = named(instance, "session")
    code, said = cli(instance, "fsck", "--discard", f"session:{found['row']}")
    expect(code == 0, said)
    is_clean(instance)


@TABLE.row
def an_old_session_whose_offer_is_noise(instance):
    session_row(instance, "offer = x'ff'")


@TABLE.row
def an_old_session_whose_lease_is_negative(instance):
    session_row(instance, "lease_deadline = -1")


@TABLE.row
def a_job_whose_spec_is_noise(instance):
    instance.insist("POST", "/v1/queues/later/pause")
    job = instance.submit({"argv": ["true"], "queue": "later"})
    damage(instance, f"UPDATE job SET spec = x'63' WHERE id = {number_of(job)}")
    work_goes_on(instance)
    a_job_is_damaged_and_removed(instance, job)
    is_clean(instance)


@TABLE.row
def a_job_that_ended_whose_life_is_noise(instance):
    job = instance.submit({"argv": ["false"]})
    until("an end", lambda: instance.job(job)["state"] == "failed")
    damage(instance, f"UPDATE outcome SET life = x'09' WHERE job = {number_of(job)}")
    work_goes_on(instance)
    a_job_is_damaged_and_removed(instance, job)
    is_clean(instance)


@TABLE.row
def a_ledger_entry_that_is_noise(instance):
    job = instance.submit({"argv": ["sh", "-c", "kill -9 $$"], "policy": "never"})
    until("an entry", lambda: instance.insist("GET", "/v1/recoveries")["recoveries"])
    damage(instance, f"UPDATE recovery SET body = x'ff' WHERE job = {number_of(job)}")
    work_goes_on(instance)
    page = instance.insist("GET", "/v1/recoveries")
    expect(page["damaged"], page)
    code, said = cli(instance, "recoveries")
    expect(code == 0 and "cannot be understood" in said, said)
    named(instance, "recovery")
    expect(instance.job(job)["state"] != "damaged", "the job itself is sound")
    row_name = page["damaged"][0]["row"]
    code, said = cli(instance, "fsck", "--discard", f"recovery:{row_name}")
    expect(code == 0, said)
    is_clean(instance)


@TABLE.row
def a_key_holder_that_names_nobody(instance):
    job = instance.submit({"argv": ["sleep", "4"], "key": "k"})
    until("a running job", lambda: instance.job(job)["state"] == "running")
    damage(instance, "UPDATE key_holder SET job = -1")
    twin = instance.submit({"argv": ["true"], "key": "k"})
    work_goes_on(instance)
    expect(instance.job(twin)["state"] in ("ready", "blocked"), "two share a key")
    found = named(instance, "key_holder")
    code, said = cli(instance, "fsck", "--discard", f"key_holder:{found['row']}")
    expect(code == 0, said)
    until("the key's next", lambda: instance.job(twin)["state"] == "succeeded")


@TABLE.row
def a_count_and_a_shape_that_cannot_be(instance):
    job = instance.submit({"argv": ["true"]})
    # While a job moves its counts are written anew, and nothing is left to be found.
    instance.wait_until_ended([job], 20)
    damage(instance, "UPDATE tally SET succeeded = 9223372036854775807 WHERE shape = 1")
    work_goes_on(instance)
    found = named(instance, "tally")
    code, said = cli(instance, "fsck", "--discard", f"tally:{found['row']}")
    expect(code == 0, said)
    is_clean(instance)


@TABLE.row
def an_idempotency_row_of_nobody(instance):
    job = {"argv": ["true"], "idempotency_key": "same"}
    instance.submit(job)
    damage(instance, "UPDATE idempotency SET job = 77")
    work_goes_on(instance)
    try:
        instance.ask("POST", "/v1/jobs", job)
        raise AssertionError("a second job was made")
    except Refused as refused:
        expect(refused.code == "corrupt", refused)
    found = named(instance, "idempotency")
    code, said = cli(instance, "fsck", "--discard", f"idempotency:{found['row']}")
    expect(code == 0, said)
    instance.ask("POST", "/v1/jobs", job)
    is_clean(instance)


def output_row(instance, change):
    """One attempt's output is damaged while it runs; others run beside it on the same worker."""
    gate = instance.directory + "/gate"
    wait = f"while [ ! -e {gate} ]; do sleep 0.1; done; "
    job = instance.submit({"argv": ["sh", "-c", "echo one; " + wait + "echo two"]})
    other = instance.submit({"argv": ["sh", "-c", "echo one; " + wait + "seq 1000"]})
    for each in (job, other):
        until("output", lambda: cli(instance, "logs", each)[1] == "one\n")
    damage(instance, f"UPDATE piece SET {change} WHERE job = {number_of(job)}", file="logs.db")
    with open(gate, "w"):
        pass
    until("another job's end", lambda: instance.job(other)["state"] == "succeeded")
    expect(cli(instance, "logs", other)[1].endswith("\n999\n1000\n"), "its output is lost")
    until("its own end", lambda: instance.job(job)["state"] == "succeeded", 60)
    work_goes_on(instance)
    is_clean(instance)
    return job


def damaged_output_is_named(instance, change):
    job = output_row(instance, change)
    evidence = instance.job(job)["attempts"][0].get("evidence", {})
    expect(evidence.get("output_undelivered") == 8, "nobody says that output is lost", evidence)
    code, said = cli(instance, "logs", job)
    expect(code != 0 and "corrupt" in said, code, said)
    expect(any("output of an attempt is damaged" in line for line in instance.said), "not logged")


@TABLE.row
def output_that_begins_below_zero(instance):
    damaged_output_is_named(instance, "start = -1")


@TABLE.row
def output_that_begins_beyond_all_bounds(instance):
    damaged_output_is_named(instance, "start = 9223372036854775807")


@TABLE.row
def output_that_belongs_to_nobody_is_sent_again(instance):
    job = output_row(instance, "job = 0")
    expect(cli(instance, "logs", job)[1] == "one\ntwo\n", cli(instance, "logs", job))


@TABLE.row
def service_time_and_server_rows_are_restored(instance):
    damage(instance, "UPDATE service SET now_at = -1", "UPDATE server SET fence = 12345")
    expect(any("restored from its copy" in line for line in instance.said), "nobody says so")
    work_goes_on(instance)
    is_clean(instance)


if __name__ == "__main__":
    TABLE.main()
