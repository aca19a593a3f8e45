"""What the scripts in this folder have in common: expectations, and a table of rows. Each row is a
function that raises what is wrong, is run by its name, and has an instance of its own."""
import concurrent.futures
import os
import sys
import time

from instance import Instance

# So short that a lost worker is noticed while a person would wait for it.
SHORT = ("--set", "timing.heartbeat=1s", "--set", "timing.lease=5s", "--set", "timing.hold=1s",
         "--set", "timing.kill_grace=500ms")


def expect(condition, *facts):
    if not condition:
        raise AssertionError(" ".join(str(fact) for fact in facts))


def until(what, condition, patience=40):
    """What the condition says, as soon as that is something."""
    deadline = time.monotonic() + patience
    while True:
        found = condition()
        if found:
            return found
        expect(time.monotonic() < deadline, "waited in vain for", what)
        time.sleep(0.03)


class Table:
    """`prepare` makes a row's instance; `is_started`: and starts it. Most of a row is waiting, so
    several run at once, unless they measure something or take the whole machine."""

    def __init__(self, prepare=lambda row: Instance(), is_started=True, at_once=2):
        self.rows = {}
        self.prepare = prepare
        self.is_started = is_started
        self.at_once = at_once

    def row(self, function):
        self.rows[function.__name__] = function
        return function

    def marked(self, **marks):
        """A row with attributes that `prepare` knows, or a `group` by which it can be named."""
        def mark(function):
            vars(function).update(marks)
            return self.row(function)
        return mark

    def main(self):
        wanted = sys.argv[1:]
        names = [name for name, row in self.rows.items()
                 if not wanted or name in wanted or getattr(row, "group", None) in wanted]
        unknown = set(wanted) - set(names) - {getattr(row, "group", None)
                                              for row in self.rows.values()}
        expect(not unknown, "there is no row", *unknown)
        at_once = int(os.environ.get("E2E_AT_ONCE", self.at_once))
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            failed = list(pool.map(self._failed, names)).count(True)
        print(f"{len(names) - failed} passed, {failed} failed")
        sys.exit(1 if failed else 0)

    def _failed(self, name):
        row = self.rows[name]
        instance = self.prepare(row)
        began = time.monotonic()
        try:
            if self.is_started:
                instance.start()
            said = row(instance)
            expect(not instance.crashes(), instance.crashes())
        except Exception as wrong:  # whatever it is, the next row runs
            print(f"FAILED {name}: {type(wrong).__name__}: {wrong}\n" +
                  "".join(instance.said[-20:]), flush=True)
            return True
        finally:
            instance.remove()
        took = time.monotonic() - began
        print(f"ok     {name} ({took:.1f} s){': ' + said if said else ''}", flush=True)
        return False
