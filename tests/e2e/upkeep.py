#!/usr/bin/env python3
"""What keeps an instance going for a thousand days: what attempts have used adds up, space
is given back, the audit log has what people did, and no cgroup is left behind.

    upkeep.py [NAME...]
"""
import getpass
import glob
import json
import os
import re
import signal

from instance import Instance, run_cli
from table import Table, expect, until

TABLE = Table(lambda _: Instance(slots=4))
BURN = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"


def cli(instance, *args):
    done = run_cli(instance, *args)
    expect(done.returncode == 0, args, done.stdout, done.stderr)
    return done.stdout


def seconds(text):
    units = {"us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600, "d": 86400}
    return sum(float(number) * units[unit] for number, unit in re.findall(r"(\d+)([a-z]+)", text))


@TABLE.row
def what_attempts_have_used_is_known_and_adds_up(instance):
    jobs = [instance.submit({"argv": ["sh", "-c", f"({BURN}) & wait"], "queue": queue})
            for queue in ("mail", "mail", "video")]
    idle = instance.submit({"argv": ["sleep", "0.2"], "queue": "idle"})
    instance.wait_until_ended([*jobs, idle], 60)
    used = {}
    for job in (*jobs, idle):
        shown = instance.job(job)
        evidence = shown["attempts"][-1]["evidence"]
        cpu = seconds(evidence.get("cpu_user", "")) + seconds(evidence.get("cpu_system", ""))
        used[shown["queue"]] = used.get(shown["queue"], 0) + cpu
        # A child did it, in the background.
        expect(cpu > 0.02 if job != idle else cpu < 0.2, shown["queue"], evidence)
    expect("cpu (" in cli(instance, "job", "show", jobs[0]), cli(instance, "job", "show", jobs[0]))
    account = json.loads(cli(instance, "account", "--json"))["lines"]
    sums = {line["name"]: line for line in account}
    expect(sums["mail"]["attempts"] == 2, account)
    for queue, cpu in used.items():
        added = seconds(sums[queue]["cpu_user"]) + seconds(sums[queue]["cpu_system"])
        expect(abs(added - cpu) < 1e-5, queue, added, cpu)
    by_worker = json.loads(cli(instance, "account", "--by", "worker", "--json"))["lines"]
    expect([line["attempts"] for line in by_worker] == [4], by_worker)
    by_user = json.loads(cli(instance, "account", "--by", "user", "--json"))["lines"]
    expect([line["name"] for line in by_user] == [getpass.getuser()], by_user)
    later = json.loads(cli(instance, "account", "--since", "2099-01-01T00:00:00Z", "--json"))
    expect(later["lines"] == [], later)


@TABLE.row
def pages_add_up_to_the_same(instance):
    jobs = [instance.submit({"argv": ["true"], "queue": f"q{i % 3}"}) for i in range(40)]
    instance.wait_until_ended(jobs, 60)
    lines, after = [], ""
    for _ in range(100):
        page = instance.ask("GET", "/v1/account?by=queue" + after)
        lines += page["lines"]
        if "next" not in page:
            break
        after = "&after=" + page["next"]
    expect(sum(line["attempts"] for line in lines) == 40, lines)


@TABLE.row
def the_audit_log_has_acts_and_sums_of_submits(instance):
    jobs = [instance.submit({"argv": ["sleep", "600"], "delay": 600}) for _ in range(200)]
    cli(instance, "job", "cancel", jobs[7])
    cli(instance, "queues", "pause", "mail")
    found = cli(instance, "audit", "--about", jobs[7])
    expect("/cancel" in found, found)
    expect(instance.stop() == 0, "stopped")
    text = "".join(open(name).read()
                   for name in glob.glob(instance.directory + "/data/audit/acts-*"))
    records = [json.loads(line) for line in text.splitlines()]
    numbers = [record["seq"] for record in records]
    expect(numbers == list(range(1, len(numbers) + 1)), numbers)
    submits = [record for record in records if record["action"] == "POST /v1/jobs"]
    expect(sum(record["count"] for record in submits) == 200, submits)
    expect(len(submits) < 5 and len(records) < 10, records)


@TABLE.row
def compacting_gives_space_back_while_jobs_go_on(instance):
    data = instance.directory + "/data"
    printed = instance.submit({"argv": ["sh", "-c", "head -c 12000000 /dev/zero | tr '\\0' x"]})
    instance.wait_until_ended([printed], 60)
    kept = [instance.submit({"argv": ["true"], "delay": 600}) for _ in range(50)]
    long = instance.submit({"argv": ["sleep", "5"]})
    until("it runs", lambda: instance.job(long)["state"] == "running")
    refused = run_cli(instance, "compact", "--data", data)
    expect(refused.returncode == 4, refused.stderr)
    instance.process.send_signal(signal.SIGUSR1)
    instance.process.wait(60)
    before = os.path.getsize(data + "/logs.db")
    files = json.loads(cli(instance, "compact", "--data", data, "--json"))["files"]
    expect({file["file"] for file in files} == {"logs.db", "perdure.db"}, files)
    expect(os.path.getsize(data + "/logs.db") <= before, files)
    expect(run_cli(instance, "fsck", "--offline", "--data", data).returncode == 0, "clean")
    instance.start()
    ended = instance.wait_until_ended([long], 60)[long]
    expect(ended["state"] == "succeeded" and instance.job(long)["epoch"] == 1, instance.job(long))
    there = {job["id"] for job in instance.jobs()}
    expect(there >= {*kept, long, printed}, "lost:", {*kept, long, printed} - there)


def groups_of(instance):
    """The cgroups of its worker, which have their name of its state directory."""
    folders = (os.stat(folder) for folder, _, _ in os.walk(instance.directory))
    names = {f"perdure-{about.st_dev}-{about.st_ino}" for about in folders}
    return {path for depth in ("", "*/", "*/*/")
            for path in glob.glob(f"/sys/fs/cgroup/{depth}perdure-*")
            if os.path.basename(path) in names}


@TABLE.row
def groups_of_a_killed_worker_go_with_the_next_one(instance):
    job = instance.submit({"argv": ["sleep", "600"]})
    until("it runs", lambda: instance.job(job)["state"] == "running")
    if not groups_of(instance):  # not available to this account
        return
    instance.process.kill()
    instance.process.wait()
    until("nothing of it runs", lambda: not instance.processes() or
          [os.kill(pid, 9) for pid in instance.processes()] and False)
    other = Instance(slots=1)
    try:
        other.start()
        done = other.submit({"argv": ["true"]})
        other.wait_until_ended([done], 30)
        expect(not groups_of(instance), "left behind:", groups_of(instance))
    finally:
        other.remove()
    instance.start()
    expect(instance.ask("GET", "/readyz")["ready"], "it goes on")


if __name__ == "__main__":
    TABLE.main()
