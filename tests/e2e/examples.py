#!/usr/bin/env python3
"""Runs the examples of the pages and of `--help` as they are printed.

    examples.py [README.md docs/guides/start.md ...]

An example is a line in a block without output (``` or ```sh) that speaks to a server:
`perdure run`, `submit`, `jobs` and the like. All lines of a page are run in one shell, in a folder
of its own in which every `./program` that the page names is there, as a user with an empty home
would. Each must succeed, and so must every job that runs such a program. Blocks marked `sh` are
what a command says from inside: each line of them is run as a job.
"""
import json
import os
import re
import subprocess
import sys
import time

from instance import PERDURE, ROOT, Instance
from quoted_commands import Shell

PAGES = ["docs/guides/start.md", "docs/guides/callbacks.md", "docs/guides/queues.md",
         "docs/guides/policies.md", "docs/guides/secrets.md", "docs/guides/webhooks.md"]
HELP = ["run", "submit", "jobs", "logs", "why", "job show", "job wait", "job cancel", "job hold",
        "job unhold", "job retry", "job add-callback", "serial", "parallel", "queues",
        "queues pause", "queues resume", "limits", "limits set", "workers", "policy list",
        "policy explain", "explain", "quarantine", "recoveries"]
ASKS_A_SERVER = re.compile(r"^(id=\$\()?perdure (run|submit|jobs|logs|why|job|serial|parallel|"
                           r"queues|limits|workers|policy|explain|quarantine|recoveries)\b")
# What they need is not there.
NEEDS_MORE = ["quarantine release", "quarantine accept", "quarantine discard", "quarantine show",
              "job discard", "job hold", "job unhold", "--worker gpu-7", "--env-file",
              "--env DB_PASSWORD", "secret://"]
FILES = {"data.csv": "a,b\n", "state.json": "{}\n", "jobs.json": '[{"argv": ["true"]}]\n',
         "parts.json": '{"jobs": [{"argv": ["true"]}], "then": {"argv": ["true"]}}\n'}
FLAKY = "#!/bin/sh\ntest -e flaked && exit 0\ntouch flaked\necho not yet; exit 1\n"
ID = re.compile(r"[0-9a-z]{13}")
AN_ID = re.compile(r"\b0[0-9a-z]{12}\b")  # of a page


def plain_blocks(text):
    """[(language, [lines])] of the blocks that show no output."""
    found = re.finditer(r"^```(\w*)\n(.*?)^```", text, re.S | re.M)
    return [(m[1], m[2].replace("\\\n", " ").split("\n")) for m in found if m[1] in ("", "sh")]


def of_page(page):
    """The commands of a page, as lines for a shell."""
    with open(os.path.join(ROOT, page)) as file:
        blocks = plain_blocks(file.read())
    lines = []
    for language, block in blocks:
        if language == "sh":
            for line in (line for line in block if "perdure " in line):
                lines.append("perdure run --quiet -- sh -c '" + line.replace("'", "'\\''") + "'")
        else:
            lines += [line for line in block if ASKS_A_SERVER.match(line)]
    return lines


def of_help(command):
    """The examples that `perdure COMMAND --help` prints."""
    text = subprocess.run([PERDURE, *command.split(), "--help"], capture_output=True, text=True,
                          check=True).stdout
    lines = text[text.index("Example:"):].split("\n")[1:]
    return [line.strip() for line in lines if ASKS_A_SERVER.match(line.strip())]


def prepare(folder, lines):
    """Makes what the lines name: programs, and files to read."""
    for name in set(re.findall(r"(?:^|[ '\"])\./([\w.-]+)", "\n".join(lines))):
        path = os.path.join(folder, name)
        with open(path, "w") as file:
            file.write(FLAKY if name == "flaky" else "#!/bin/sh\nexit 0\n")
        os.chmod(path, 0o755)
    for name, text in FILES.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)


def complaints_about_jobs(instance):
    """Jobs that could not use their program, once all have ended."""
    until = time.monotonic() + 60
    while True:
        jobs = list(instance.jobs())
        left = [job for job in jobs if job["state"] in ("ready", "starting", "running", "waiting")]
        if not left or time.monotonic() > until:
            break
        time.sleep(0.2)
    wrong = [job for job in jobs if job.get("argv") and job["argv"][0].startswith("./")
             and job["state"] in ("failed", "quarantined", "expired")]
    return [f"{json.dumps(job['argv'])} is {job['state']}: {job.get('cause')}" for job in wrong]


def run_all(name, lines):
    """(how many, complaints) of the lines of one page or command."""
    lines = [line for line in lines if not any(more in line for more in NEEDS_MORE)]
    instance = Instance(slots=4).start()
    folder = os.path.join(instance.directory, "a folder")
    os.makedirs(folder)
    prepare(folder, lines)
    shell = Shell(instance)
    wrong = []
    try:
        shell.run(f"cd '{folder}'; export HOME='{folder}'")
        known = instance.submit({"argv": ["sleep", "2"]})
        shell.run("perdure limits set licences 2")
        for line in lines:
            line = AN_ID.sub(known, line)
            line = re.sub(r"\bID\b", known, line)
            expected = 1 if "exit 1" in line else 0
            printed = shell.run(f"timeout 60 bash -c {quoted(keeping_id(line))} </dev/null")
            code = shell.run("echo $?")[-1]
            if line.startswith("id=$("):
                shell.run("id=" + next(text for text in printed if ID.fullmatch(text)))
            if code != str(expected):
                wrong.append(f"{name}: `{line}` ended with {code} and printed\n    " +
                             "\n    ".join(printed or ["(nothing)"]))
        wrong += [f"{name}: the job {about}" for about in complaints_about_jobs(instance)]
    finally:
        shell.close()
        instance.remove()
    return len(lines), wrong


def keeping_id(line):
    """`id=$(...)` would end with the inner shell: its id is printed, and set by the outer one."""
    return re.sub(r"^id=\$\((.*)\)$", r"\1", line)


def quoted(line):
    # $id is the outer shell's.
    escaped = re.sub(r'(["\\`$])', r"\\\1", line)
    return '"' + escaped.replace("\\$id", "$id") + '"'


def main():
    passed, complaints = 0, []
    pages = sys.argv[1:] or PAGES
    sources = [(page, of_page(page)) for page in pages]
    if not sys.argv[1:]:
        sources += [("--help", [line for command in HELP for line in of_help(command)])]
    for name, lines in sources:
        count, wrong = run_all(name, lines)
        passed += count - len(wrong)
        complaints += wrong
    for complaint in complaints:
        print(complaint)
    print(f"{passed} passed, {len(complaints)} failed")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
