#!/usr/bin/env python3
"""Too many bytes at once: sixty bodies that do not end, a worker that does not read its stream.

The server keeps within its budget (64 MiB, C8), others go on meanwhile, and the memory is given
back afterwards. What it took is printed: resident memory before, at its peak, and afterwards.
"""
import json
import selectors
import socket
import threading
import time

from instance import Instance
from table import Table, expect, until

MIB = 1 << 20
BUDGET = 64 * MIB
# Beside the bytes in flight: buffers of connections, what a body becomes while it is read.
BESIDES = 40 * MIB
LEFT = 24 * MIB
BODY = 15 * MIB
# One at a time: each measures memory.
TABLE = Table(lambda row: Instance(args=["--queues", "default"]), is_started=False, at_once=1)


class Memory:
    """Resident memory of the server: now, and its peak while this watches."""

    def __init__(self, instance):
        self.pid, = instance.pids("server")
        self.before = self.now()
        self.peak = self.before
        self.watching = True
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def now(self):
        with open(f"/proc/{self.pid}/status") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
        raise AssertionError("the server is gone")

    def _watch(self):
        while self.watching:
            self.peak = max(self.peak, self.now())
            time.sleep(0.01)

    def finish(self, patience=20):
        """Waits until the memory is given back, or says what is left."""
        deadline = time.monotonic() + patience
        while self.now() - self.before > LEFT and time.monotonic() < deadline:
            time.sleep(0.1)
        self.watching = False
        self.thread.join()
        after = self.now()
        print(f"       resident: before {self.before / MIB:.0f} MiB, peak {self.peak / MIB:.0f} "
              f"MiB, after {after / MIB:.0f} MiB", flush=True)
        expect(self.peak - self.before < BUDGET + BESIDES,
               f"{(self.peak - self.before) / MIB:.0f} MiB were taken")
        expect(after - self.before <= LEFT, f"{(after - self.before) / MIB:.0f} MiB are kept")


class Others:
    """Somebody who goes on: submits small jobs and waits for their ends."""

    def __init__(self, instance):
        self.instance = instance
        self.done = 0
        self.slowest = 0.0
        self.failure = None
        self.going = True
        self.thread = threading.Thread(target=self._go_on, daemon=True)
        self.thread.start()

    def _go_on(self):
        try:
            while self.going:
                began = time.monotonic()
                job = self.instance.ask("POST", "/v1/jobs", {"argv": ["true"]})["id"]
                ended = self.instance.ask("GET", f"/v1/jobs/{job}/wait?for=10s", timeout=15)
                expect(ended["state"] == "succeeded", ended)
                self.slowest = max(self.slowest, time.monotonic() - began)
                self.done += 1
        except Exception as failure:  # told by finish()
            self.failure = failure

    def finish(self):
        until("six jobs of others", lambda: self.failure or self.done > 5)
        self.going = False
        self.thread.join(30)
        expect(self.failure is None, "somebody else was hurt:", repr(self.failure))
        print(f"       meanwhile {self.done} jobs of others, the slowest {self.slowest:.2f} s")


def metric(instance, name):
    text = instance.ask("GET", "/metrics").decode()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith(name + " "))


def send_unfinished(instance, count):
    """All but the last byte of each body, as far as the server takes it. Gives the answers."""
    head = f"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: {BODY}\r\n\r\n".encode()
    body = memoryview(b" " * (BODY - 1))
    watch = selectors.DefaultSelector()
    sent, answers, sockets = {}, {}, []
    for _ in range(count):
        client = socket.create_connection(("127.0.0.1", instance.port))
        client.sendall(head)
        client.setblocking(False)
        watch.register(client, selectors.EVENT_READ | selectors.EVENT_WRITE)
        sent[client], answers[client] = 0, b""
        sockets.append(client)
    deadline = time.monotonic() + 4  # before a body that stalls is cut off
    while watch.get_map() and time.monotonic() < deadline:
        for key, events in watch.select(0.1):
            step(watch, key.fileobj, events, body, sent, answers)
    return sockets, answers


def step(watch, client, events, body, sent, answers):
    try:
        if events & selectors.EVENT_READ:
            piece = client.recv(65536)
            answers[client] += piece
            if not piece:
                watch.unregister(client)
                return
        if events & selectors.EVENT_WRITE:
            sent[client] += client.send(body[sent[client]:sent[client] + 262144])
            if sent[client] == len(body):
                watch.modify(client, selectors.EVENT_READ)
    except OSError:
        watch.unregister(client)


@TABLE.row
def sixty_unfinished_bodies(instance):
    instance.start()
    others = Others(instance)
    time.sleep(0.5)
    memory = Memory(instance)
    sockets, answers = send_unfinished(instance, 60)
    refused = [text for text in answers.values() if text.startswith(b"HTTP/1.1 429 ")]
    expect(len(refused) >= 55, "refused were only", len(refused))
    for text in refused:
        expect(b'"overloaded"' in text and b"Retry-After: " in text, text)
    # Those that were let in and stall are cut off: their room is not theirs for ever.
    deadline = time.monotonic() + 15
    while metric(instance, "perdure_bytes_in_flight") > MIB:
        expect(time.monotonic() < deadline, "bodies that stall keep their room")
        time.sleep(0.1)
    large = {"argv": ["true"], "args": "x" * (MIB - 100)}
    instance.wait_until_ended([instance.submit(large, patience=1)], 20)
    for client in sockets:
        client.close()
    others.finish()
    memory.finish()


@TABLE.row
def a_worker_that_does_not_read(instance):
    instance.start()
    directory = {"machine": "deaf", "boot": "b", "device": 1, "inode": 1}
    offer = {"tenant": "default", "queues": ["deaf"]}
    opening = {"protocol": 1, "directory": directory, "life": 1, "worker": "deaf", "slots": 200,
               "offer": offer, "on_disk": []}
    instance.ask("POST", "/v1/queues/deaf/pause")
    for _ in range(9):
        jobs = [{"argv": ["true"], "queue": "deaf", "args": "x" * 1_000_000}] * 10
        instance.ask("POST", "/v1/jobs", {"jobs": jobs})
    session = instance.ask("POST", "/v1/worker/open", opening)["session"]
    deaf = socket.create_connection(("127.0.0.1", instance.port))
    deaf.sendall(f"GET /v1/worker/stream?session={session} HTTP/1.1\r\n"
                 "Host: localhost\r\n\r\n".encode())
    time.sleep(5)  # what the submits took is given back
    others = Others(instance)
    memory = Memory(instance)
    instance.ask("POST", "/v1/queues/deaf/resume")
    beat = {"session": session, "seen": 0, "slots": 200, "offer": offer, "lease_us": 10_000_000,
            "attempts": [], "tick_seen": 0}
    deadline = time.monotonic() + 8
    number = 0
    while metric(instance, "perdure_streams_cut_total") == 0:
        expect(time.monotonic() < deadline, "its stream is not cut off")
        number += 1
        answer = instance.ask("POST", "/v1/worker/heartbeat", {**beat, "number": number})
        expect(len(json.dumps(answer)) < BUDGET / 2, "a heartbeat's answer has",
               len(json.dumps(answer)))
        time.sleep(0.5)
    instance.ask("POST", "/v1/queues/deaf/pause")
    others.finish()
    deaf.close()
    memory.finish()


if __name__ == "__main__":
    TABLE.main()
