"""Rules about migrations: numbered without a gap, explained, and never changed once released."""

import hashlib
import re
from collections import defaultdict
from pathlib import PurePosixPath

from tidy import Finding

MIGRATION = re.compile(r"src/store/.*migrations/(\d{4})_\w+\.sql$")
RELEASED = "released.txt"  # in the folder of migrations: lines of `checksum name`


def folders_of(tree):
    folders = defaultdict(dict)
    for path in tree.files:
        match = MIGRATION.match(path)
        if match:
            folders[str(PurePosixPath(path).parent)][path] = int(match.group(1))
    return folders


def checksum(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def check_numbers(tree):
    for migrations in folders_of(tree).values():
        for expected, path in enumerate(sorted(migrations), start=1):
            if migrations[path] != expected:
                yield Finding(path, 1, "migration", f"its number is not {expected}",
                              "number migrations without a gap, each number once")
            if not tree.text(path).startswith("-- " + PurePosixPath(path).stem):
                yield Finding(path, 1, "migration", "it does not begin with its name and purpose",
                              f"begin with `-- {PurePosixPath(path).stem}: why it is there`")


def check_released(tree):
    for folder in folders_of(tree):
        notes = f"{folder}/{RELEASED}"
        if not tree.exists(notes):
            yield Finding(folder, 1, "migration", f"{RELEASED} is missing",
                          "make it; a release adds a line `checksum name` for each migration")
            continue
        for number, line in tree.lines(notes):
            if not line.strip() or line.startswith("#"):
                continue
            noted, _, name = line.partition(" ")
            path = f"{folder}/{name}"
            if not tree.exists(path) or checksum(tree.text(path)) != noted:
                yield Finding(notes, number, "migration", f"released migration {name} was changed",
                              "restore it and put the change into a new one")


RULES = [check_numbers, check_released]
