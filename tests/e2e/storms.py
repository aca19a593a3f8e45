#!/usr/bin/env python3
"""Storms: a person or a job kills processes again and again, a worker sleeps past its lease, jobs
print more than the disk takes. Work goes on, nobody pays for somebody else, nothing is dropped
without a word. One table; each row is a function that raises what is wrong.

    storms.py [NAME...]
"""
import os
import signal
import sys
import time

from instance import Instance, kill, run_cli

TABLE = {}


def row(function):
    TABLE[function.__name__] = function
    return function


def expect(condition, *facts):
    if not condition:
        raise AssertionError(" ".join(str(fact) for fact in facts))


def until(what, condition, patience=30):
    deadline = time.monotonic() + patience
    while True:
        found = condition()
        if found:
            return found
        expect(time.monotonic() < deadline, "waited in vain for", what)
        time.sleep(0.02)


def kill_everything(instance):
    """Watchdog, server and worker, as a person does; then a new start. Says when that was ready."""
    for role in ("watchdog", "server", "worker"):
        for pid in instance.pids(role):
            kill(pid)
    instance.process.wait(10)
    instance.start()
    return time.time()


def shell(script, **more):
    return {"argv": ["sh", "-c", script], **more}


def path(instance, name):
    return os.path.join(instance.directory, name)


def touch(instance, name):
    open(path(instance, name), "w").close()


def until_file(instance, name):
    """Runs until the file is there."""
    return f"while [ ! -e {path(instance, name)} ]; do sleep 0.05; done"


def state(instance, job):
    return instance.job(job)["state"]


def attempts(instance, job):
    return instance.job(job)["attempts"]


def causes(instance, job):
    return [one.get("cause") for one in attempts(instance, job)]


def until_running(instance, *jobs):
    for job in jobs:
        until(f"{job} to run", lambda job=job: state(instance, job) == "running")


@row
def three_kills_of_everything_do_not_stop_the_work():
    """O9, [P5]: the worker is on probation, and goes on working."""
    instance = Instance(slots=8).start()
    try:
        starts = path(instance, "starts")
        os.mkdir(starts)
        script = f"touch {starts}/$PERDURE_JOB; sleep 0.2"
        jobs = [instance.submit(shell(script)) for _ in range(200)]
        for _ in range(3):
            time.sleep(0.7)
            ready = kill_everything(instance)
        expect(len(os.listdir(starts)) < 150, "the storm came too late to show anything")
        instance.wait_until_ended(jobs, patience=25)
        took = time.time() - ready
        after = [os.stat(os.path.join(starts, one)).st_mtime - ready for one in os.listdir(starts)]
        first = min(one for one in after if one > 0)
        expect(first < 1, f"the first start came {first:.1f} s after the restart")
        expect(all(state(instance, one) == "succeeded" for one in jobs), "not all succeeded")
        return f"first start {first * 1000:.0f} ms, all ended {took:.1f} s after the restart"
    finally:
        instance.remove()


# Kills every worker of its instance that it sees, half a second after it has seen it.
WORKER_KILLER = """
import os, signal, sys, time
mark = sys.argv[1].encode()
while True:
    for one in filter(str.isdigit, os.listdir('/proc')):
        try:
            words = open(f'/proc/{one}/cmdline', 'rb').read().split(b'\\0')
            if b'child-worker' in words and mark in open(f'/proc/{one}/environ', 'rb').read():
                time.sleep(0.5)
                os.kill(int(one), signal.SIGKILL)
        except OSError:
            pass
    time.sleep(0.05)
"""


@row
def a_job_that_kills_its_worker_is_found_and_its_neighbours_are_not_harmed():
    """O9, [P6]: suspected, then alone, then charged; the one beside it is adopted each time."""
    instance = Instance(slots=8).start()
    try:
        neighbour = instance.submit(shell(until_file(instance, "over")))
        until_running(instance, neighbour)
        poison = instance.submit(
            {"argv": ["python3", "-c", WORKER_KILLER, instance.marker]})
        until("the suspicion", lambda: "suspect" in causes(instance, poison))
        expect(state(instance, neighbour) == "running", "the neighbour:", instance.job(neighbour))
        why = run_cli(instance, "why", poison)
        expect("suspect" in why.stdout, why.stdout, why.stderr)
        touch(instance, "over")
        until("quarantine", lambda: state(instance, poison) == "quarantined", patience=40)
        expect(state(instance, neighbour) == "succeeded", instance.job(neighbour))
        expect(len(attempts(instance, neighbour)) == 1, "the neighbour ran again")
        found = causes(instance, poison)
        expect(found.count("crash(worker)") == 3, "charged:", found)
        later = instance.submit(shell("true"))
        instance.wait_until_ended([later], patience=10)
        return f"attempts of the culprit: {found}"
    finally:
        instance.remove()


@row
def a_person_who_kills_everything_four_times_does_not_quarantine_a_once_job():
    """O9, [P4]."""
    instance = Instance(slots=8).start()
    try:
        once = instance.submit(shell(until_file(instance, "over"), effects="once"))
        never = instance.submit(shell(until_file(instance, "over"), policy="never"))
        until_running(instance, once, never)
        for _ in range(5):
            kill_everything(instance)
            time.sleep(0.5)
        touch(instance, "over")
        ended = instance.wait_until_ended([once, never], patience=15)
        expect(all(one["state"] == "succeeded" for one in ended.values()), ended)
        expect(len(attempts(instance, once)) == 1, "it ran again")
    finally:
        instance.remove()


def main():
    names = sys.argv[1:] or list(TABLE)
    failed = 0
    for name in names:
        began = time.monotonic()
        try:
            said = TABLE[name]()
        except Exception as wrong:  # whatever it is, the next row runs
            failed += 1
            print(f"FAILED {name}: {type(wrong).__name__}: {wrong}")
        else:
            print(f"ok     {name} ({time.monotonic() - began:.1f} s){': ' + said if said else ''}")
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
