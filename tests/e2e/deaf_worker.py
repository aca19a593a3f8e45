#!/usr/bin/env python3
"""A worker that is heard and starts nothing, written from docs/protocol/worker.md alone: it sends
heartbeats, lists whatever it is given as `unstarted`, and neither starts it nor hands it back.
Beside it a real worker. No healthy job may suffer from it (O3, E4).

    deaf_worker.py
"""
import http.client
import json
import threading
import time

from instance import Instance
from table import Table, expect

JOBS = 12
PATIENCE = 60  # seconds for all jobs
TABLE = Table(lambda row: Instance(slots=4))


class DeafWorker:
    """Speaks the worker protocol on threads of its own until `stop()`."""

    def __init__(self, port, slots):
        self.port = port
        self.slots = slots
        self.lock = threading.Lock()
        self.attempts = {}  # (job, epoch): assignment number
        self.given = []     # every job it ever got
        self.seen = 0
        self.tick = 0
        self.stopped = threading.Event()
        directory = {"machine": "deaf", "boot": "b", "device": 7, "inode": 7}
        self.session = self.post("/v1/worker/open", {
            "protocol": 1, "directory": directory, "life": 1, "worker": "deaf", "slots": slots,
            "offer": {"tenant": "default"}, "on_disk": []})["session"]
        for work in (self.beat, self.read):
            threading.Thread(target=work, daemon=True).start()

    def post(self, path, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    def take(self, assignment):
        with self.lock:
            key = (assignment["job"], assignment["epoch"])
            if key not in self.attempts:
                self.given.append(assignment["job"])
            self.attempts[key] = assignment["number"]
            self.seen = max(self.seen, assignment["number"])

    def beat(self):
        number = 0
        while not self.stopped.wait(1):
            number += 1
            with self.lock:
                listed = [{"job": job, "epoch": epoch, "number": n, "phase": "unstarted"}
                          for (job, epoch), n in self.attempts.items()]
                seen = self.seen
            answer = self.post("/v1/worker/heartbeat", {
                "session": self.session, "number": number, "seen": seen, "slots": self.slots,
                "offer": {"tenant": "default"}, "lease_us": 10_000_000, "attempts": listed,
                "tick_seen": self.tick})
            self.tick = max(self.tick, answer.get("tick", 0))
            for assignment in answer.get("resent", []):
                self.take(assignment)
            with self.lock:
                for gone in answer.get("stop", []):
                    self.attempts.pop((gone["job"], gone["epoch"]), None)

    def read(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("GET", f"/v1/worker/stream?session={self.session}")
        stream = connection.getresponse()
        while not self.stopped.is_set():
            line = stream.readline()
            if not line:
                return
            message = json.loads(line) if line.strip() else {}
            if "assign" in message:
                self.take(message["assign"])


@TABLE.row
def no_healthy_job_suffers_from_it(instance):
    deaf = DeafWorker(instance.port, slots=8)
    time.sleep(0.5)
    jobs = [instance.submit({"argv": ["sleep", "0.1"]}) for _ in range(JOBS)]
    deadline = time.monotonic() + PATIENCE
    states = {}
    while time.monotonic() < deadline:
        states = {job: instance.job(job)["state"] for job in jobs}
        if all(state == "succeeded" for state in states.values()):
            break
        expect("quarantined" not in states.values(), "a healthy job was quarantined", states)
        time.sleep(0.25)
    expect(set(states.values()) == {"succeeded"}, "not all ran elsewhere in time", states)
    for job in jobs:
        for attempt in instance.job(job)["attempts"]:
            end = attempt.get("end", attempt)
            expect(end.get("cause") != "worker_lost", "the deaf worker is heard", attempt)
    before = len(deaf.given)
    expect(before <= 12, "it was given", before, "jobs")
    # From now on it is tried with one job at a time, ever more rarely: 5, 10, 20 s.
    more = [instance.submit({"argv": ["true"]}) for _ in range(40)]
    deadline = time.monotonic() + 20
    while any(instance.job(job)["state"] != "succeeded" for job in more):
        expect(time.monotonic() < deadline, "not all ran elsewhere in time")
        time.sleep(0.2)
    expect(len(deaf.given) - before <= 3, "a deaf worker was given", len(deaf.given) - before)
    workers = {w["worker"]: w for w in instance.insist("GET", "/v1/workers")["workers"]}
    expect(workers["deaf"].get("deaf") is True, "nobody says that it is deaf", workers)
    told = instance.insist("GET", "/v1/recoveries?incident=worker_deaf")["recoveries"]
    expect(len(told) == 1, "the ledger tells it once", told)
    metrics = instance.ask("GET", "/metrics").decode()
    expect("perdure_deaf_workers 1" in metrics, metrics)
    deaf.stopped.set()
    return (f"{before} of {JOBS} jobs were tried there, then "
            f"{len(deaf.given) - before} of {len(more)}; all succeeded elsewhere")


if __name__ == "__main__":
    TABLE.main()
