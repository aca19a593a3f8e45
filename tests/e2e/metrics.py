#!/usr/bin/env python3
"""What a real server answers to Prometheus, judged by Prometheus' own tool; the rules for alerts;
and that they and the dashboard ask for nothing that is not exported."""
import http.client
import json
import os
import re
import subprocess

from instance import ROOT, run_cli
from table import Table, expect, until

RULES = os.path.join(ROOT, "ops", "prometheus", "perdure.rules.yml")
RULES_TEST = os.path.join(ROOT, "ops", "prometheus", "perdure.rules.test.yml")
DASHBOARD = os.path.join(ROOT, "ops", "grafana", "perdure.json")
table = Table()


def promtool(*args, stdin=""):
    done = subprocess.run(["promtool", *args], input=stdin, capture_output=True, text=True,
                          timeout=60, check=False)
    expect(done.returncode == 0, "promtool", *args, "says:", done.stdout, done.stderr)


def metrics_of(instance):
    connection = http.client.HTTPConnection("127.0.0.1", instance.port, timeout=10)
    try:
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        text = answer.read().decode()
    finally:
        connection.close()
    expect(answer.status == 200, answer.status, text)
    return text


def value(text, sample):
    found = re.search(rf"^{re.escape(sample)} (\S+)$", text, re.M)
    return float(found.group(1)) if found else 0


def families(text):
    return set(re.findall(r"^# TYPE (\w+) ", text, re.M))


@table.row
def promtool_has_nothing_to_say(instance):
    job = instance.submit({"argv": ["true"]})
    instance.wait_until_ended([job], 30)
    promtool("check", "metrics", stdin=metrics_of(instance))


@table.row
def ends_are_counted_by_queue_state_and_cause(instance):
    for argv in (["true"], ["sh", "-c", "exit 3"], ["sh", "-c", "exit 3"]):
        done = run_cli(instance, "run", "--queue", "mail", "--", *argv)
        expect(done.returncode in (0, 3), done.stderr)
    text = metrics_of(instance)
    ended = 'perdure_jobs_ended_total{queue="mail",state="%s",cause="%s"}'
    expect(value(text, ended % ("failed", "exit")) == 2, text)
    expect(value(text, ended % ("succeeded", "none")) == 1, text)
    expect(value(text, 'perdure_wait_seconds_count{queue="mail"}') == 3, text)
    expect(value(text, 'perdure_run_seconds_count{queue="mail"}') == 3, text)


@table.row
def a_killed_worker_is_a_repair(instance):
    job = instance.submit({"argv": ["sleep", "600"]})
    until("the job runs", lambda: instance.job(job)["state"] == "running")
    for pid in instance.pids("worker"):
        os.kill(pid, 9)
    until("the repair is counted", lambda: 'decision="adopted"' in metrics_of(instance))
    promtool("check", "metrics", stdin=metrics_of(instance))


@table.row
def rules_and_dashboard_ask_for_what_is_exported(instance):
    promtool("check", "rules", RULES)
    promtool("test", "rules", RULES_TEST)
    with open(RULES) as file:
        rules = file.read()
    with open(DASHBOARD) as file:
        panels = json.load(file)["panels"]
    asked = " ".join([*re.findall(r"expr: .*(?:\n {10,}.*)*", rules),
                      *(target["expr"] for panel in panels for target in panel.get("targets", []))])
    names = {re.sub(r"_(bucket|sum|count)$", "", name)
             for name in re.findall(r"\b((?:perdure|process)_\w+)", asked)}
    expect(len(names) > 15, names)
    missing = names - families(metrics_of(instance))
    expect(not missing, "nobody exports", missing)
    alerts = set(re.findall(r"alert: (\w+)", rules))
    with open(RULES_TEST) as file:
        tried = set(re.findall(r"alertname: (\w+)", file.read()))
    expect(alerts == tried, "not tried:", alerts - tried)


if __name__ == "__main__":
    table.main()
