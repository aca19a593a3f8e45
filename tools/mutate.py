#!/usr/bin/env python3
"""Changes one condition of the store's engine at a time and sees whether anybody notices.

    tools/mutate.py [--list] [--sample N] [--first N] [--seeds N] [--under DIR]

A mutant is one place in src/store/engine where a comparison is flipped or moved by one, a `!` is
dropped, `&&` and `||` are exchanged, or a guard never holds. Each is built in a work tree of its
own (build/mutants) and tried by the contract on tables in memory, then by the simulator. Of who
survives both, either a test is missing, or the condition is not needed.
"""

import argparse
import random
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TREE = ROOT / "build" / "mutants"

EXCHANGES = [
    (re.compile(r" == "), " != "),
    (re.compile(r" != "), " == "),
    (re.compile(r" <= "), " < "),
    (re.compile(r" >= "), " > "),
    (re.compile(r" < "), " <= "),
    (re.compile(r" > "), " >= "),
    (re.compile(r" && "), " || "),
    (re.compile(r" \|\| "), " && "),
    (re.compile(r"(?<=[(\s])!(?=[a-z(])"), ""),
    (re.compile(r"\bif \((?=.*\) (?:return|continue|break|\w+[.(]))"), "if (false && "),
]
# What only deliberate bugs, probes, includes and assertions say is not the engine's own.
IGNORED = re.compile(r"^\s*(//|#|using |template|namespace|PERDURE_ASSERT)|zoo\(|reached<|operator")


def code_of(line):
    """The line without its comment and with its texts blanked."""
    line = re.sub(r'"(\\.|[^"\\])*"', lambda m: '"' + "_" * (len(m.group()) - 2) + '"', line)
    return line.split("//")[0]


def mutants_of(path):
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines):
        if IGNORED.search(line):
            continue
        code = code_of(line)
        for pattern, by in EXCHANGES:
            for found in pattern.finditer(code):
                yield number, line[:found.start()] + by + line[found.end():]


def all_mutants(under):
    for path in sorted((ROOT / under).rglob("*.cpp")):
        if path.name.endswith("_test.cpp"):
            continue
        for number, changed in mutants_of(path):
            yield path.relative_to(ROOT), number, changed


def run(*command, limit=600):
    try:
        done = subprocess.run(command, cwd=TREE, capture_output=True, text=True, errors="replace",
                              timeout=limit, check=False)
        return done.returncode
    except subprocess.TimeoutExpired:
        return "it never ended"


def prepare():
    if not TREE.exists():
        subprocess.run(["git", "worktree", "add", "--detach", str(TREE)], cwd=ROOT, check=True)
    subprocess.run(["git", "checkout", "--detach", "--force", "main"], cwd=TREE, check=True)
    subprocess.run(["cmake", "--preset", "release"], cwd=TREE, check=True, capture_output=True)
    if run("cmake", "--build", "build", "--target", "contract_test", "perdure-sim",
           limit=3600) != 0:
        sys.exit("the tree does not build: nothing was tried")


def fate_of(seeds):
    """Who has noticed it, or None."""
    if run("cmake", "--build", "build", "--target", "contract_test", "perdure-sim") != 0:
        return "compiler"
    if run("build/bin/contract_test", "--gtest_fail_fast", "--gtest_brief=1",
           "--gtest_filter=-*sqlite*", limit=120) != 0:
        return "contract"
    if run("build/bin/perdure-sim", "--seeds", str(seeds), "--first", "1", "--mode", "both",
           limit=300) != 0:
        return "simulator"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="only list the mutants")
    parser.add_argument("--sample", type=int, help="try so many of them, drawn by --first")
    parser.add_argument("--first", type=int, default=1, help="the seed of the draw (1)")
    parser.add_argument("--seeds", type=int, default=100, help="of the simulator (100)")
    parser.add_argument("--under", default="src/store/engine", help="folder (src/store/engine)")
    options = parser.parse_args()

    mutants = list(all_mutants(options.under))
    if options.sample:
        drawn = random.Random(options.first).sample(mutants, min(options.sample, len(mutants)))
        mutants = sorted(drawn, key=lambda mutant: mutant[:2])
    if options.list:
        for path, number, changed in mutants:
            print(f"{path}:{number + 1}: {changed.strip()}")
        print(f"{len(mutants)} mutants")
        return
    prepare()
    noticed = 0
    for path, number, changed in mutants:
        target = TREE / path
        before = target.read_text()
        lines = before.splitlines()
        lines[number] = changed
        target.write_text("\n".join(lines) + "\n")
        fate = fate_of(options.seeds)
        target.write_text(before)
        print(f"{fate or 'SURVIVES':10} {path}:{number + 1}: {changed.strip()}", flush=True)
        noticed += fate is not None
    print(f"{noticed} of {len(mutants)} mutants were noticed")


if __name__ == "__main__":
    main()
