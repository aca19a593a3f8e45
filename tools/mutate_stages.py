"""Which tests can notice a mutant, in which order they are run, and what they say."""

import contextlib
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys

from mutate_tree import BIN, HOME, TARGETS

QUICK_SECONDS = 0.3
SEEDS = 60
STAGES = ("contract", "engine", "simulator", "sqlite")
BYTES_MAX = 6 << 30


def run(command, limit, **environment):
    """(whether it ended well, what it printed). One that needs more seconds of a processor than
    the limit never ends, and has not."""
    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (BYTES_MAX, BYTES_MAX))
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.setpgid(0, 0)

    process = subprocess.Popen(command, cwd=HOME, text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env={**os.environ, **environment}, preexec_fn=limited)
    try:
        text, _ = process.communicate(timeout=30 + 10 * limit)
        return process.returncode == 0, text
    except subprocess.TimeoutExpired:
        return False, "it never ended"
    finally:  # also if the campaign is stopped
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def unit_tests(program, tests=("*",)):
    return [str(BIN / program), "--gtest_brief=1", "--gtest_fail_fast",
            "--gtest_filter=" + ":".join(tests)]


def simulator(seeds):
    return [str(BIN / "perdure-sim"), "--first", "1", "--seeds", str(seeds), "--mode", "both",
            "--store", "memory", "--jobs", "1"]


def tests_of(program):
    return listed_tests(run([str(BIN / program), "--gtest_list_tests"], 60)[1])


def listed_tests(text):
    suite, tests = "", []
    for line in text.splitlines():
        word = line.split()[0] if line.strip() else ""
        if line.startswith(" "):
            tests.append(suite + word)
        elif word.endswith("."):  # a main may say something of its own before
            suite = word
    return tests


def reach_of(command, what):
    """(seconds of a processor, numbers of the mutants that it reaches)."""
    path = HOME / "reached.txt"
    path.unlink(missing_ok=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    passed, text = run(command, 600, PERDURE_MUTANTS_REACHED=str(path))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if not passed or " 0 tests from 0 " in text:
        sys.exit(f"{what} is not there, or fails without any mutant: nothing can be learnt\n"
                 + text[-3000:])
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
    reach = {stage: {} for stage in STAGES}
    for stage, program in [("contract", "contract_test"), ("sqlite", "store_sqlite_test")]:
        for test in tests_of(program):
            if stage == "sqlite" or "sqlite" not in test:
                reach[stage][test] = reach_of(unit_tests(program, [test]), test)
    reach["engine"]["*"] = reach_of(unit_tests("store_engine_test"), "engine")
    reach["simulator"]["*"] = reach_of(simulator(SEEDS), "simulator")
    kept.write_text(json.dumps({"of": digest.hexdigest(), "reach": reach}))
    seconds = {stage: sum(s for s, _ in tests.values()) for stage, tests in reach.items()}
    print("learnt in", ", ".join(f"{stage} {s:.1f} s" for stage, s in seconds.items()), flush=True)
    return reach


def on_sqlite(tests):
    """The same tests on SQLite. The last digits of a name are a seed, of which it has fewer."""
    return sorted({re.sub("/memory(_restarted)?", "/sqlite_inline", test) for test in tests
                   if not test.startswith("Memory/")})


def reaching(number, tests, test_max):
    """(seconds, test) of those that reach it, what is cheap first."""
    return sorted((seconds, test) for test, (seconds, reached) in tests.items()
                  if number in reached and seconds <= test_max)


def split(tests):
    """Those that are run first, and the rest."""
    quick, spent = 0, 0.0
    while quick < len(tests) and (quick == 0 or spent + tests[quick][0] <= QUICK_SECONDS):
        spent += tests[quick][0]
        quick += 1
    return tests[:quick], tests[quick:]


def stages(number, reach, options):
    """(name, command, usual seconds) of what can notice it, what is cheap first."""
    def some(stage, tests, program, rename=list):
        if tests and stage in options.stages:
            usual = sum(seconds for seconds, _ in tests)
            yield stage, unit_tests(program, rename(test for _, test in tests)), usual

    in_memory = reaching(number, reach["contract"], options.test_max)
    quick, rest = split(in_memory)
    yield from some("contract", quick, "contract_test")
    yield from some("engine", reaching(number, reach["engine"], 1e6), "store_engine_test")
    yield from some("contract", rest, "contract_test")
    if "simulator" in options.stages:
        for seconds, _ in reaching(number, reach["simulator"], 1e6):
            usual = seconds * options.seeds / SEEDS
            yield "simulator", simulator(options.seeds), usual
    yield from some("sqlite", reaching(number, reach["sqlite"], options.test_max),
                    "store_sqlite_test")
    for name, command, usual in some("sqlite", in_memory, "contract_test", on_sqlite):
        yield name, command, 10 * usual  # it is slower


def fate_of(number, reach, options):
    """(what has noticed it, or None; the first words about it)."""
    tried = False
    for name, command, usual in stages(number, reach, options):
        tried = True
        passed, text = run(command, 3 + 6 * usual, PERDURE_MUTANT=str(number))
        if not passed:
            found = re.search(r"^\[  FAILED  \] (\S+)", text, re.M)
            words = found.group(1) if found else "".join(text.strip().splitlines()[-1:])
            return name, words[:120]
    return (None, "") if tried else ("unreached", "")
