#!/usr/bin/env python3
"""A data directory of an earlier schema, left behind by a kill -9 with work in every state, is
opened by this program: nothing is lost, nothing is done twice, every job gets on.

    old_directory.py [NAME...]
"""
import json
import os
import sqlite3

from instance import ROOT, Instance, Refused, run_cli
from table import SHORT, Table, expect, until

FOLDER = os.path.join(ROOT, "tests", "data", "schema_5")


def prepare(_):
    instance = Instance(args=SHORT)
    data = instance.directory + "/data"
    os.mkdir(data, 0o700)
    for name in ("perdure", "logs"):
        database = sqlite3.connect(f"{data}/{name}.db")
        with open(f"{FOLDER}/{name}.sql", encoding="utf-8") as dump:
            database.executescript(dump.read())
        database.close()
    return instance


TABLE = Table(prepare)
with open(FOLDER + "/jobs.json", encoding="utf-8") as file:
    JOBS = json.load(file)


def state(instance, name):
    return instance.job(JOBS[name])["state"]


def comes_to(instance, name, wanted):
    until(f"{name} to be {wanted}", lambda: state(instance, name) == wanted)


def is_conflict(instance, body):
    try:
        instance.submit(body)
    except Refused as refused:
        return refused.status == 409
    return False


@TABLE.row
def what_had_ended_stays_as_it_was(instance):
    for name, wanted in {"succeeded": "succeeded", "failed": "failed", "failed_again": "failed",
                         "cancelled": "cancelled", "crashes": "quarantined"}.items():
        expect(state(instance, name) == wanted, name, instance.job(JOBS[name]))
    attempt = instance.job(JOBS["failed"])["attempts"][0]
    expect(attempt["cause"] == "exit" and attempt["exit_code"] == 3, attempt)
    expect(instance.ask("GET", f"/v1/jobs/{JOBS['succeeded']}/logs") == b"hello\n", "its output")


# Its hash is of the old form, whatever is submitted now.
@TABLE.row
def a_key_is_the_same_job_for_the_same_body_and_refuses_another(instance):
    same = {"argv": ["echo", "hello"], "idempotency_key": "first"}
    for body in (same, dict(reversed(list(same.items()))), {**same, "priority": 5}):
        found = instance.submit(body)
        expect(found == JOBS["succeeded"], "the key was forgotten:", found, body)
    for other in ({"argv": ["echo", "hallo"]}, {"share": "ann"}, {"delay": "1s"}):
        expect(is_conflict(instance, {**same, **other}), "another body was taken:", other)
    new = {"argv": ["echo", "new"], "idempotency_key": "second"}
    made = instance.submit(new)
    expect(made not in JOBS.values() and instance.submit(new) == made, "a new key:", made)
    expect(is_conflict(instance, {**new, "priority": 4}), "another body was taken for a new key")


@TABLE.row
def what_waited_goes_on(instance):
    expect(instance.job(JOBS["held"]).get("held") is True, instance.job(JOBS["held"]))
    expect(state(instance, "paused") == "ready", "a pause was forgotten")
    instance.insist("POST", "/v1/queues/night/resume")
    for name in ("paused", "after", "with_callback", "delayed"):
        comes_to(instance, name, "succeeded")
    made = instance.job(JOBS["with_callback"])["callbacks"][0]["made"]
    expect(len(made) == 1, made)


@TABLE.row
def what_ran_is_noticed_and_what_was_behind_it_follows(instance):
    comes_to(instance, "once", "quarantined")  # it may have run
    for first, behind in (("first_of_key", "blocked_by_key"),
                          ("first_of_pool", "blocked_by_limit")):
        until(f"a second attempt of {first}",
              lambda first=first: len(instance.job(JOBS[first])["attempts"]) == 2)
        expect(instance.job(JOBS[first])["attempts"][0]["cause"] == "worker_lost", first)
        expect(state(instance, behind) == "blocked", behind, "did not wait")
        instance.insist("POST", f"/v1/jobs/{JOBS[first]}/cancel")
        comes_to(instance, behind, "succeeded")


@TABLE.row
def it_is_sound(instance):
    online = run_cli(instance, "fsck")
    expect(online.returncode == 0, online.stdout, online.stderr)
    expect(instance.stop() == 0, "it did not stop in peace")
    offline = run_cli(instance, "fsck", "--offline", "--data", instance.directory + "/data")
    expect(offline.returncode == 0, offline.stdout, offline.stderr)


if __name__ == "__main__":
    TABLE.main()
