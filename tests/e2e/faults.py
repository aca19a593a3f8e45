#!/usr/bin/env python3
"""Arms each fault point on a real instance and sees that every job ends as it should.

    faults.py [--only NAME]... [--side-by-side N]

For each fault point: a fresh `perdure up` with that fault armed once, and four jobs: repeatable,
once, with a key, and one that leaves a process behind. Then, by id and by witness files:
  the fault has struck; every job has ended; no `once` job has started twice; what succeeded has
  reached its end; no two attempts with one key overlapped; nothing is left over; fsck is clean.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import time

from instance import PERDURE, Instance, Refused, Unreachable, run_cli
from kill_rounds import await_no_leftovers

WITNESS = """
exec 9>>"$WITNESS/lock.$LOCK"
flock -n 9 || echo "overlap" >>"$WITNESS/$PERDURE_JOB"
echo "start $PERDURE_EPOCH" >>"$WITNESS/$PERDURE_JOB"
sleep 0.3
[ -z "$LEAVES" ] || (setsid sh -c 'trap "" TERM; exec 9>&-; sleep 1000' &)
echo "end $PERDURE_EPOCH" >>"$WITNESS/$PERDURE_JOB"
"""

# Of these, a `once` job cannot know whether it ran: a person decides.
MAY_HAVE_RUN = {"shim.after_started", "shim.dies_running", "shim.before_rename"}
PATIENCE_S = 40


def fault_points():
    listed = subprocess.run([PERDURE, "faults", "--json"], check=True, capture_output=True,
                            text=True)
    return [point["name"] for point in json.loads(listed.stdout)["faults"]]


def submit_surely(instance, job):
    """Unanswered means unknown: the same key again gets the same job."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return instance.ask("POST", "/v1/jobs", job, timeout=5)["id"]
        except (Unreachable, Refused) as failure:
            passing = isinstance(failure, Unreachable) or failure.status in (429, 503, 504)
            if not passing or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def submit_all(instance, witness):
    os.mkdir(witness)
    jobs = {}
    for name, more in {"plain": {}, "once": {"effects": "once"}, "keyed": {"key": "k"},
                       "leaves": {"effects": "once"}}.items():
        job = {"argv": ["sh", "-c", WITNESS], "idempotency_key": name, **more,
               "env": {"WITNESS": witness, "LOCK": name, "LEAVES": "1" if name == "leaves" else ""}}
        jobs[submit_surely(instance, job)] = name
    return jobs


def has_struck(instance, fault):
    role = "server" if fault.startswith(("server", "store")) else "worker"
    folder = "data" if role == "server" else "data/worker"
    try:
        with open(os.path.join(instance.directory, folder, "faults." + role)) as file:
            return file.read().startswith("1 ")
    except FileNotFoundError:
        return False


def await_strike(instance, fault, patience=8):
    """Some places are passed only now and then: a server does not tick in its first 2 s."""
    deadline = time.monotonic() + patience
    while not has_struck(instance, fault) and time.monotonic() < deadline:
        time.sleep(0.05)


def wrong_with(job, name, fault, lines):
    starts = sum(line.startswith("start") for line in lines)
    ends = sum(line.startswith("end") for line in lines)
    once = name in ("once", "leaves")
    allowed = {"succeeded", "quarantined"} if once and fault in MAY_HAVE_RUN else {"succeeded"}
    if job["state"] not in allowed:
        yield f"{name} is {job['state']}: {job['attempts']}"
    if once and starts > 1:
        yield f"{name} is a once job and started {starts} times"
    if job["state"] == "succeeded" and ends == 0:
        yield f"{name} is called succeeded and never reached its end"
    if "overlap" in lines:
        yield f"{name}: two attempts overlapped"


def judge(instance, jobs, fault, witness):
    wrong = []
    for job, name in jobs.items():
        with open(os.path.join(witness, job)) as file:
            lines = file.read().split("\n")
        wrong += wrong_with(instance.job(job), name, fault, lines)
    if not has_struck(instance, fault):
        wrong.append("the fault never struck")
    wrong += [f"left over: {name}" for name in await_no_leftovers(instance).values()]
    fsck = run_cli(instance, "fsck")
    if fsck.returncode != 0:
        wrong.append("fsck: " + fsck.stdout + fsck.stderr)
    return wrong


def play(fault):
    """How long it took until all jobs had ended, and what went wrong."""
    instance = Instance(slots=4, args=["--set", f"debug.faults={fault}=100%x1"])
    try:
        instance.start()
        began = time.monotonic()
        witness = os.path.join(instance.directory, "witness")
        jobs = submit_all(instance, witness)
        instance.wait_until_ended(jobs, patience=PATIENCE_S)
        await_strike(instance, fault)
        return time.monotonic() - began, judge(instance, jobs, fault, witness)
    except Exception as failure:  # whatever it is, it belongs to this fault
        return 0, [f"{type(failure).__name__}: {failure}"]
    finally:
        instance.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append")
    parser.add_argument("--side-by-side", type=int, default=4)
    args = parser.parse_args()
    faults = args.only or fault_points()
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(args.side_by_side) as pool:
        for fault, (took, wrong) in zip(faults, pool.map(play, faults)):
            bad += bool(wrong)
            print(f"{'✗' if wrong else '✓'} {fault:28}{took:6.1f} s", flush=True)
            for sentence in wrong:
                print("    " + sentence)
    print(f"{len(faults) - bad} of {len(faults)} fault points: every job ended as it should")
    return 1 if bad or not faults else 0


if __name__ == "__main__":
    sys.exit(main())
