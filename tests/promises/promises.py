#!/usr/bin/env python3
"""For each promise a mutant: the code that keeps it taken out. The named test must fail then.

    promises.py BUILD_DIRECTORY [PROMISE ...]      for instance: promises.py build P8 P9
    promises.py BUILD_DIRECTORY --but-the-zoo      without those that perdure-zoo hunts anyway

Prints a table: promise, mutant, what catches it, verdict. Without its mutant every test must pass:
a test that always fails has caught nothing.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

TIMEOUT_S = 300
SEEDS_MAX = 6000  # the rarest is met once in some 900 seeds


@dataclass(frozen=True)
class Mutant:
    promise: str
    bug: str
    kind: str        # who must catch it: zoo, contract, stories, promises, shim
    test: str = "*"  # which test, if it is not a seed of the simulator


# Every promise that can be broken by taking out code. P12 is that the same suite passes everywhere.
MUTANTS = [
    Mutant("P1", "ack_before_commit", "zoo"),
    Mutant("P1", "idempotency_key_ignored", "contract",
           "*.the_same_idempotency_key_is_the_same_job/*"),
    Mutant("P2", "no_fence_on_heartbeat", "zoo"),
    Mutant("P2", "epoch_not_raised", "contract", "*.every_claim_has_an_epoch_of_its_own/*"),
    Mutant("P3", "promotion_forgotten_on_free", "zoo"),
    Mutant("P3", "next_in_line_forgotten", "contract",
           "*.a_promoted_job_that_leaves_lets_the_next_one_have_it/*"),
    Mutant("P4", "once_retried_when_dirty", "zoo"),
    Mutant("P4", "old_go_never_expires", "stories", "OwnershipStory.a_machine_that_slept_*"),
    Mutant("P5", "result_forgotten_when_report_is_lost", "zoo"),
    Mutant("P5", "presumed_lost_never_reinstated", "stories",
           "OwnershipStory.a_worker_cut_off_for_three_minutes_goes_on_with_its_job"),
    Mutant("P6", "crash_not_counted", "zoo"),
    Mutant("P6", "rule_not_counted", "zoo"),
    Mutant("P7", "needed_wake_up", "zoo"),
    Mutant("P7", "callbacks_made_in_another_group", "zoo"),
    Mutant("P8", "no_self_kill_of_exclusive", "zoo"),
    Mutant("P8", "tree_left_alive", "shim", "HostTreeTest.*"),
    Mutant("P9", "silence_taken_for_did_not_run", "zoo"),
    Mutant("P9", "signal_called_exit", "shim", "HostProcessesTest.death_by_a_signal_is_a_crash"),
    Mutant("P10", "last_rule_judges", "zoo"),
    Mutant("P10", "why_forgets_a_blocker", "promises"),
    Mutant("P11", "blind_repeat_of_unknown_outcome", "zoo"),
    Mutant("P11", "waiters_never_refused", "stories",
           "CommitStory.a_submit_that_hangs_in_the_store_is_answered_within_five_seconds"),
]

PROGRAMS = {"contract": "contract_zoo", "stories": "stories_zoo", "promises": "promises_zoo"}


def run(*arguments):
    """The exit code and what was printed. None: it never ended."""
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, errors="replace",
                              timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout


def failed_tests(text):
    """Names of the tests that failed, or the one that was running when the program aborted."""
    failed = re.findall(r"^\[  FAILED  \] (\S+?),? .*\(\d+ ms\)$", text, re.M)
    started = re.findall(r"^\[ RUN      \] (\S+)", text, re.M)
    return failed or started[-1:]


class Build:
    def __init__(self, directory, scratch):
        self.bin = os.path.join(directory, "bin")
        self.scratch = scratch

    def program(self, name):
        return os.path.join(self.bin, name)

    def catch_by_seed(self, mutant):
        code, text = run(self.program("perdure-zoo"), "--bug", mutant.bug, "--jobs", "1",
                         "--seeds", str(SEEDS_MAX))
        found = re.search(rf"^{mutant.bug} +(\d+)  (.*)$", text, re.M)
        if code != 0 or not found:
            return None
        return f"simulator, {found.group(1)} seeds: {found.group(2)}"

    def catch_by_test(self, mutant):
        program = self.program(PROGRAMS[mutant.kind])
        code, text = run(program, "--bug", mutant.bug, f"--gtest_filter={mutant.test}")
        if code == 0 or code == 2:
            return None
        names = failed_tests(text)
        return f"{PROGRAMS[mutant.kind]}: {names[0]}" if names else None

    def catch_by_shim(self, mutant):
        shim = os.path.join(self.scratch, "shim-" + mutant.bug)
        shutil.copy(self.program("perdure-shim-zoo"), shim)
        code, text = run(self.program("processes_test"), f"--gtest_filter={mutant.test}",
                         f"--shim={shim}")
        names = failed_tests(text)
        return f"processes_test: {names[0]}" if code != 0 and names else None

    def catch(self, mutant):
        return {"zoo": self.catch_by_seed, "shim": self.catch_by_shim}.get(
            mutant.kind, self.catch_by_test)(mutant)

    def innocent(self, mutant):
        """Does what must fail with the mutant pass without it?"""
        if mutant.kind == "zoo":
            return True  # perdure-sim proves it with thousands of seeds
        program = "processes_test" if mutant.kind == "shim" else PROGRAMS[mutant.kind]
        code, _ = run(self.program(program), f"--gtest_filter={mutant.test}")
        return code == 0


def main(directory, wanted):
    but_the_zoo = "--but-the-zoo" in wanted
    wanted -= {"--but-the-zoo"}
    mutants = [m for m in MUTANTS if not wanted or m.promise in wanted]
    if but_the_zoo:
        mutants = [m for m in mutants if m.kind != "zoo"]
    if not mutants:
        sys.exit("there is no such promise; they are P1 to P11")
    survivors = 0
    with tempfile.TemporaryDirectory(prefix="perdure-promises-") as scratch:
        build = Build(os.path.abspath(directory), scratch)
        checks = {(m.kind, m.test): m for m in mutants}
        for mutant in checks.values():
            if not build.innocent(mutant):
                sys.exit(f"{mutant.kind} {mutant.test} fails without any mutant: nothing was shown")
        print(f"{'promise':8} {'mutant':38} caught by")
        with ThreadPoolExecutor(max_workers=2) as pool:
            for mutant, caught in zip(mutants, pool.map(build.catch, mutants)):
                survivors += caught is None
                print(f"{mutant.promise:8} {mutant.bug:38} {caught or 'NOBODY'}", flush=True)
    print(f"{len(mutants) - survivors} passed, {survivors} failed")
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], set(sys.argv[2:]))
