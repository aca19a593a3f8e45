#!/usr/bin/env python3
"""A worker written in Python from the protocol's page: runs jobs of each class of effects, and
sends what the page forbids, which is answered 400 with the field's path and changes nothing."""
import base64
import copy
import functools
import json
import time

from instance import Instance
from python_worker import PythonWorker, post
from table import Table, expect

TABLE = Table(lambda row: Instance(args=["--queues", "default"]))
GOOD = {"cause": "exit", "ran": "yes", "succeeded": True}


def with_worker(function):
    @TABLE.row
    @functools.wraps(function)
    def played(instance):
        worker = PythonWorker(instance.port, "python", ["python"]).open()
        try:
            return function(instance, worker)
        finally:
            worker.close()
    return played


def ended(instance, job):
    instance.wait_until_ended([job], 20)
    return instance.job(job)


@with_worker
def job_of_each_class_of_effects(instance, worker):
    for effects in ("repeatable", "resumable", "once"):
        job = instance.submit({"kind": "k", "queue": "python", "effects": effects,
                               "args": {"n": 1}})
        assignment = worker.wait_for(job)
        expect(assignment["spec"]["args"] == {"n": 1}, assignment)
        asks = assignment["terms"].get("asks", False)
        expect(asks == (effects != "repeatable"), effects, assignment["terms"])
        answer = worker.start(assignment)
        expect(answer == ("go" if asks else "ok"), effects, answer)
        expect(worker.log(assignment, 0, b"hello\n").body == {"answers": ["ok"]}, "output")
        result = {"result": json.dumps({"effects": effects}), "host": "here", "ran_for_us": 1500}
        expect(worker.end(assignment, GOOD, result) == "ok", "its end")
        shown = ended(instance, job)
        expect(shown["state"] == "succeeded", shown)
        kept = instance.ask("GET", f"/v1/jobs/{job}/result")
        expect(kept["result"] == {"effects": effects}, kept)
        expect(instance.ask("GET", f"/v1/jobs/{job}/logs") == b"hello\n", "its output")


@with_worker
def a_job_that_goes_on_from_its_checkpoint(instance, worker):
    job = instance.submit({"kind": "k", "queue": "python", "effects": "resumable",
                           "key": "resumed"})
    first = worker.wait_for(job)
    expect(worker.start(first) == "go", "the first start")
    saved = base64.b64encode(b"step 7").decode()
    item = {"job": job, "epoch": first["epoch"]}
    expect(worker.say({**item, "kind": "begin", "number": 1}) == "ok", "begin")
    expect(worker.say({**item, "kind": "checkpoint", "number": 2, "checkpoint": saved}) == "ok",
           "checkpoint")
    # Given back while it was clean: it goes on from there.
    expect(worker.end(first, {"cause": "evicted", "ran": "yes", "clean": True}) == "ok", "evicted")
    deadline = time.monotonic() + 20
    while worker.wait_for(job)["epoch"] == first["epoch"]:
        expect(time.monotonic() < deadline, "it does not come again")
        time.sleep(0.05)
    second = worker.wait_for(job)
    expect(second.get("checkpoint") == saved, second)
    expect(worker.start(second) == "go", "the second start")
    expect(worker.end(second, GOOD) == "ok", "its end")
    expect(ended(instance, job)["state"] == "succeeded", instance.job(job))


@with_worker
def a_job_that_is_cancelled(instance, worker):
    job = instance.submit({"kind": "k", "queue": "python", "effects": "once"})
    assignment = worker.wait_for(job)
    expect(worker.start(assignment) == "go", "its start")
    instance.ask("POST", f"/v1/jobs/{job}/cancel")
    deadline = time.monotonic() + 10
    while not any(order["job"] == job for order in worker.kills):
        expect(time.monotonic() < deadline, "no order to kill it")
        time.sleep(0.05)
    order = next(order for order in worker.kills if order["job"] == job)
    expect(worker.end(assignment, {"cause": order["cause"], "ran": "yes"}) == "ok", "its end")
    expect(ended(instance, job)["state"] == "cancelled", instance.job(job))


def changed(message, path, value):
    """A copy with the value at `path` replaced, or left out if it is `None`."""
    message = copy.deepcopy(message)
    at = message
    for step in path[:-1]:
        at = at[step]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return message


def path_text(path):
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


@with_worker
def what_is_malformed(instance, worker):
    job = instance.submit({"kind": "k", "queue": "python", "effects": "once"})
    assignment = worker.wait_for(job)
    expect(worker.start(assignment) == "go", "its start")
    end = {"session": worker.session, "items": [
        {"job": job, "epoch": assignment["epoch"], "kind": "ended", "end": dict(GOOD),
         "evidence": {"result": "{}"}}]}
    dated = changed(end, ("items", 0, "end"), {"cause": "verdict(at)", "ran": "yes",
                                               "at": "2030-01-01T00:00:00Z"})
    of_end = ("items", 0, "end")
    reports = [
        (end, (*of_end, "cause"), None), (end, (*of_end, "ran"), None),
        (end, (*of_end, "cause"), "exited"), (end, (*of_end, "cause"), "oom"),
        (end, (*of_end, "ran"), "no"), (end, (*of_end, "exit_code"), 3),
        (dated, (*of_end, "at"), None), (dated, (*of_end, "at"), "soon"),
        (end, ("items", 0, "evidence", "result"), "no JSON"),
        (end, ("items", 0, "epoch"), None), (end, ("items", 0, "epoch"), 0),
        (end, ("items", 0, "kind"), None), (end, ("items", 0, "end"), None),
        (end, ("items", 0, "age_us"), -1), (end, ("session",), None), (end, ("items",), None),
    ]
    beat = {**worker.beat(), "number": worker.number + 1000}
    beats = [(beat, (field,), None) for field in
             ("session", "number", "seen", "slots", "offer", "lease_us", "attempts")]
    beats += [(beat, ("attempts", 0, field), None) for field in ("job", "epoch", "number", "phase")]
    beats += [(beat, ("offer", "tenant"), "A B"), (beat, ("lease_us",), 0),
              (beat, ("lease_us",), 1 << 62), (beat, ("number",), 1 << 63)]
    opening = {**worker.opening(), "directory": {**worker.directory, "machine": "another"}}
    openings = [(opening, (field,), None) for field in
                ("protocol", "directory", "life", "worker", "slots", "offer", "on_disk")]
    openings += [(opening, ("offer", "tenant"), "A B"), (opening, ("on_disk", 0, "epoch"), None),
                 (opening, ("directory", "boot"), "")]
    accepted = []
    for route, cases in (("report", reports), ("heartbeat", beats), ("open", openings)):
        for message, path, value in cases:
            answer = post(worker.port, "/v1/worker/" + route, changed(message, path, value))
            if (answer.status, answer.code, answer.path) != (400, "invalid", path_text(path)):
                accepted.append(f"{route} {path_text(path)} = {value}: {answer}")
    expect(not accepted, f"{len(accepted)} not refused as they should be:\n  " +
           "\n  ".join(accepted))
    # Nothing of all that was taken: it still runs, and ends as it should. Later fields are fine.
    expect(instance.job(job)["state"] == "running", instance.job(job))
    later = changed(end, ("items", 0, "of_a_later_version"), [1])
    expect(post(worker.port, "/v1/worker/report", later).body == {"answers": ["ok"]}, "its end")
    worker.forget(job, assignment["epoch"])
    expect(ended(instance, job)["state"] == "succeeded", instance.job(job))


if __name__ == "__main__":
    TABLE.main()
