#!/usr/bin/env python3
"""What other accounts of the host get: nothing, with a sentence that says why; and the owner's work
goes on. Owner and stranger are real accounts by number, so this needs root.

    strangers.py [NAME...]
"""
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from instance import PERDURE, Instance
from table import Table, expect

OWNER, STRANGER = 61001, 61002


def as_user(uid, *words):
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *words]


class OwnersInstance(Instance):
    """`perdure up` of the owner's account; what it is asked is asked by whoever the row says."""

    def __init__(self):
        super().__init__(slots=2)
        self.bin = tempfile.mkdtemp(prefix="perdure-e2e-bin-")
        os.chmod(self.bin, 0o755)
        for name in ("perdure", "perdure-shim"):  # where these accounts can read it
            shutil.copy(os.path.join(os.path.dirname(PERDURE), name), self.bin)
        self.program = os.path.join(self.bin, "perdure")
        os.chmod(self.directory, 0o711)
        self.data = self.directory + "/data"
        os.mkdir(self.data, 0o700)
        os.chown(self.data, OWNER, OWNER)
        self.process = None

    def start(self, *args):
        name, _, value = self.marker.partition("=")
        self.ready.clear()
        self.process = subprocess.Popen(
            as_user(OWNER, self.program, "up", "--data", self.data, "--listen",
                    f"127.0.0.1:{self.port or 0}", "--slots", "2", *args),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={"PATH": os.environ["PATH"], "HOME": "/", name: value}, cwd="/")
        import threading
        threading.Thread(target=self._listen, args=(self.process,), daemon=True).start()
        if not self.ready.wait(20):
            raise AssertionError("not ready in time; it said:\n" + "".join(self.said[-30:]))
        return self

    def remove(self):
        super().remove()
        shutil.rmtree(self.bin, ignore_errors=True)

    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def cli(self, uid, *args, cwd="/", env=None):
        return subprocess.run(as_user(uid, self.program, *args), capture_output=True, text=True,
                              timeout=60, stdin=subprocess.DEVNULL, cwd=cwd,
                              env={"PATH": os.environ["PATH"], "HOME": "/nowhere", **(env or {})})

    def owners_work_goes_on(self):
        done = self.cli(OWNER, "run", "--data", self.data, "--", "echo", "still here")
        expect(done.returncode == 0 and "still here" in done.stdout, done.returncode, done.stdout,
               done.stderr)


def prepare(_=None):
    return OwnersInstance()


TABLE = Table(prepare, is_started=False)

ASK = """
import http.client, json, sys
port, method, path, body, headers = json.loads(sys.argv[1])
c = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
c.request(method, path, body, {"Content-Type": "application/json", **headers})
a = c.getresponse()
print(a.status, a.read().decode())
"""


def ask_as(uid, instance, method, path, body=None, headers=None):
    words = json.dumps([instance.port, method, path, body, headers or {}])
    done = subprocess.run(as_user(uid, sys.executable, "-c", ASK, words), capture_output=True,
                          text=True, timeout=30)
    status, _, text = done.stdout.partition(" ")
    expect(status.isdigit(), done.stdout, done.stderr)
    return int(status), text


@TABLE.row
def run_a_command(instance):
    instance.start()
    tried = instance.cli(STRANGER, "run", "--server", instance.url(), "--set",
                         f"server.users={OWNER}", "--", "id")
    expect(tried.returncode == 7 and "this account needs a token" in tried.stderr,
           tried.returncode, tried.stderr)
    status, text = ask_as(STRANGER, instance, "POST", "/v1/jobs", '{"argv":["id"]}')
    expect(status == 401 and "docs/errors/unauthenticated.md" in text, status, text)
    instance.owners_work_goes_on()


@TABLE.row
def read_jobs_and_metrics(instance):
    instance.start()
    made = instance.cli(OWNER, "submit", "--data", instance.data, "--env", "PASSWORD=hunter2", "--",
                        "true")
    expect(made.returncode == 0, made.stderr)
    job = made.stdout.strip()
    for path in ("/v1/jobs", "/v1/jobs/" + job, f"/v1/jobs/{job}/logs", "/metrics", "/v1/audit"):
        status, text = ask_as(STRANGER, instance, "GET", path)
        expect(status == 401 and "hunter2" not in text, path, status, text)
    for path in ("/livez", "/readyz"):
        expect(ask_as(STRANGER, instance, "GET", path)[0] == 200, path)
    expect(ask_as(OWNER, instance, "GET", "/v1/jobs/" + job)[0] == 200, "the owner may")


@TABLE.row
def read_the_data_directory(instance):
    instance.start()
    tried = subprocess.run(as_user(STRANGER, "ls", instance.data), capture_output=True, text=True)
    expect(tried.returncode != 0, tried.stdout)
    for name in os.listdir(instance.data):
        mode = os.lstat(os.path.join(instance.data, name)).st_mode & 0o077
        expect(mode == 0, name, oct(mode))
    tried = instance.cli(STRANGER, "jobs", "--server", f"unix:{instance.data}/api")
    expect(tried.returncode != 0, tried.stdout, tried.stderr)


@TABLE.row
def be_a_worker(instance):
    instance.start()
    state = tempfile.mkdtemp(prefix="perdure-e2e-thief-")
    os.chown(state, STRANGER, STRANGER)
    thief = subprocess.Popen(
        as_user(STRANGER, instance.program, "worker", "--server", instance.url(), "--name", "thief",
                "--state", state + "/worker", "--data", state, "--set", f"server.users={OWNER}"),
        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        env={"PATH": os.environ["PATH"], "HOME": "/nowhere"})
    try:
        instance.owners_work_goes_on()
        time.sleep(1)
        workers = instance.cli(OWNER, "workers", "--data", instance.data).stdout
        expect("thief" not in workers, workers)
    finally:
        thief.terminate()
        said = thief.communicate(timeout=60)[1]
        shutil.rmtree(state, ignore_errors=True)
    expect("needs a token" in said, said)


@TABLE.row
def come_through_a_proxy(instance):
    instance.start()
    for header in ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"):
        status, text = ask_as(OWNER, instance, "GET", "/v1/jobs", headers={header: "for=1.2.3.4"})
        expect(status == 401 and "proxy" in text, header, status, text)


@TABLE.row
def send_and_leave_before_it_is_accepted(instance):
    """The kernel lists such a connection as root's: it must not be believed."""
    instance.start()
    marker = instance.directory + "/owned"
    body = json.dumps({"argv": ["touch", marker]})
    code = ("import socket,sys\n"
            "for _ in range(300):\n"
            " s=socket.create_connection(('127.0.0.1',int(sys.argv[1])));s.sendall(sys.argv[2]"
            ".encode());s.close()\n")
    request = (f"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
               f"Content-Length: {len(body)}\r\n\r\n{body}")
    subprocess.run(as_user(STRANGER, sys.executable, "-c", code, str(instance.port), request),
                   check=True, timeout=60)
    instance.owners_work_goes_on()
    jobs = instance.cli(OWNER, "jobs", "--data", instance.data, "--json").stdout
    expect("touch" not in jobs, jobs)


@TABLE.row
def plant_a_directory(instance):
    planted = tempfile.mkdtemp(prefix="perdure-e2e-planted-")
    try:
        os.chown(planted, STRANGER, STRANGER)
        os.chmod(planted, 0o777)
        tried = instance.cli(OWNER, "up", "--data", planted, "--listen", "127.0.0.1:0")
        expect(tried.returncode == 7 and "belongs to" in tried.stderr, tried.returncode,
               tried.stderr)
        tried = instance.cli(OWNER, "up", "--data", planted + "/deeper", "--listen", "127.0.0.1:0")
        expect(tried.returncode == 7 and os.listdir(planted) == [], tried.returncode, tried.stderr)
    finally:
        shutil.rmtree(planted)


@TABLE.row
def plant_a_link(instance):
    precious = instance.directory + "/precious"
    with open(precious, "w", encoding="utf-8") as file:
        file.write("precious")
    os.chown(precious, OWNER, OWNER)
    os.symlink(precious, instance.data + "/lock")
    tried = instance.cli(OWNER, "up", "--data", instance.data, "--listen", "127.0.0.1:0")
    expect(tried.returncode == 7 and "symbolic link" in tried.stderr, tried.stderr)
    with open(precious, encoding="utf-8") as file:
        expect(file.read() == "precious", "the file was overwritten")


@TABLE.row
def plant_a_configuration(instance):
    instance.start()
    folder = tempfile.mkdtemp(prefix="perdure-e2e-folder-")
    try:
        os.chmod(folder, 0o755)
        with open(folder + "/perdure.toml", "w", encoding="utf-8") as file:
            file.write('[server]\nurls = ["http://127.0.0.1:1"]\n')
        os.chown(folder + "/perdure.toml", STRANGER, STRANGER)
        done = instance.cli(OWNER, "run", "--data", instance.data, "--", "echo", "hello",
                            cwd=folder)
        expect(done.returncode == 0 and "hello" in done.stdout, done.stdout, done.stderr)
        expect("perdure.toml belongs to" in done.stderr, done.stderr)
    finally:
        shutil.rmtree(folder)


@TABLE.row
def listen_in_the_place_of_the_server(instance):
    code = ("import socket,sys\n"
            "l=socket.create_server(('127.0.0.1',0));print(l.getsockname()[1],flush=True)\n"
            "while True:\n"
            " c,_=l.accept();d=c.recv(65536);print(repr(d),flush=True)\n"
            " c.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n');"
            "print(repr(c.recv(65536)),flush=True)\n")
    trap = subprocess.Popen(as_user(STRANGER, sys.executable, "-c", code), stdout=subprocess.PIPE,
                            text=True)
    try:
        port = int(trap.stdout.readline())
        tried = instance.cli(OWNER, "submit", "--server", f"http://127.0.0.1:{port}", "--env",
                             "PASSWORD=hunter2", "--", "true")
        expect(tried.returncode == 7 and "belongs to" in tried.stderr, tried.returncode,
               tried.stderr)
    finally:
        trap.kill()
        heard = trap.communicate()[0]
    expect("hunter2" not in heard and "/livez" in heard, heard)


@TABLE.row
def a_token_lets_in_as_far_as_its_role(instance):
    instance.start()
    made = instance.cli(OWNER, "token", "create", "watch", "--role", "viewer", "--data",
                        instance.data)
    expect(made.returncode == 0, made.stderr)
    header = {"Authorization": "Bearer " + made.stdout.strip()}
    expect(ask_as(STRANGER, instance, "GET", "/v1/jobs", headers=header)[0] == 200, "may read")
    status, text = ask_as(STRANGER, instance, "POST", "/v1/jobs", '{"argv":["id"]}', header)
    expect(status == 403 and "needs the role submitter" in text, status, text)
    path = instance.directory + "/token"
    with open(path, "w", encoding="utf-8") as file:
        file.write(made.stdout)
    os.chown(path, STRANGER, STRANGER)
    words = ("jobs", "--server", instance.url(), "--set", f"server.users={OWNER}", "--token-file",
             path)
    os.chmod(path, 0o644)
    expect("others can read" in instance.cli(STRANGER, *words).stderr, "a secret is for one user")
    os.chmod(path, 0o600)
    done = instance.cli(STRANGER, *words)
    expect(done.returncode == 0, done.stderr)
    expect(instance.cli(OWNER, "token", "revoke", "watch", "--data", instance.data).returncode == 0,
           "revoked")
    expect(ask_as(STRANGER, instance, "GET", "/v1/jobs", headers=header)[0] == 401, "at once")
    audit = instance.cli(OWNER, "audit", "--data", instance.data).stdout
    expect("token watch" in audit and "403" in audit, audit)


@TABLE.row
def both_addresses_of_the_port_are_the_servers(instance):
    """Whoever had the other one would get what is meant for `localhost`."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return "there is no IPv6 here"
    instance.start()
    six = ("import http.client,sys\n"
           "c=http.client.HTTPConnection('::1',int(sys.argv[1]),timeout=10)\n"
           "c.request('GET','/v1/jobs');print(c.getresponse().status)\n")
    for uid, status in ((OWNER, "200"), (0, "200"), (STRANGER, "401")):
        done = subprocess.run(as_user(uid, sys.executable, "-c", six, str(instance.port)),
                              capture_output=True, text=True, timeout=30)
        expect(done.stdout.strip() == status, uid, done.stdout, done.stderr)
    instance.stop()
    squatter = subprocess.Popen(
        as_user(STRANGER, sys.executable, "-c",
                "import socket,sys\n"
                "l=socket.create_server(('::1',int(sys.argv[1])),family=socket.AF_INET6)\n"
                "print('up',flush=True);l.accept()\n", str(instance.port)),
        stdout=subprocess.PIPE, text=True)
    try:
        expect(squatter.stdout.readline() == "up\n", "it listens")
        tried = instance.cli(OWNER, "up", "--data", instance.data, "--listen",
                             f"127.0.0.1:{instance.port}")
        expect(tried.returncode != 0 and "::1 is taken" in tried.stderr, tried.stderr)
    finally:
        squatter.kill()
        squatter.wait()
    return None


@TABLE.row
def guess_tokens_over_many_connections(instance):
    """Eight wrong ones at once wait one behind another, by the account; others wait for nobody."""
    instance.start()
    made = instance.cli(OWNER, "token", "create", "watch", "--role", "viewer", "--data",
                        instance.data)
    began = time.monotonic()
    code = ("import http.client,sys,threading\n"
            "def one(n):\n"
            " c=http.client.HTTPConnection('127.0.0.1',int(sys.argv[1]),timeout=60)\n"
            " c.request('GET','/v1/jobs',headers={'Authorization':'Bearer wrong%d'%n})\n"
            " assert c.getresponse().status==401\n"
            "all=[threading.Thread(target=one,args=(n,)) for n in range(6)]\n"
            "[t.start() for t in all];[t.join() for t in all]\n")
    guesser = subprocess.Popen(as_user(STRANGER, sys.executable, "-c", code, str(instance.port)))
    header = {"Authorization": "Bearer " + made.stdout.strip()}
    expect(ask_as(STRANGER, instance, "GET", "/v1/jobs", headers=header)[0] == 200, "right ones")
    instance.owners_work_goes_on()
    expect(guesser.wait(60) == 0, "all were refused")
    # 0.25 + 0.5 + 1 + 2 + 4 + 4 s, one behind another.
    expect(time.monotonic() - began > 11, time.monotonic() - began)


@TABLE.row
def go_on_listening_with_a_revoked_token(instance):
    instance.start()
    made = instance.cli(OWNER, "token", "create", "watch", "--role", "viewer", "--data",
                        instance.data)
    job = instance.cli(OWNER, "submit", "--data", instance.data, "--", "sleep",
                       "1000").stdout.strip()
    header = {"Authorization": "Bearer " + made.stdout.strip()}
    streams = []
    for path in (f"/v1/jobs/{job}/logs?follow=true", f"/v1/jobs/{job}/wait?for=4m"):
        code = ("import http.client,json,sys,time\n"
                "port,path,headers=json.loads(sys.argv[1])\n"
                "c=http.client.HTTPConnection('127.0.0.1',port,timeout=60)\n"
                "c.request('GET',path,headers=headers)\n"
                "print('asked',flush=True)\n"
                "try: a=c.getresponse();print(a.status,a.read())\n"
                "except Exception as e: print('broke',type(e).__name__)\n")
        streams.append(subprocess.Popen(
            as_user(STRANGER, sys.executable, "-c", code,
                    json.dumps([instance.port, path, header])), stdout=subprocess.PIPE, text=True))
        expect(streams[-1].stdout.readline() == "asked\n", "it listens")
    time.sleep(1)
    expect(all(each.poll() is None for each in streams), "they listen")
    expect(instance.cli(OWNER, "token", "revoke", "watch", "--data", instance.data).returncode == 0,
           "revoked")
    for each in streams:
        said = each.communicate(timeout=5)[0]
        expect("200" not in said or "IncompleteRead" in said or "broke" in said, said)


@TABLE.row
def an_account_that_is_named_needs_no_token(instance):
    instance.start("--allow-user", f"{STRANGER}:viewer")
    expect(ask_as(STRANGER, instance, "GET", "/v1/jobs")[0] == 200, "a viewer may read")
    expect(ask_as(STRANGER, instance, "POST", "/v1/jobs", '{"argv":["id"]}')[0] == 403, "not run")


@TABLE.row
def root_is_believed_unless_it_shall_not(instance):
    instance.start()
    expect(ask_as(0, instance, "GET", "/v1/jobs")[0] == 200, "by default")
    instance.stop()
    instance.start("--set", "access.trust_root=false")
    expect(ask_as(0, instance, "GET", "/v1/jobs")[0] == 401, "not now")
    instance.owners_work_goes_on()


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("needs root, to be several accounts: left out")
        sys.exit(0)
    TABLE.main()
