#!/usr/bin/env python3
"""Reads the built programs, and fails when one of them lacks what makes a bug in memory harder to
use (cmake/hardening.cmake). Needs readelf and objdump of the binutils that the compiler brings.

    hardening.py [FOLDER]      build/bin if it is left out
"""
import json
import os
import re
import subprocess
import sys

from instance import ROOT

PROGRAMS = ("perdure", "perdure-shim")


def said_by(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return done.stdout


def find_faults(path):
    """What is missing, each with the flag that brings it."""
    header, segments, dynamic = (said_by("readelf", what, "-W", path)
                                 for what in ("-h", "-l", "-d"))
    symbols = said_by("readelf", "-s", "-W", path)
    is_static = "INTERP" not in segments

    def need(condition, flag):
        if not condition:
            yield flag

    yield from need(re.search(r"Type:\s+DYN", header), "-static-pie" if is_static else "-pie")
    yield from need("GNU_RELRO" in segments, "-z relro")
    yield from need(re.search(r"FLAGS.*(BIND_)?NOW", dynamic), "-z now")
    yield from need(re.search(r"GNU_STACK\s.*\sRW\s", segments), "-z noexecstack")
    yield from need(not re.search(r"LOAD\s.*\sRWE\s", segments), "no segment to write and run")
    yield from need("__stack_chk_fail" in symbols, "-fstack-protector-strong")
    yield from need(not re.search(r"RPATH|RUNPATH", dynamic), "no path of libraries")
    yield from faults_of_code(path, need)


def faults_of_code(path, need):
    """Of our own functions: the C library has what its packager gave it."""
    code = said_by("objdump", "-d", "--no-show-raw-insn", "--section=.text", path)
    bodies = re.findall(r"^[0-9a-f]+ <(_ZNK?7perdure[^>]*)>:\n((?:.+\n)+)", code, re.M)
    yield from need(len(bodies) > 100, "symbols to look at: this program is stripped")
    named = {name: body for name, body in bodies if ".cold" not in name and ".part" not in name}
    if os.uname().machine == "x86_64":
        marked = sum("endbr64" in body.split("\n", 1)[0] for body in named.values())
        yield from need(marked > 0.5 * len(named), f"-fcf-protection ({marked} of {len(named)})")
        probe = re.search(r"\borq?\s+\$0x0,(?:0x[0-9a-f]+)?\(%rsp\)", "".join(named.values()))
        yield from need(probe, "-fstack-clash-protection")
    guards = sum("__stack_chk_fail" in body for body in named.values())
    yield from need(guards > 0.02 * len(named), f"-fstack-protector-strong ({guards} functions)")


def uncompiled_with(flag, folder):
    """Files that were compiled without it. Where the compiler knows all sizes, as in the shim,
    nothing else tells of it."""
    with open(os.path.join(os.path.dirname(folder), "compile_commands.json")) as file:
        commands = json.load(file)
    without = [each["file"] for each in commands if flag not in each["command"].split()]
    return without if commands else ["nothing was compiled"]


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build", "bin")
    wrong = 0
    for program in PROGRAMS:
        faults = list(find_faults(os.path.join(folder, program)))
        print(f"{program}: " + (f"missing: {', '.join(faults)}" if faults else "ok"))
        wrong += len(faults)
    for flag in ("-D_FORTIFY_SOURCE=3", "-fstack-protector-strong", "-fstack-clash-protection"):
        without = uncompiled_with(flag, folder)
        if without:
            print(f"{len(without)} files were compiled without {flag}: {without[:3]}")
        wrong += len(without)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
