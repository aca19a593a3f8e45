#!/usr/bin/env python3
"""Changes one condition or statement of the store's engine at a time and sees which test notices.

    tools/mutate.py [--under DIR] [--minutes N] [--seeds N] [--again] [--only PATH:LINE]
    tools/mutate.py --list | --report

All mutants are built into one program (mutate_cpp.py says how), in a copy of the tree under
build/mutants; an environment variable chooses one. Those that do not compile are dropped. Which
test reaches which mutant is learnt once, so that a mutant costs only the tests that can notice it:
quick ones of the contract on tables in memory, the engine's own, the rest of the contract, the
simulator, and with --sqlite those of SQLite's tables. Each fate is added to
build/mutants/journal.jsonl: a campaign that was stopped goes on. docs/mutants.md tells what came
of it.
"""

import argparse
import contextlib
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import mutate_cpp
import mutate_places

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "build" / "mutants"
# Elsewhere, if the compiler's cache knows the sources by another path.
TREE = Path(os.environ.get("MUTANTS_TREE", HOME / "tree"))
BIN = TREE / "build" / "bin"
TARGETS = ["contract_test", "store_engine_test", "perdure-sim", "store_sqlite_test"]
ENGINE = "src/store/engine"
# What matters most goes first.
ORDER = [ENGINE + "/apply", ENGINE + "/state", ENGINE + "/rows", ENGINE]
QUICK_SECONDS = 0.3
SEEDS = 60
OTHERS = ("engine", "simulator", "sqlite")  # than the contract
BYTES_MAX = 6 << 30
# A mutated condition looks odd to a compiler.
QUIET = """
foreach(target perdure_store_engine perdure_store_memory perdure_store_sqlite store_engine_test
        contract_cases contract_test)
  target_compile_options(${target} PRIVATE -w)
endforeach()
"""


# --- the tree --------------------------------------------------------------------------------

def rank(path):
    return next((i for i, folder in enumerate(ORDER) if str(path).startswith(folder)), len(ORDER))


def mutated_files(root=ROOT):
    files = [path.relative_to(root) for path in (root / ENGINE).rglob("*")
             if path.suffix in (".cpp", ".h") and not path.name.endswith("_test.cpp")]
    return sorted(files, key=lambda path: (rank(path), str(path)))


def all_mutants(root=ROOT):
    """(source of each file, all mutants), numbered from 1."""
    sources, mutants = {}, []
    for path in mutated_files(root):
        sources[str(path)] = mutate_places.Source((root / path).read_text())
        mutants += mutate_cpp.mutants_of(str(path), sources[str(path)])
    for number, mutant in enumerate(mutants, 1):
        mutant.number = number
    return sources, mutants


def put(path, text):
    """Writes what has changed only: the rest need not be compiled again."""
    if path.exists() and path.read_bytes() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)


def copy_tree(but):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout.split("\n")
    files = {name for name in listed if name and (ROOT / name).is_file()}
    for name in files - set(but):
        put(TREE / name, (ROOT / name).read_bytes())
        shutil.copymode(ROOT / name, TREE / name)
    for folder in ("src", "tests"):
        for path in (TREE / folder).rglob("*"):
            if path.is_file() and str(path.relative_to(TREE)) not in files | {"src/base/mutant.h"}:
                path.unlink()


def write_schemata(sources, mutants, dropped):
    texts = {}
    for path, source in sources.items():
        kept = [m for m in mutants if m.path == path and m.name not in dropped]
        rendering = mutate_cpp.Rendering(source, kept)
        misplaced = {id(place) for place in rendering.misplaced}
        dropped.update({m.name: "misplaced" for m in kept if id(m.place) in misplaced})
        include = '#include "base/mutant.h"\n'
        text = rendering.text()
        texts[path] = text.replace("#pragma once\n", "#pragma once\n" + include, 1) \
            if path.endswith(".h") else include + text
        put(TREE / path, texts[path].encode())
    return texts


def compile_tree():
    if not (TREE / "build" / "build.ninja").exists():
        subprocess.run(["cmake", "-S", str(TREE), "-B", str(TREE / "build"), "-G", "Ninja",
                        "-DCMAKE_BUILD_TYPE=Release"], check=True, capture_output=True)
    built = subprocess.run(["nice", "-n", "10", "ninja", "-C", str(TREE / "build"), "-k", "0",
                            "-j", str(min(2, os.cpu_count() or 1)), *TARGETS],
                           capture_output=True, text=True, errors="replace", check=False)
    return built.returncode == 0, built.stdout


def not_compiling(log, texts):
    """Numbers of the innermost marks that errors stand in."""
    numbers, around = set(), set()
    for path, line, column in re.findall(r"store/engine/([\w/.]+):(\d+):(\d+):[^\n]* error: ", log):
        text = texts.get(f"{ENGINE}/{path}")
        marks = mutate_cpp.marks_at(text, int(line), int(column)) if text else []
        numbers.update(marks[-1:])
        around.update(marks[:-1])
    return numbers - around or numbers


def build():
    """Builds all that compiles. (mutants, why each dropped one was)"""
    sources, mutants = all_mutants()
    known = HOME / "dropped.json"
    names = {m.name for m in mutants}
    dropped = json.loads(known.read_text()) if known.exists() else {}
    dropped = {name: why for name, why in dropped.items() if name in names}
    by_place = {}
    for mutant in mutants:
        by_place.setdefault(id(mutant.place), []).append(mutant)
    by_number = {m.number: by_place[id(m.place)] for m in mutants}
    copy_tree([*sources, "CMakeLists.txt"])
    put(TREE / "CMakeLists.txt", (ROOT / "CMakeLists.txt").read_bytes() + QUIET.encode())
    put(TREE / "src/base/mutant.h", (mutate_cpp.HEADER % (len(mutants) + 1)).encode())
    while True:
        texts = write_schemata(sources, mutants, dropped)
        print(f"building {len(mutants) - len(dropped)} mutants", flush=True)
        done, log = compile_tree()
        (HOME / "build.log").write_text(log)
        if done:
            break
        failed = not_compiling(log, texts)
        if not failed:
            sys.exit(f"the tree does not build, and not by a mutant: see {HOME}/build.log")
        for number in failed:
            dropped.update({m.name: "does not compile" for m in by_number[number]})
        known.write_text(json.dumps(dropped, indent=1))
    known.write_text(json.dumps(dropped, indent=1))
    return mutants, dropped


# --- tests -----------------------------------------------------------------------------------

def limited():
    resource.setrlimit(resource.RLIMIT_AS, (BYTES_MAX, BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.setpgid(0, 0)
    os.nice(10)


def run(command, limit, **environment):
    """(whether it ended well, what it printed). One that never ends has not."""
    process = subprocess.Popen(command, cwd=HOME, text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env={**os.environ, **environment}, preexec_fn=limited)
    try:
        text, _ = process.communicate(timeout=limit)
        return process.returncode == 0, text
    except subprocess.TimeoutExpired:
        return False, "it never ended"
    finally:  # also if the campaign is stopped
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def contract(tests):
    return [str(BIN / "contract_test"), "--gtest_brief=1", "--gtest_fail_fast",
            "--gtest_filter=" + ":".join(tests)]


def unit_tests(program):
    return [str(BIN / program), "--gtest_brief=1", "--gtest_fail_fast"]


def simulator(seeds):
    return [str(BIN / "perdure-sim"), "--first", "1", "--seeds", str(seeds), "--mode", "both",
            "--store", "memory", "--jobs", "1"]


def contract_tests():
    text = run([str(BIN / "contract_test"), "--gtest_list_tests"], 60)[1]
    suite, tests = "", []
    for line in text.splitlines():
        if not line.startswith(" "):
            suite = line.split()[0] if line.strip() else ""
        elif "sqlite" not in line + suite:
            tests.append(suite + line.split()[0])
    return tests


def reach_of(command, what):
    """(seconds, numbers of the mutants that it reaches)."""
    path = HOME / "reached.txt"
    path.unlink(missing_ok=True)
    began = time.monotonic()
    passed, text = run(command, 1200, PERDURE_MUTANTS_REACHED=str(path))
    took = time.monotonic() - began
    if not passed:
        sys.exit(f"{what} fails without any mutant: nothing can be learnt\n{text[-3000:]}")
    return took, sorted({int(n) for n in path.read_text().split()}) if path.exists() else []


def learn():
    """Which test reaches which mutant. Kept as long as the programs are the same."""
    digest = hashlib.sha256()
    for target in TARGETS:
        digest.update((BIN / target).read_bytes())
    kept = HOME / "reach.json"
    if kept.exists():
        known = json.loads(kept.read_text())
        if known["of"] == digest.hexdigest():
            return known["reach"]
    reach = {}
    for test in contract_tests():
        reach[test] = reach_of(contract([test]), test)
    reach["engine"] = reach_of(unit_tests("store_engine_test"), "engine")
    reach["simulator"] = reach_of(simulator(SEEDS), "simulator")
    reach["sqlite"] = reach_of(unit_tests("store_sqlite_test"), "sqlite")
    kept.write_text(json.dumps({"of": digest.hexdigest(), "reach": reach}))
    seconds = {name: reach[name][0] for name in OTHERS}
    seconds["contract"] = sum(s for test, (s, _) in reach.items() if test not in OTHERS)
    print("learnt in", ", ".join(f"{name} {s:.1f} s" for name, s in seconds.items()), flush=True)
    return reach


def on_sqlite(tests):
    """The same tests on SQLite. The last digits of a name are a seed, of which it has fewer."""
    return sorted({re.sub("/memory(_restarted)?", "/sqlite_inline", test) for test in tests
                   if not test.startswith("Memory/")})


def stages(number, reach, options):
    """(name, command, usual seconds) of what can notice it, what is cheap first."""
    tests = sorted((seconds, test) for test, (seconds, reached) in reach.items()
                   if test not in OTHERS and number in reached)
    quick, rest, spent = [], [], 0.0
    for seconds, test in tests:
        spent += seconds
        (quick if spent <= QUICK_SECONDS or not quick else rest).append((seconds, test))
    if quick:
        yield "contract", contract([t for _, t in quick]), sum(s for s, _ in quick)
    if number in reach["engine"][1]:
        yield "engine", unit_tests("store_engine_test"), reach["engine"][0]
    if rest:
        yield "contract", contract([t for _, t in rest]), sum(s for s, _ in rest)
    if options.seeds and number in reach["simulator"][1]:
        usual = reach["simulator"][0] * options.seeds / SEEDS
        yield "simulator", simulator(options.seeds), usual
    if not options.sqlite:
        return
    if number in reach["sqlite"][1]:
        yield "sqlite", unit_tests("store_sqlite_test"), reach["sqlite"][0]
    if tests:
        yield "sqlite", contract(on_sqlite(t for _, t in tests)), 10 * spent


def fate_of(number, reach, options):
    """(what has noticed it, or None; the first words about it)."""
    tried = False
    for name, command, usual in stages(number, reach, options):
        tried = True
        passed, text = run(command, 10 + 6 * usual, PERDURE_MUTANT=str(number))
        if not passed:
            found = re.search(r"^\[  FAILED  \] (\S+)", text, re.M)
            words = found.group(1) if found else "".join(text.strip().splitlines()[-1:])
            return name, words[:120]
    return (None, "") if tried else ("unreached", "")


# --- the campaign ----------------------------------------------------------------------------

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
    reach = {test: (seconds, set(reached)) for test, (seconds, reached) in reach.items()
             if test in OTHERS or seconds <= options.test_max}
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
    parser.add_argument("--sqlite", action="store_true", help="try tests of SQLite's tables too")
    parser.add_argument("--test-max", type=float, default=1e6,
                        help="leave out tests that take more seconds than this")
    parser.add_argument("--seeds", type=int, default=SEEDS,
                        help="of the simulator, each mode; 0: without it")
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
