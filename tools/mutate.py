#!/usr/bin/env python3
"""Changes one condition or statement of the store's engine at a time and sees which test notices.

    tools/mutate.py [--under DIR] [--minutes N] [--stages NAMES] [--again] [--only PATH:LINE]
    tools/mutate.py --list | --report

All mutants are built into one program (mutate_cpp.py says how), in a copy of the tree under
build/mutants; an environment variable chooses one. Those that do not compile are dropped. Which
test reaches which mutant is learnt once, so that a mutant costs only the tests that can notice it:
quick ones of the contract on tables in memory, the engine's own, the rest of the contract, the
simulator, and, if --stages names them, those of SQLite's tables. Each fate is added to
build/mutants/journal.jsonl: a campaign that was stopped goes on. docs/mutants.md tells what came
of it.
"""

import argparse
import json
import os
import signal
import sys
import time
from collections import Counter

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from mutate_stages import SEEDS, STAGES, fate_of, learn
from mutate_tree import ENGINE, HOME, all_mutants, build


def journal():
    """The last fate of each, by name."""
    path = HOME / "journal.jsonl"
    entries = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {entry["name"]: entry for entry in entries}


def wanted(mutants, options):
    known = journal()
    for mutant in mutants:
        if not mutant.path.startswith(options.under):
            continue
        if options.only:
            if f"{mutant.path}:{mutant.line}".endswith(options.only):
                yield mutant
            continue
        entry = known.get(mutant.name)
        if not entry or options.again and entry["fate"] in ("SURVIVES", "unreached"):
            yield mutant


def campaign(options):
    HOME.mkdir(parents=True, exist_ok=True)
    mutants, dropped = build()
    reach = learn()
    for tests in reach.values():
        for test, (seconds, reached) in tests.items():
            tests[test] = seconds, set(reached)
    todo = [m for m in wanted(mutants, options) if m.name not in dropped]
    ends_at = time.monotonic() + 60 * options.minutes
    with (HOME / "journal.jsonl").open("a") as out:
        for i, mutant in enumerate(todo):
            if time.monotonic() > ends_at:
                print(f"stopped: {len(todo) - i} are left")
                break
            began = time.monotonic()
            fate, words = fate_of(mutant.number, reach, options)
            took = time.monotonic() - began
            entry = {"name": mutant.name, "path": mutant.path, "line": mutant.line,
                     "kind": mutant.kind, "text": mutant.text, "fate": fate or "SURVIVES",
                     "by": words, "seconds": round(took, 2)}
            out.write(json.dumps(entry) + "\n")
            out.flush()
            print(f"{entry['fate']:10} {took:6.1f} s {mutant.path}:{mutant.line}: {mutant.text}",
                  flush=True)
    report(mutants)


def report(mutants):
    """What came of those that exist now."""
    names = {m.name: m for m in mutants}
    entries = [e for name, e in journal().items() if name in names]
    dropped = HOME / "dropped.json"
    dropped = json.loads(dropped.read_text()) if dropped.exists() else {}
    gone = sum(name in names for name in dropped)
    fates = Counter(entry["fate"] for entry in entries)
    print(f"{len(mutants)} mutants, {gone} dropped, {len(entries)} tried:",
          ", ".join(f"{fate} {count}" for fate, count in fates.most_common()))
    for entry in entries:
        if entry["fate"] in ("SURVIVES", "unreached"):
            line = names[entry["name"]].line
            print(f"{entry['fate']:10} {entry['path']}:{line}: {entry['text']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="only list the mutants")
    parser.add_argument("--report", action="store_true", help="only say what the journal says")
    parser.add_argument("--under", default=ENGINE, help=f"folder or file ({ENGINE})")
    parser.add_argument("--only", help="those of this line, whatever the journal says: PATH:LINE")
    parser.add_argument("--again", action="store_true", help="survivors once more")
    parser.add_argument("--minutes", type=float, default=1e6, help="stop after that")
    parser.add_argument("--stages", default="contract,engine,simulator",
                        help="of " + ",".join(STAGES))
    parser.add_argument("--test-max", type=float, default=1e6,
                        help="leave out tests that take more seconds than this")
    parser.add_argument("--seeds", type=int, default=SEEDS,
                        help="of the simulator, each mode")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    if options.list:
        mutants = [m for m in all_mutants()[1] if m.path.startswith(options.under)]
        for mutant in mutants:
            print(f"{mutant.path}:{mutant.line}: {mutant.text}")
        print(f"{len(mutants)} mutants")
    elif options.report:
        report(all_mutants()[1])
    else:
        campaign(options)


if __name__ == "__main__":
    main()
