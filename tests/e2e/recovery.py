#!/usr/bin/env python3
"""Repairs with real processes: what the ledger tells about them, and what becomes of quarantine.
One table; each row is a function that says what is wrong, or nothing.

    recovery.py [NAME...]
"""
import json
import os
import re
import shutil
import signal
import time

from instance import Instance, Refused, is_alive, kill, run_cli
from table import SHORT, Table, expect, until



def prepare(row):
    """Short of patience; `file`: its perdure.toml."""
    instance = Instance(args=SHORT)
    if hasattr(row, "file"):
        with open(os.path.join(instance.directory, "perdure.toml"), "w") as perdure_toml:
            perdure_toml.write(row.file)
    return instance


TABLE = Table(prepare)


def entries(instance, **query):
    path = "/v1/recoveries?" + "&".join(f"{name}={value}" for name, value in query.items())
    return instance.insist("GET", path)["recoveries"]


def state_of(instance, job):
    return instance.job(job)["state"]


def pid_in(instance, name):
    try:
        with open(os.path.join(instance.directory, name)) as file:
            return int(file.read() or 0)
    except (OSError, ValueError):
        return 0


def writes_its_pid(instance, name, then):
    path = os.path.join(instance.directory, name)
    return ["sh", "-c", f"echo $$ >{path}.new; mv {path}.new {path}; {then}"]


@TABLE.row
def a_worker_that_dies_and_comes_back_reruns_nothing(instance):
    job = instance.submit({"argv": ["sleep", "60"]})
    until("a running job", lambda: state_of(instance, job) == "running")
    kill(instance.pids("worker")[0])
    entry = until("the adoption", lambda: entries(instance, job=job))[0]
    expect(entry["incident"] == "worker_restarted", entry)
    expect(entry["decision"] == "adopted" and entry["epoch"] == 1, entry)
    expect(entry["epoch_after"] == 1, "it was not run again", entry)
    expect(re.match(r"[0-9]+ms", entry["time_to_detect"]), "not within a second", entry)
    shown = run_cli(instance, "recoveries", "--job", job).stdout
    expect("died and came back after" in shown and "adopted, not rerun" in shown, shown)
    metrics = instance.ask("GET", "/metrics").decode()
    expect('perdure_restart_attempts_total{incident="worker_restarted",outcome="adopted"} 1'
           in metrics, metrics)
    instance.ask("POST", f"/v1/jobs/{job}/cancel")


@TABLE.row
def a_job_that_crashes_is_quarantined_with_evidence(instance):
    job = instance.submit({"argv": ["sh", "-c", "echo about to die; kill -SEGV $$"]})
    until("quarantine", lambda: state_of(instance, job) == "quarantined")
    told = [entry["decision"] for entry in reversed(entries(instance, job=job))]
    expect(told == ["run_again_later", "run_again_later", "quarantined"], told)
    shown = run_cli(instance, "quarantine", "show", job).stdout
    for word in ("attempt 3", "crash(signal)", "signal      11", "about to die", "peak memory",
                 "ran for", "host"):
        expect(word in shown, f"`{word}` is missing in\n{shown}")
    why = run_cli(instance, "why", job).stdout
    expect("seen by report" in why and "decided: quarantined" in why, why)
    timeline = run_cli(instance, "job", "show", job).stdout
    for word in ("  queue     submitted", "  lease     attempt 1 claimed", "  process   attempt 1",
                 "  recovery  seen by report"):
        expect(word in timeline, f"`{word}` is missing in\n{timeline}")
    done = run_cli(instance, "quarantine", "discard", "--cause", "crash(signal)", "--yes")
    expect(done.returncode == 0 and "dealt with" in done.stderr, done.stderr)
    expect(job not in run_cli(instance, "quarantine").stdout, "it was dealt with")


@TABLE.row
def a_release_stops_the_old_process_first(instance):
    argv = writes_its_pid(instance, "pid", "exec sleep 300")
    job = instance.submit({"argv": argv, "effects": "once"})
    old = until("its process", lambda: pid_in(instance, "pid"))
    worker = instance.pids("worker")[0]
    os.kill(worker, signal.SIGSTOP)
    until("quarantine", lambda: state_of(instance, job) == "quarantined")
    try:
        instance.ask("POST", f"/v1/jobs/{job}/release", {}, timeout=30)
        expect(False, "released although nobody reaches its worker")
    except Refused as refused:
        expect("may still run on worker" in str(refused), refused)
    listed = run_cli(instance, "quarantine").stdout
    expect("MAY STILL RUN ON" in listed and job in listed, listed)
    os.kill(worker, signal.SIGCONT)
    time.sleep(2)
    expect(is_alive(old), "it goes on while nobody has dealt with it")
    os.unlink(os.path.join(instance.directory, "pid"))
    done = run_cli(instance, "quarantine", "release", job)
    expect(done.returncode == 0, done.stderr)
    expect(not is_alive(old), "released, and the old process lives")
    new = until("the next process", lambda: pid_in(instance, "pid"))
    expect(new != old and instance.job(job)["generation"] == 2, new, old)
    instance.ask("POST", f"/v1/jobs/{job}/cancel")


@TABLE.row
def a_sweep_by_hand_tells_what_it_looked_at(instance):
    job = instance.submit({"argv": ["sleep", "60"]})
    until("a running job", lambda: state_of(instance, job) == "running")
    report = json.loads(run_cli(instance, "recover", "--report-only", "--json").stdout)
    expect(report["report_only"] and report["healthy"]["jobs"] >= 1, report)
    expect(report["healthy"]["workers"] == 1, report)
    said = run_cli(instance, "recover").stderr
    expect("as they should be" in said, said)
    instance.ask("POST", f"/v1/jobs/{job}/cancel")


def is_removed(path):
    shutil.rmtree(path, ignore_errors=True)
    return not os.path.exists(path)


@TABLE.row
def a_once_job_whose_directory_was_removed_is_not_run_again(instance):
    path = os.path.join(instance.directory, "ran")
    job = instance.submit({"argv": ["sh", "-c", f"echo ran >>{path}; exec sleep 300"],
                           "effects": "once"})
    until("a running job", lambda: state_of(instance, job) == "running" and os.path.exists(path))
    instance.process.kill()
    instance.process.wait()
    until("its worker's end", lambda: not instance.pids("worker"))
    removed = 0
    for folder, folders, _ in os.walk(os.path.join(instance.directory, "data")):
        if os.path.basename(folder) == "attempts":
            for name in folders:
                # Its shim lives, and may write while it is removed.
                until("the directory's removal",
                      lambda path=os.path.join(folder, name): is_removed(path))
                removed += 1
    expect(removed == 1, removed, "attempts' directories were removed")
    instance.start()
    until("quarantine", lambda: state_of(instance, job) == "quarantined")
    attempts = instance.job(job)["attempts"]
    expect(len(attempts) == 1 and attempts[0]["ran"] == "maybe", attempts)
    expect(attempts[0]["cause"] == "worker_lost", attempts)
    with open(path) as file:
        expect(file.read() == "ran\n", "it ran more than once")


@TABLE.marked(file="""
worker.name = "anvil"

[policies.stubborn]
rules = [
  { causes = ["exit"], times = 1 },
  { causes = ["worker_lost"], then = "quarantine" },
]

[workers.anvil]
policy = "stubborn"
""")
def the_policy_of_a_worker_judges_what_ends_on_it(instance):
    exits = {"argv": ["sh", "-c", "exit 3"]}
    inherits, chooses = instance.submit(exits), instance.submit({**exits, "policy": "default"})
    for job in (inherits, chooses):
        until("its end", lambda: state_of(instance, job) == "failed")
    rules = {job: [attempt["rule"] for attempt in instance.job(job)["attempts"]]
             for job in (inherits, chooses)}
    expect(rules == {inherits: ["custom/1", "custom/1"], chooses: ["default/own_failure"]}, rules)

    sleeps = {"argv": ["sleep", "60"]}
    inherits, chooses = instance.submit(sleeps), instance.submit({**sleeps, "policy": "default"})
    for job in (inherits, chooses):
        until("a running job", lambda: state_of(instance, job) == "running")
    told = run_cli(instance, "policy", "explain", inherits).stdout
    expect("policy stubborn (2 rules, else default) of worker anvil, effects" in told, told)
    told = run_cli(instance, "policy", "explain", chooses).stdout
    expect("policy default" in told and "on worker anvil" in told, told)
    worker = instance.pids("worker")[0]
    os.kill(worker, signal.SIGSTOP)
    until("quarantine", lambda: state_of(instance, inherits) == "quarantined")
    until("its next turn", lambda: state_of(instance, chooses) == "ready")
    expect(instance.job(inherits)["attempts"][0]["rule"] == "custom/2", instance.job(inherits))
    os.kill(worker, signal.SIGCONT)
    instance.ask("POST", f"/v1/jobs/{chooses}/cancel")


if __name__ == "__main__":
    TABLE.main()
