#!/usr/bin/env python3
"""Webhooks of a real worker to real receivers, over HTTP and TLS. What verifies them is the very
snippet that docs/guides/webhooks.md shows. One table; each row is a function.

    webhooks.py [NAME...]
"""
import datetime
import http.server
import json
import os
import re
import ssl
import subprocess
import threading

from instance import PERDURE, ROOT, Instance, run_cli
from table import Table, expect

TABLE = Table(lambda row: Instance(slots=2), is_started=False)
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def documented_verify():
    with open(os.path.join(ROOT, "docs/guides/webhooks.md"), encoding="utf-8") as page:
        snippet = re.search(r"<!-- verify.py -->\n```python\n(.*?)```", page.read(), re.S).group(1)
    scope = {}
    exec(snippet, scope)  # pylint: disable=exec-used
    return scope["verify"]


class Receiver:
    """Keeps what it gets; `answers` are given one after the other, the last one for ever."""

    def __init__(self, answers=(200,), certificate=None):
        self.got = []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.got.append((dict(self.headers.items()), body))
                self.send_response(answers[min(len(receiver.got), len(answers)) - 1])
                self.send_header("content-length", "5")
                self.end_headers()
                self.wfile.write(b"heard")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def keep_secret(instance):
    os.makedirs(instance.directory + "/data/secrets", mode=0o700)
    path = instance.directory + "/data/secrets/billing"
    with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write(SECRET + "\n")


def webhook(url, **more):
    return {"kind": "perdure.webhook", "args": {"url": url, "body": {"order": 17}, **more}}


def outcome(instance, job, patience=60):
    instance.wait_until_ended([job], patience)
    return instance.job(job)


def allow(instance):
    instance.args = ["--set", "webhooks.allow_private=127.0.0.1"]


@TABLE.row
def the_snippet_of_the_guide_verifies_a_delivery(instance):
    keep_secret(instance)
    allow(instance)
    receiver = Receiver()
    job = instance.start().submit(webhook(f"http://127.0.0.1:{receiver.port}/in", secret="billing"))
    shown = outcome(instance, job)
    expect(shown["state"] == "succeeded", shown)
    (headers, body), = receiver.got
    verify = documented_verify()
    verify(SECRET, headers, body)
    expect(headers["webhook-id"] == job, headers)
    for wrong in ((SECRET[:-1] + "x", headers, body), (SECRET, headers, body + b" "),
                  (SECRET, {**headers, "webhook-id": "other"}, body),
                  (SECRET, {**headers, "webhook-timestamp": "1"}, body)):
        try:
            verify(*wrong)
        except ValueError:
            continue
        raise AssertionError(f"this should not verify: {wrong}")
    receiver.close()


@TABLE.row
def what_is_refused_is_repeated_with_the_same_id(instance):
    allow(instance)
    receiver = Receiver([503, 200])
    job = instance.start().submit(webhook(f"http://127.0.0.1:{receiver.port}/in"))
    shown = outcome(instance, job)
    expect(shown["state"] == "succeeded", shown)
    ids = [headers["webhook-id"] for headers, _ in receiver.got]
    expect(ids == [job, job], ids)
    causes = [attempt.get("cause") for attempt in shown["attempts"]]
    expect("disconnected" in causes, causes)
    receiver.close()


@TABLE.row
def a_job_with_notify_tells_its_end_once(instance):
    keep_secret(instance)
    allow(instance)
    receiver = Receiver()
    instance.start()
    began = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(milliseconds=1)
    job = subprocess.run(
        [PERDURE, "submit", "--quiet", "--notify", f"http://127.0.0.1:{receiver.port}/in",
         "--notify-secret", "billing", "--", "sh", "-c", "exit 3"],
        env={**os.environ, "PERDURE_SERVER": f"http://127.0.0.1:{instance.port}"},
        check=True, capture_output=True, text=True).stdout.strip()
    expect(outcome(instance, job)["state"] == "failed", instance.job(job))
    callback, = instance.job(job)["callbacks"]
    made, = callback["made"]
    expect(outcome(instance, made["job"])["state"] == "succeeded", instance.job(made["job"]))
    # Nothing is under way any more: what came is all that comes.
    (headers, body), = receiver.got
    documented_verify()(SECRET, headers, body)
    expect(headers["webhook-id"] == f"{job}.g1.n0", headers)
    told = json.loads(body)
    at = datetime.datetime.fromisoformat(told.pop("timestamp").replace("Z", "+00:00"))
    expect(began <= at <= datetime.datetime.now(datetime.timezone.utc), at)
    expect(told == {"type": "job.failed", "job": job, "generation": 1, "state": "failed",
                    "cause": "exit", "exit_code": 3}, told)
    receiver.close()


@TABLE.row
def gone_fails_the_job(instance):
    allow(instance)
    receiver = Receiver([410])
    job = instance.start().submit(webhook(f"http://127.0.0.1:{receiver.port}/in"))
    expect(outcome(instance, job)["state"] == "failed", instance.job(job))
    receiver.close()


@TABLE.row
def a_private_address_fails_the_job_and_nothing_is_sent(instance):
    receiver = Receiver()
    job = instance.start().submit(webhook(f"http://127.0.0.1:{receiver.port}/in"))
    shown = outcome(instance, job)
    expect(shown["state"] == "failed", shown)
    expect("127.0.0.1 is loopback" in str(shown), shown)
    expect(not receiver.got, receiver.got)
    receiver.close()


@TABLE.row
def args_that_make_no_sense_say_why(instance):
    instance.start()
    for url, why in (("ftp://x/", "must begin with http"), ("https://u:p@x.example/", "password"),
                     ("http://1.2.3.4:22/", "22 is no port for webhooks")):
        done = run_cli(instance, "submit", "--kind", "perdure.webhook", "--args",
                       json.dumps({"url": url, "body": 1}))
        expect(done.returncode == 2 and why in done.stderr and not done.stdout, done)


@TABLE.row
def a_receiver_over_tls_must_prove_who_it_is(instance):
    allow(instance)
    folder = instance.directory
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-keyout", folder + "/key", "-out", folder + "/cert", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    with open(folder + "/both", "w") as both:
        for name in ("key", "cert"):
            with open(f"{folder}/{name}") as file:
                both.write(file.read())
    trusted = Receiver(certificate=folder + "/both")
    url = f"https://127.0.0.1:{trusted.port}/in"
    job = instance.start().submit({**webhook(url), "policy": "never"})
    shown = outcome(instance, job)
    expect(shown["state"] == "failed" and "cannot be trusted" in str(shown), shown)
    expect(not trusted.got, "something was sent to somebody unknown")
    instance.stop()

    instance.environment["SSL_CERT_FILE"] = folder + "/cert"
    instance.start()
    shown = outcome(instance, instance.submit(webhook(url)))
    expect(shown["state"] == "succeeded", shown)
    # The certificate is good, but for an address, not for this name.
    wrong_name = {**webhook(f"https://localhost:{trusted.port}/in"), "policy": "never"}
    shown = outcome(instance, instance.submit(wrong_name))
    expect(shown["state"] == "failed" and len(trusted.got) == 1, shown)
    trusted.close()


if __name__ == "__main__":
    TABLE.main()
