#!/usr/bin/env python3
"""No bound may be met by defaults so short that a healthy but busy worker loses its lease.

    busy_machine.py [--seconds 60]

20 jobs that keep every processor busy, on an instance with default settings, while small ones come
and go. Afterwards no attempt of any of them was lost, evicted or run again, and no worker was
restarted.
"""
import argparse
import sys
import time

from instance import Instance

BUSY = "end=$(( $(date +%s) + SECONDS_ )); while [ $(date +%s) -lt $end ]; do i=0; " \
       "while [ $i -lt 20000 ]; do i=$((i + 1)); done; done"


def run(seconds):
    instance = Instance(slots=32)
    try:
        instance.start()
        session = instance.ask("GET", "/v1/workers")["workers"][0]["session"]
        busy = [instance.submit({"argv": ["sh", "-c", BUSY],
                                 "env": {"SECONDS_": str(seconds)}}) for _ in range(20)]
        small = []
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            small.append(instance.submit({"argv": ["true"]}))
            time.sleep(0.5)
        ended = instance.wait_until_ended(busy + small, patience=120)
        wrong = [f"{job}: {line['state']} at attempt {line['epoch']}"
                 for job, line in ended.items() if line["state"] != "succeeded"
                 or line["epoch"] != 1]
        now = instance.ask("GET", "/v1/workers")["workers"]
        if [worker["session"] for worker in now] != [session]:
            wrong.append("the worker has another session than before")
        return len(busy), len(small), wrong
    finally:
        instance.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    args = parser.parse_args()
    busy, small, wrong = run(args.seconds)
    for sentence in wrong:
        print("  " + sentence)
    print(f"{busy} busy and {small} small jobs for {args.seconds} s: " +
          (f"{len(wrong)} false losses" if wrong else "nothing was taken for lost"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
