#!/usr/bin/env python3
"""Queues take turns by the weights of the configuration, and the shares of a queue by name (E7):
one worker with one slot, and jobs that note in which order they ran.

    turns.py [NAME...]
"""
from instance import Instance, run_cli
from table import Table, expect, until

TABLE = Table(lambda row: Instance(slots=1, args=("--set", "queues.heavy.weight=3")))


class Order:
    """What ran, in order. The slot is taken until all jobs are in line."""

    def __init__(self, instance):
        self.instance = instance
        self.path = instance.directory + "/order"
        self.gate = instance.directory + "/gate"
        wait = f"until [ -e {self.gate} ]; do sleep 0.05; done"
        first = instance.submit({"argv": ["sh", "-c", wait], "queue": "gate"})
        until("the gate", lambda: instance.job(first)["state"] == "running")
        self.jobs = [first]

    def submit(self, word, **fields):
        job = {"argv": ["sh", "-c", f"echo {word} >> {self.path}"], **fields}
        self.jobs.append(self.instance.submit(job))

    def run(self):
        with open(self.gate, "w", encoding="utf-8"):
            pass
        self.instance.wait_until_ended(self.jobs, 60)
        with open(self.path, encoding="utf-8") as file:
            return file.read().split()


@TABLE.row
def a_backlog_keeps_no_other_queue_waiting(instance):
    order = Order(instance)
    for _ in range(12):
        order.submit("bulk", queue="bulk")
    order.submit("mail", queue="mail")
    ran = order.run()
    expect("mail" in ran[:2], ran)


@TABLE.row
def queues_are_served_by_their_weights(instance):
    order = Order(instance)
    for _ in range(9):
        order.submit("heavy", queue="heavy")
    for _ in range(9):
        order.submit("light", queue="light")
    ran = order.run()
    expect(ran[:8].count("heavy") == 6, ran)


@TABLE.row
def a_share_is_given_on_the_command_line_and_has_its_turn(instance):
    order = Order(instance)
    for _ in range(8):
        order.submit("ann", share="ann")
    bob = run_cli(instance, "submit", "--share", "bob", "--", "sh", "-c",
                  f"echo bob >> {order.path}")
    expect(bob.returncode == 0, bob.stdout, bob.stderr)
    order.jobs.append(bob.stdout.split()[0])
    shown = run_cli(instance, "job", "show", order.jobs[-1])
    expect("share       bob" in shown.stdout, shown.stdout, shown.stderr)
    ran = order.run()
    expect("bob" in ran[:2], ran)


if __name__ == "__main__":
    TABLE.main()
