"""The copy of the tree that holds all mutants: written, and built without those that do not
compile."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

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
# A mutated condition looks odd to a compiler.
QUIET = """
foreach(target perdure_store_engine perdure_store_memory perdure_store_sqlite store_engine_test
        contract_cases contract_test)
  target_compile_options(${target} PRIVATE -w)
endforeach()
"""


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
    built = subprocess.run(["ninja", "-C", str(TREE / "build"), "-k", "0",
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
