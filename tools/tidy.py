#!/usr/bin/env python3
"""House rules, run by `./dev tidy` and as a test. Every message names the fix.

    tools/tidy.py [ROOT]

The rules are functions from a Tree to findings: tidy_cpp.py has those about code, tidy_docs.py
those about documents and words. Exceptions stand in tools/tidy_allow.txt, each with a reason; an
exception that is no longer needed is a finding itself, so the list only shrinks.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True


@dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    rule: str     # the word that tidy_allow.txt uses
    what: str
    fix: str
    subject: str = ""  # narrows an exception to one function, label or word

    def __str__(self):
        return f"{self.path}:{self.line}: {self.what}; fix: {self.fix} [{self.rule}]"


class Tree:
    """The files that belong to the repository: tracked, or new and not ignored."""

    def __init__(self, root):
        self.root = Path(root).resolve()
        self.files = sorted(f for f in self._list() if (self.root / f).is_file())
        self._texts = {}

    def _list(self):
        listed = subprocess.run(
            ["git", "-C", str(self.root), "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"], capture_output=True, check=False)
        if listed.returncode == 0:
            return {f for f in listed.stdout.decode().split("\0") if f}
        return {p.relative_to(self.root).as_posix() for p in self.root.rglob("*")
                if p.relative_to(self.root).parts[0] not in ("build", ".git")}

    def exists(self, path):
        return (self.root / path).exists()

    def text(self, path):
        """The file's text; empty for what is missing or not text."""
        if path not in self._texts:
            try:
                data = (self.root / path).read_bytes()
            except OSError:
                data = b""
            self._texts[path] = "" if b"\0" in data else data.decode("utf-8", "replace")
        return self._texts[path]

    def lines(self, path):
        return enumerate(self.text(path).splitlines(), start=1)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


ALLOW_PATH = "tools/tidy_allow.txt"


def read_allowed(tree):
    """Lines of `rule path [subject]: reason`. Gives {(rule, path, subject): line}, findings."""
    allowed, findings = {}, []
    for number, line in tree.lines(ALLOW_PATH):
        if not line.strip() or line.startswith("#"):
            continue
        entry, _, reason = line.partition(": ")
        words = entry.split()
        if len(words) not in (2, 3) or not reason.strip():
            findings.append(Finding(ALLOW_PATH, number, "allow", "cannot be understood",
                                    "write `rule path [subject]: reason`"))
            continue
        allowed[(words[0], words[1], words[2] if len(words) == 3 else "")] = number
    return allowed, findings


def apply_allowed(tree, findings):
    allowed, kept = read_allowed(tree)
    used = set()
    for finding in findings:
        keys = [(finding.rule, finding.path, finding.subject), (finding.rule, finding.path, "")]
        hits = [key for key in keys if key in allowed]
        used.update(hits)
        if not hits:
            kept.append(finding)
    for key in allowed.keys() - used:
        kept.append(Finding(ALLOW_PATH, allowed[key], "allow",
                            f"nothing needs the exception `{' '.join(key).strip()}`",
                            "delete the line; this list only shrinks"))
    return sorted(kept)


def check(root):
    import tidy_cpp
    import tidy_docs
    import tidy_sql
    tree = Tree(root)
    findings = []
    for rule in tidy_cpp.RULES + tidy_docs.RULES + tidy_sql.RULES:
        findings.extend(rule(tree))
    return tree, apply_allowed(tree, findings)


def main(arguments):
    here = os.path.dirname(os.path.abspath(__file__))
    tree, findings = check(arguments[0] if arguments else os.path.dirname(here))
    for finding in findings:
        print(finding)
    if findings:
        print(f"tidy: {len(findings)} to fix in {len(tree.files)} files")
        return 1
    print(f"tidy: {len(tree.files)} files, nothing to fix")
    return 0


if __name__ == "__main__":
    # The rules import this file by its name: make that the one that runs.
    sys.modules["tidy"] = sys.modules["__main__"]
    sys.exit(main(sys.argv[1:]))
