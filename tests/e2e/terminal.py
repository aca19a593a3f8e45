#!/usr/bin/env python3
"""`perdure run` on a real terminal: Ctrl-C asks and does what the person says, and a command's
verdict is heard. Each row is a function; waiting is for what the screen shows, never for a time.

    terminal.py [NAME...]
"""
import os
import pty
import select
import time

from instance import PERDURE, is_alive
from table import Table, expect

PATIENCE = 60
TABLE = Table(at_once=1)  # a person has one terminal
CTRL_C = b"\x03"
QUESTION = "[c]ancel the job, [d]etach"


class Person:
    """Somebody at a terminal of their own, in which a command runs."""

    def __init__(self, instance, *args):
        self.screen = ""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ["PERDURE_SERVER"] = f"http://127.0.0.1:{instance.port}"
            os.chdir(instance.directory)
            os.execv(PERDURE, [PERDURE, *args])

    def type(self, keys):
        os.write(self.terminal, keys)

    def sees(self, text, after=0):
        """Reads on until the screen shows it; returns where that ends."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.screen[after:]:
            expect(time.monotonic() < deadline and self._read(deadline),
                   f"`{text}` was not shown, but:", self.screen)
        return self.screen.index(text, after) + len(text)

    def _read(self, deadline):
        ready, _, _ = select.select([self.terminal], [], [], max(0, deadline - time.monotonic()))
        try:
            some = os.read(self.terminal, 65536) if ready else b""
        except OSError:  # the other side has gone
            some = b""
        self.screen += some.decode(errors="replace")
        return bool(some)

    def exit_code(self):
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline):
            pass
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def run_job(instance, script, *options):
    """A job that shows its own pid first; returns the person, the job's id and that pid."""
    person = Person(instance, "run", *options, "--", "sh", "-c", "echo pid $$.; " + script)
    person.sees(".\r\n", person.sees("pid "))
    words = person.screen.split()
    return person, words[words.index("job") + 1], int(words[words.index("pid") + 1].rstrip("."))


def ends_as(instance, job, state):
    ended = instance.wait_until_ended([job], PATIENCE)[job]
    expect(ended["state"] == state, "it ended as", ended)


def is_gone(pid):
    deadline = time.monotonic() + 10
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(pid)


@TABLE.row
def ctrl_c_and_cancel_ends_the_job(instance):
    person, job, pid = run_job(instance, "sleep 600")
    person.type(CTRL_C)
    person.sees(QUESTION)
    expect(is_alive(pid), "it was ended before anybody said so")
    person.type(b"c\n")
    code = person.exit_code()
    expect(code != 0, "exit code", code, person.screen)
    ends_as(instance, job, "cancelled")
    expect(is_gone(pid), "the process is left over")


@TABLE.row
def ctrl_c_and_detach_lets_the_job_go_on(instance):
    go = os.path.join(instance.directory, "go")
    person, job, pid = run_job(instance, f"while [ ! -e {go} ]; do sleep 0.05; done")
    person.type(CTRL_C)
    person.sees(QUESTION)
    person.type(b"d\n")
    person.exit_code()
    expect(job in person.screen, "it is not said which job goes on:", person.screen)
    expect(is_alive(pid), "the job has ended with its watcher")
    open(go, "w").close()
    ends_as(instance, job, "succeeded")


@TABLE.row
def ctrl_c_and_enter_goes_on_watching(instance):
    go = os.path.join(instance.directory, "go")
    person, job, _ = run_job(
        instance, f"while [ ! -e {go} ]; do sleep 0.05; done; echo the end; exit 7")
    person.type(CTRL_C)
    asked = person.sees(QUESTION)
    person.type(b"\n")
    open(go, "w").close()
    person.sees("the end", asked)
    code = person.exit_code()
    expect(code == 7, "exit code", code, person.screen)
    ends_as(instance, job, "failed")


@TABLE.row
def a_second_ctrl_c_at_the_question_leaves_the_job_running(instance):
    person, job, pid = run_job(instance, "sleep 600")
    person.type(CTRL_C)
    person.sees(QUESTION)
    person.type(CTRL_C)
    person.exit_code()
    expect(is_alive(pid), "the job has ended with its watcher")
    instance.ask("POST", f"/v1/jobs/{job}/cancel")
    ends_as(instance, job, "cancelled")


@TABLE.row
def a_permanent_verdict_is_the_cause_and_is_not_tried_again(instance):
    person, job, _ = run_job(instance, f"{PERDURE} verdict permanent; exit 3")
    code = person.exit_code()
    expect(code == 3, "exit code", code, person.screen)
    expect(person.screen.count("pid ") == 1, "it ran again:", person.screen)
    expect("verdict(permanent)" in person.screen, "the cause is not told:", person.screen)
    ends_as(instance, job, "failed")


@TABLE.row
def a_verdict_to_retry_is_tried_again(instance):
    mark = os.path.join(instance.directory, "mark")
    person, job, _ = run_job(
        instance, f"[ -e {mark} ] && exit 0; touch {mark}; {PERDURE} verdict retry; exit 3")
    code = person.exit_code()
    expect(code == 0, "exit code", code, person.screen)
    ends_as(instance, job, "succeeded")


if __name__ == "__main__":
    TABLE.main()
