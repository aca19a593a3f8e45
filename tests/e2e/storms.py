#!/usr/bin/env python3
"""Storms: a person or a job kills processes again and again, a worker sleeps past its lease, jobs
print more than the disk takes. Work goes on, nobody pays for somebody else, nothing is dropped
without a word. One table; each row is a function that raises what is wrong.

    storms.py [kills | output | NAME...]
"""
import os
import signal
import subprocess
import sys
import time

from instance import Instance, kill, run_cli
from table import Table, expect, until

SHORT = ("--set", "timing.heartbeat=1s", "--set", "timing.lease=5s")


def prepare(marked):
    instance = Instance(marked.slots, marked.args)
    if marked.slow_disk:
        instance.environment = slow_syncs(instance.directory)
    return instance


TABLE = Table(prepare, at_once=1)  # each takes the whole machine


def row(group, slots=8, args=(), slow_disk=False):
    return TABLE.marked(group=group, slots=slots, args=args, slow_disk=slow_disk)


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


@row("kills", slots=16)
def three_kills_of_everything_do_not_stop_the_work(instance):
    """O9, [P5]: the worker is on probation, and goes on working."""
    starts = path(instance, "starts")
    os.mkdir(starts)
    script = f"touch {starts}/$PERDURE_JOB; sleep 1"
    jobs = [instance.submit(shell(script)) for _ in range(200)]
    for _ in range(3):
        time.sleep(0.7)
        ready = kill_everything(instance)
    expect(len(os.listdir(starts)) < 190, "the storm came too late to show anything")
    instance.wait_until_ended(jobs, patience=25)
    took = time.time() - ready
    after = [os.stat(os.path.join(starts, one)).st_mtime - ready for one in os.listdir(starts)]
    first = min(one for one in after if one > 0)
    expect(first < 1, f"the first start came {first:.1f} s after the restart")
    expect(all(state(instance, one) == "succeeded" for one in jobs), "not all succeeded")
    return f"first start {first * 1000:.0f} ms, all ended {took:.1f} s after the restart"


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


@row("kills")
def a_job_that_kills_its_worker_is_found_and_its_neighbours_are_not_harmed(instance):
    """O9, [P6]: suspected, then alone, then charged; the one beside it is adopted each time."""
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


@row("kills")
def a_person_who_kills_everything_four_times_does_not_quarantine_a_once_job(instance):
    """O9, [P4]."""
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

def switches(pid):
    """How often the threads of a process have been switched to so far."""
    count = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/status") as file:
            count += sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)
    return count


@row("kills")
def a_worker_that_does_nothing_sleeps(instance):
    """The calm between the storms: it is told what is new, and looks for nothing."""
    worker = instance.pids("worker")[0]
    time.sleep(1)
    before = switches(worker)
    time.sleep(3)
    rate = (switches(worker) - before) / 3
    expect(rate < 30, f"it woke {rate:.0f} times a second")
    return f"{rate:.1f} context switches a second"


def text_of(instance, job):
    """All that the server has of its newest attempt's output; stderr says what is missing."""
    logs = run_cli(instance, "logs", job)
    expect(logs.returncode == 0, logs.stderr)
    return logs.stdout, logs.stderr


def loud(lines):
    """Prints so many lines of 80 bytes, each with its number."""
    return {"argv": ["awk", f'BEGIN {{ for (i = 0; i < {lines}; i++) printf "%079d\\n", i }}']}


@row("output", slots=4, args=SHORT)
def the_output_of_a_worker_that_slept_past_its_lease_is_complete(instance):
    """O1: it was presumed lost, its end counts, and so does what it printed."""
    script = f"echo before; {until_file(instance, 'go')}; seq 1 20000; echo after"
    job = instance.submit(shell(script))
    until_running(instance, job)
    worker = instance.pids("worker")[0]
    os.kill(worker, signal.SIGSTOP)
    touch(instance, "go")  # it ends while its worker sleeps
    until("the end of its lease", lambda: instance.job(job).get("presumed_lost"))
    os.kill(worker, signal.SIGCONT)
    ended = instance.wait_until_ended([job], patience=20)[job]
    expect(ended["state"] == "succeeded", ended)
    expect(len(attempts(instance, job)) == 1, "it ran again:", causes(instance, job))
    text, _ = text_of(instance, job)
    wanted = "before\n" + "".join(f"{n}\n" for n in range(1, 20001)) + "after\n"
    expect(text == wanted, f"{len(text)} of {len(wanted)} bytes are there")


SLOW_SYNC = """
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
static int slowly(long call, int fd) {
    struct timespec nap = {0, 4000000};
    nanosleep(&nap, 0);
    return (int)syscall(call, fd);
}
int fsync(int fd) { return slowly(SYS_fsync, fd); }
int fdatasync(int fd) { return slowly(SYS_fdatasync, fd); }
"""


def slow_syncs(directory):
    """The environment of a process whose syncs take 4 ms longer."""
    source, library = os.path.join(directory, "slow.c"), os.path.join(directory, "slow.so")
    with open(source, "w") as file:
        file.write(SLOW_SYNC)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return {"LD_PRELOAD": library}


@row("output", slots=12, slow_disk=True)
def twelve_loud_jobs_keep_all_of_their_output_on_a_slow_disk(instance):
    """O1: an end waits while output is being taken, and attempts take turns."""
    lines = 195_000  # 15.6 MB, just below the cap
    jobs = [instance.submit(loud(lines)) for _ in range(12)]
    ended = instance.wait_until_ended(jobs, patience=60)
    expect(all(one["state"] == "succeeded" for one in ended.values()), ended)
    for job in jobs:
        text, said = text_of(instance, job)
        expect(len(text) == 80 * lines and not said,
               f"{len(text)} of {80 * lines} bytes are there, and it says: {said!r}")


if __name__ == "__main__":
    TABLE.main()
