#!/usr/bin/env python3
"""Runs the contract suite once for each deliberate bug of a store; the suite must catch them all.

    mutants_test.py CONTRACT_ZOO [--count]

Prints a table: the bug, and the first test that caught it. With --count the suite goes on after
that, and the table says how many did.
"""

import re
import subprocess
import sys

TIMEOUT_S = 120
# Left out is what takes longer than all others together: counting rows at 100,000 of each kind, and
# the same engine on a database behind a socket.
QUICK = "--gtest_filter=-*RowBudget*:*postgres*"


def run(program, *arguments):
    return subprocess.run([program, QUICK, *arguments], capture_output=True, text=True,
                          errors="replace", timeout=TIMEOUT_S, check=False)


def sentences(log, mark):
    """Names of tests behind a mark, without suite and store, in order and each once."""
    found = re.findall(rf"^\[ *{mark} *\] \S+\.(\w+)/\w+", log, re.M)
    return list(dict.fromkeys(found))


def catchers(program, bug, options):
    """The tests that fail with this bug. One that aborts has caught it as well."""
    try:
        result = run(program, "--bug", bug, *options)
    except subprocess.TimeoutExpired:
        return ["(it never ended)"]
    if result.returncode == 0:
        return []
    if result.returncode == 1:
        return sentences(result.stdout, "FAILED")
    if result.returncode > 1:
        sys.exit(f"{program} --bug {bug}: exit code {result.returncode}\n{result.stderr}")
    failed = sentences(result.stdout, "FAILED")
    return failed or [sentences(result.stdout, "RUN")[-1] + " (aborted)"]


def main(program, count):
    without = run(program, "--bug", "none")
    if without.returncode != 0:
        print(without.stdout)
        sys.exit("the suite fails without any bug: nothing was checked")
    bugs = run(program, "--bugs").stdout.split()
    if not bugs:
        sys.exit("the program lists no bugs: nothing was checked")

    print(f"{'mutant':40} {'tests' if count else '':>5}  first caught by")
    survivors = []
    options = [] if count else ["--gtest_fail_fast"]
    for bug in bugs:
        caught_by = catchers(program, bug, options)
        if not caught_by:
            survivors.append(bug)
        number = len(caught_by) if count else ""
        print(f"{bug:40} {number:>5}  {caught_by[0] if caught_by else 'NOBODY'}")
    print(f"{len(bugs) - len(survivors)} of {len(bugs)} mutants caught")
    if survivors:
        sys.exit("not caught: " + ", ".join(survivors))


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--count"]):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:] == ["--count"])
