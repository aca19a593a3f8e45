#!/usr/bin/env python3
"""kill -9 of server, worker, watchdog and shims, any mix, at random moments, under load; and pauses
of server and worker, some of them longer than a lease.

    kill_rounds.py --rounds 20 [--seed N]

Afterwards, by id and by witness files that the jobs write themselves:
  [P1]  no accepted job is lost            [P3]  none is stuck
  [P4]  no `once` job has started twice    [P8]  no process is left over
  O7    no two attempts with one key overlap, and a limit is never exceeded
  O1    the output of what has succeeded is complete, or its attempt says what is missing
  what must never be repeated is not, what is repeated for ever succeeds, and fsck finds nothing.
At any time 50 jobs of mixed policy, effects and isolation are under way.
"""
import argparse
import os
import random
import signal
import sys
import threading
import time

from instance import ENDED, Instance, Refused, Unreachable, kill, run_cli

# Writes one line at its start and one at its end. A lock is held by every process of the attempt:
# whoever cannot have one of its `ROOM` locks overlaps with others of the same key or limit.
WITNESS = """
n=$ROOM
while [ $n -gt 0 ]; do
    exec 9>>"$WITNESS/lock.$LOCK.$n"
    flock -n 9 && break
    n=$((n - 1))
done
[ $n -gt 0 ] || echo "overlap" >>"$WITNESS/$PERDURE_JOB"
echo "start $PERDURE_EPOCH" >>"$WITNESS/$PERDURE_JOB"
seq -f "line %.0f" 1 "$LINES"
sleep "$NAP"
echo "the end"
echo "end $PERDURE_EPOCH" >>"$WITNESS/$PERDURE_JOB"
"""

LIMIT = 3
# What is different about a job, and how much room its lock has.
SORTS = {
    "plain": {},
    "once": {"effects": "once"},
    "resumable": {"effects": "resumable"},
    "never": {"policy": "never"},
    "forever": {"policy": "forever"},
    "keyed": {"key": "key-{}"},
    "keyed once": {"key": "once-{}", "effects": "once"},
    "keyed forever": {"key": "forever-{}", "policy": "forever"},
    "limited": {"limits": ["three"]},
}
# What nobody may run again once it has begun.
ONCE = {"once", "keyed once", "never", "resumable"}
IN_FLIGHT = 50
LEASE = 5


class Load:
    """Submits jobs of all sorts, and knows which were accepted."""

    def __init__(self, instance, dice):
        self.instance = instance
        self.dice = dice
        self.witness = os.path.join(instance.directory, "witness")
        os.mkdir(self.witness)
        self.accepted = {}  # id: job
        self.printing = {}  # id: lines
        self.number = 0
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self.thread.start()

    def stop(self):
        self.stopping.set()
        self.thread.join(60)

    def _run(self):
        while not self.stopping.is_set():
            running = len(self.accepted) - len(self._ended())
            if running < IN_FLIGHT:
                self._submit_one()
            else:
                time.sleep(0.05)

    def _ended(self):
        return [one for one in os.listdir(self.witness) if self._has_end(one)]

    def _has_end(self, name):
        with open(os.path.join(self.witness, name)) as file:
            return "end" in file.read()

    def _submit_one(self):
        self.number += 1
        sort = self.dice.choice(sorted(SORTS))
        job = {"argv": ["sh", "-c", WITNESS], "idempotency_key": f"load-{self.number}",
               **SORTS[sort],
               "env": {"WITNESS": self.witness, "LOCK": f"own.{self.number}", "ROOM": "1",
                       "NAP": str(self.dice.choice([0, 0.1, 0.5, 2])),
                       "LINES": str(self.dice.choice([1, 100, 20_000]))}}
        if "key" in job:
            job["key"] = job["env"]["LOCK"] = job["key"].format(self.dice.randrange(3))
        if "limits" in job:
            job["env"].update(LOCK="three", ROOM=str(LIMIT))
        self._insist(sort, job)

    def _insist(self, sort, job):
        # Unanswered means unknown: the same key again gets the same job.
        while not self.stopping.is_set():
            try:
                answer = self.instance.ask("POST", "/v1/jobs", job, timeout=5)
            except Unreachable:
                time.sleep(0.02)
            except Refused as refused:
                if refused.status not in (429, 503, 504):
                    raise
                time.sleep(0.02)
            else:
                self.accepted[answer["id"]] = sort
                self.printing[answer["id"]] = int(job["env"]["LINES"])
                return

    def lines(self, job):
        try:
            with open(os.path.join(self.witness, job)) as file:
                return file.read().split("\n")
        except FileNotFoundError:
            return []


def strike(instance, dice):
    """One round: kills a random mix at once. Returns what it hit."""
    hit = []
    for role in dice.sample(["server", "worker", "watchdog", "shim"], dice.choice([1, 1, 2, 3])):
        pids = instance.pids(role)
        if role == "shim":
            pids = dice.sample(pids, min(len(pids), dice.choice([1, 2])))
        for pid in pids:
            kill(pid)
            hit.append(role)
    if instance.process.poll() is not None or "watchdog" in hit:
        instance.process.wait(10)
        instance.start()  # as init would
    return hit


def pause(instance, dice):
    """One round: server or worker stands still for a while."""
    role = dice.choice(["server", "worker"])
    pids = instance.pids(role)
    for pid in pids:
        kill(pid, signal.SIGSTOP)
    time.sleep(dice.choice([1, LEASE - 1, LEASE + 2]))
    for pid in pids:
        kill(pid, signal.SIGCONT)
    return ["paused " + role] * len(pids)


def check_output(load, job):
    """What is wrong with what the server has of a job that has succeeded."""
    attempt = load.instance.job(job)["attempts"][-1]
    text = load.instance.insist("GET", f"/v1/jobs/{job}/logs?epoch={attempt['epoch']}")
    wanted = "".join(f"line {n + 1}\n" for n in range(load.printing[job])) + "the end\n"
    missing = attempt.get("evidence", {}).get("output_undelivered", 0)
    if len(text) + missing == len(wanted) and wanted.encode().startswith(text):
        return []
    return [f"{job}: {len(text)} of {len(wanted)} bytes of its output are there, it says that "
            f"{missing} are missing"]


def check(load, ended):
    wrong = []
    for job, sort in load.accepted.items():
        lines = load.lines(job)
        starts = sum(line.startswith("start") for line in lines)
        ends = sum(line.startswith("end") for line in lines)
        state = ended[job]["state"]
        if "overlap" in lines:
            wrong.append(f"{job}: {sort}: two attempts overlapped")
        if sort in ONCE and starts > 1:
            wrong.append(f"{job}: {sort}: started {starts} times")
        if state == "succeeded":
            wrong += check_output(load, job)
        if state == "succeeded" and ends == 0:
            wrong.append(f"{job}: {sort}: succeeded, but never reached its end")
        if state not in ("succeeded", "quarantined"):
            wrong.append(f"{job}: {sort}: ended as {state}, {ended[job]}")
        if state == "quarantined" and "forever" in sort:
            wrong.append(f"{job}: {sort}: was given up")
        if state == "quarantined" and sort in ("plain", "keyed", "limited"):
            # Only a shim that was killed three times under the same job may do that.
            causes = [a.get("cause") for a in load.instance.job(job)["attempts"]]
            if len(causes) < 3:
                wrong.append(f"{job}: {sort}: quarantined after {causes}")
    return wrong


def await_no_leftovers(instance, patience=10):
    """Only our own three processes may be there; says what else is."""
    deadline = time.monotonic() + patience
    while True:
        own = set(instance.pids("server") + instance.pids("worker") + instance.pids("watchdog"))
        left = {pid: name for pid, name in instance.processes().items() if pid not in own}
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.1)


def run(rounds, seed):
    dice = random.Random(seed)
    # The worker dies far more often than its jobs could be blamed for: no probation (O9).
    settings = ["timing.probation_step=0s", f"timing.lease={LEASE}s", "timing.heartbeat=1s"]
    words = [word for one in settings for word in ("--set", one)]
    instance = Instance(slots=24, args=words).start()
    instance.insist("PUT", "/v1/limits/three", {"max": LIMIT})
    load = Load(instance, dice)
    hits = {}
    try:
        load.start()
        began = time.monotonic()
        for number in range(rounds):
            time.sleep(dice.uniform(0.05, 1.2))
            act = pause if dice.random() < 0.1 else strike
            for role in act(instance, dice):
                hits[role] = hits.get(role, 0) + 1
            if sys.stderr.isatty():
                print(f"\rround {number + 1} of {rounds}, {len(load.accepted)} jobs accepted",
                      end="", file=sys.stderr)
        load.stop()
        ended = instance.wait_until_ended(load.accepted, patience=180)
        wrong = check(load, ended)
        wrong += [f"left over: {pid} {name}" for pid, name in await_no_leftovers(instance).items()]
        wrong += ["it said: " + line for line in instance.crashes()[:20]]
        fsck = run_cli(instance, "fsck")
        if fsck.returncode != 0:
            wrong.append("fsck: " + fsck.stdout + fsck.stderr)
        states = {}
        for one in ended.values():
            states[one["state"]] = states.get(one["state"], 0) + 1
        print(f"{rounds} rounds in {time.monotonic() - began:.0f} s, killed {hits}, "
              f"{len(load.accepted)} jobs accepted, ended as {states}")
        for line in wrong:
            print("WRONG " + line)
        if wrong:
            print("".join(instance.said[-40:]))
        print(f"replay: kill_rounds.py --rounds {rounds} --seed {seed}")
        return not wrong
    finally:
        load.stopping.set()
        instance.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    ok = run(options.rounds, options.seed)
    print("1 passed, 0 failed" if ok else "0 passed, 1 failed")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
