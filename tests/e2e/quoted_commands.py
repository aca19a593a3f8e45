#!/usr/bin/env python3
"""Runs the commands that the pages quote, and compares what they print.

    quoted_commands.py README.md docs/guides/start.md

In a block marked `console`, a line that begins with `$ ` is a command; the lines after it are what
it prints, standard error included. `…` in a line stands for anything, a line `…` for any lines.
All blocks of a page are run in one shell, one after another, against a fresh `perdure up`.
"""
import os
import re
import subprocess
import sys

from instance import PERDURE, ROOT, Instance

END = "@@end of output@@"


def blocks(page):
    """[(line number, [lines])] of the console blocks."""
    with open(page) as file:
        lines = file.read().split("\n")
    found, current = [], None
    for number, line in enumerate(lines, 1):
        if current is not None and line.startswith("```"):
            found.append(current)
            current = None
        elif current is not None:
            current[1].append(line)
        elif line.strip() == "```console":
            current = (number + 1, [])
    return found


def commands(block):
    """[(line number, command, [expected lines])]"""
    first, lines = block
    found = []
    for offset, line in enumerate(lines):
        if line.startswith("$ "):
            found.append((first + offset, line[2:], []))
        elif found:
            found[-1][2].append(line)
    return found


class Shell:
    """One bash in which the commands of a page are run."""

    def __init__(self, instance):
        path = os.path.dirname(PERDURE) + ":" + os.environ["PATH"]
        self.process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, cwd=instance.directory,
            env=dict(os.environ, PATH=path, NO_COLOR="1",
                     PERDURE_SERVER=f"http://127.0.0.1:{instance.port}"))

    def run(self, command):
        # `$?` of the command before must reach the next one. What the shell itself reads is no
        # input of the command.
        self.process.stdin.write(f"{{ {command}\n}} </dev/null\n"
                                 f"__code=$?; echo; echo '{END}'; (exit $__code)\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.rstrip("\n") == END:
                break
            lines.append(line.rstrip("\n"))
        while lines and lines[-1] == "":
            lines.pop()
        return lines

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)


def matches(expected, printed):
    """Whether the printed lines are the expected ones."""
    if not expected:
        return not printed
    if expected[0] == "…":
        return any(matches(expected[1:], printed[skip:]) for skip in range(len(printed) + 1))
    if not printed:
        return False
    pattern = ".*".join(re.escape(part.strip()) for part in expected[0].split("…"))
    return re.fullmatch(r"\s*" + pattern + r"\s*", printed[0]) is not None and matches(
        expected[1:], printed[1:])


def run_page(page):
    """The complaints about one page."""
    wrong = []
    count = 0
    instance = Instance(slots=4).start()
    shell = Shell(instance)
    try:
        for block in blocks(os.path.join(ROOT, page)):
            for number, command, expected in commands(block):
                count += 1
                printed = shell.run(command)
                said_only = [line for line in printed if not is_talk(line, expected)]
                if not matches(expected, said_only):
                    wrong.append(f"{page}:{number}: `{command}` printed\n    " +
                                 "\n    ".join(printed or ["(nothing)"]))
    finally:
        shell.close()
        instance.remove()
    if wrong:
        wrong.append("the server and the worker said:\n    " + "    ".join(instance.said))
    if count == 0:
        wrong.append(f"{page}: quotes no commands")
    return count, wrong


def is_talk(line, expected):
    """What is said to people besides the data need not be quoted."""
    return line.startswith("perdure: ") and not any(e.startswith("perdure: ") for e in expected)


def enter_own_namespace():
    """The pages kill by name: in a namespace of their own they can hit nobody else."""
    if os.environ.get("E2E_OWN_NAMESPACE") or os.geteuid() != 0:
        return
    os.environ["E2E_OWN_NAMESPACE"] = "1"
    os.execvp("unshare", ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child",
                          sys.executable, *sys.argv])


def main():
    enter_own_namespace()
    passed, complaints = 0, []
    for page in sys.argv[1:] or ["README.md"]:
        count, wrong = run_page(page)
        passed += count - len(wrong)
        complaints += wrong
    for complaint in complaints:
        print(complaint)
    print(f"{passed} passed, {len(complaints)} failed")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
