"""A worker of a few lines, written from docs/protocol/worker.md and nothing else.

It opens a session, reads its stream, sends heartbeats, and leaves what becomes of an attempt to the
test. Nothing is run: the protocol never mentions processes.
"""
import http.client
import json
import os
import socket
import threading
import time


class Answer:
    """Of one request: status, body, and what an error says."""

    def __init__(self, status, body):
        self.status = status
        self.body = body
        error = body.get("error", {}) if isinstance(body, dict) else {}
        self.code = error.get("code")
        self.path = error.get("path")

    def __repr__(self):
        return f"{self.status} {json.dumps(self.body)[:300]}"


def post(port, path, message, kind="application/json"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        connection.request("POST", path, body, {"Content-Type": kind})
        answer = connection.getresponse()
        return Answer(answer.status, json.loads(answer.read() or b"null"))
    finally:
        connection.close()


class PythonWorker:
    def __init__(self, port, name, queues, slots=4):
        self.port = port
        self.name = name
        self.slots = slots
        self.offer = {"tenant": "default", "queues": list(queues)}
        self.directory = {"machine": f"{name}-{os.getpid()}", "boot": "b1", "device": 1, "inode": 2}
        self.session = None
        self.number = 0
        self.tick = 0
        self.seen = 0
        self.attempts = {}  # (job, epoch): assignment, with its phase
        self.kills = []
        self.lock = threading.Lock()
        self.arrived = threading.Condition(self.lock)
        self.stream = None
        self.stopped = threading.Event()

    # --- session ------------------------------------------------------------------------------

    def opening(self):
        return {"protocol": 1, "directory": self.directory, "life": 1, "worker": self.name,
                "slots": self.slots, "offer": self.offer, "on_disk": self.listed()}

    def listed(self):
        with self.lock:
            return [{"job": job, "epoch": epoch, "number": one["number"], "phase": one["phase"]}
                    for (job, epoch), one in self.attempts.items()]

    def open(self):
        answer = post(self.port, "/v1/worker/open", self.opening())
        assert answer.status == 200, answer
        self.session = answer.body["session"]
        self.heartbeat()
        threading.Thread(target=self._read_stream, daemon=True).start()
        threading.Thread(target=self._beat, daemon=True).start()
        return self

    def close(self):
        self.stopped.set()
        if self.stream:
            self.stream.close()

    def beat(self):
        """A heartbeat as a message."""
        self.number += 1
        return {"session": self.session, "number": self.number, "seen": self.seen,
                "slots": self.slots, "offer": self.offer, "lease_us": 10_000_000,
                "attempts": self.listed(), "tick_seen": self.tick}

    def heartbeat(self):
        answer = post(self.port, "/v1/worker/heartbeat", self.beat())
        if answer.status == 200:
            self.tick = max(self.tick, answer.body["tick"])
            for assignment in answer.body["resent"]:
                self._take(assignment)
            for attempt in answer.body["stop"]:
                self.forget(attempt["job"], attempt["epoch"])
            self.kills += answer.body["kill"]
        return answer

    def _beat(self):
        while not self.stopped.wait(2):
            try:
                self.heartbeat()
            except OSError:
                pass

    # --- assignments --------------------------------------------------------------------------

    def _read_stream(self):
        while not self.stopped.is_set():
            try:
                self.stream = socket.create_connection(("127.0.0.1", self.port), timeout=5)
                self.stream.sendall(f"GET /v1/worker/stream?session={self.session} HTTP/1.0\r\n"
                                    "Host: localhost\r\n\r\n".encode())
                with self.stream.makefile("rb") as lines:
                    while lines.readline().strip():  # the head
                        pass
                    for line in lines:
                        self._hear(line)
            except OSError:
                time.sleep(0.2)

    def _hear(self, line):
        message = json.loads(line) if line.strip() else {}
        if "assign" in message:
            self._take(message["assign"])
        if "kill" in message:
            self.kills.append(message["kill"])

    def _take(self, assignment):
        with self.arrived:
            key = (assignment["job"], assignment["epoch"])
            self.seen = max(self.seen, assignment["number"])
            self.attempts.setdefault(key, {**assignment, "phase": "unstarted"})
            self.arrived.notify_all()

    def wait_for(self, job, patience=10):
        """The assignment of a job."""
        deadline = time.monotonic() + patience
        with self.arrived:
            while True:
                for (each, _), assignment in self.attempts.items():
                    if each == job:
                        return assignment
                left = deadline - time.monotonic()
                assert left > 0, f"{job} was not assigned"
                self.arrived.wait(left)

    def forget(self, job, epoch):
        with self.lock:
            self.attempts.pop((job, epoch), None)

    # --- reports ------------------------------------------------------------------------------

    def report(self, *items):
        return post(self.port, "/v1/worker/report", {"session": self.session, "items": list(items)})

    def say(self, item):
        """One item, repeated while it is not decided. The answer to it."""
        while True:
            answer = self.report(item)
            assert answer.status == 200, answer
            if answer.body["answers"] != ["again"]:
                return answer.body["answers"][0]
            time.sleep(0.2)

    def start(self, assignment):
        """Asks if it must; says that it runs otherwise."""
        item = {"job": assignment["job"], "epoch": assignment["epoch"]}
        asks = assignment["terms"].get("asks", False)
        answer = self.say({**item, "kind": "ask" if asks else "started"})
        with self.lock:
            assignment["phase"] = "running"
        return answer

    def end(self, assignment, end, evidence=None):
        item = {"job": assignment["job"], "epoch": assignment["epoch"], "kind": "ended", "end": end}
        if evidence is not None:
            item["evidence"] = evidence
        with self.lock:
            assignment["phase"] = "ended"
        answer = self.say(item)
        self.forget(assignment["job"], assignment["epoch"])
        return answer

    def log(self, assignment, offset, text):
        head = {"job": assignment["job"], "epoch": assignment["epoch"], "offset": offset,
                "size": len(text)}
        body = json.dumps(head, separators=(",", ":")).encode() + b"\n" + text
        return post(self.port, "/v1/worker/logs?session=" + self.session, body,
                    "application/octet-stream")
