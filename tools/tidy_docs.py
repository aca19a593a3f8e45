"""Rules about documents and words: one spelling, labels, links, error pages, machine paths."""

import re
from pathlib import PurePosixPath

from tidy import Finding, line_of
from tidy_lex import code_of

GLOSSARY, RULES_PAGE = "docs/glossary.md", "docs/rules.md"
JOB, CAUSE, ERROR = "src/core/job/job.h", "src/core/policy/cause.h", "src/base/error.h"


def missing(path, rule, fix):
    return Finding(path, 1, rule, "does not exist", fix)


def enumerators(tree, path, name):
    """{enumerator: line} of `enum class NAME { ... }`; empty if it is not there."""
    code = code_of(tree.text(path))
    match = re.search(rf"\benum\s+class\s+{name}\b[^{{;]*{{([^}}]*)}}", code)
    if not match:
        return {}
    return {m.group(1): line_of(code, match.start(1) + m.start(1))
            for m in re.finditer(r"(?:^|,)\s*(\w+)", match.group(1))}


def spellings(tree, path, array):
    """{spelling: line} of the strings of `NAME = {...}`, for enumerators like `crash(signal)`."""
    text = tree.text(path)
    match = re.search(rf"\b{array}\s*=?\s*{{([^}}]*)}}", text)
    if not match:
        return {}
    return {m.group(1): line_of(text, match.start(1) + m.start())
            for m in re.finditer(r'"([^"\n]*)"', match.group(1))}


# --- one spelling ----------------------------------------------------------------------------

def paragraph(tree, path, opening):
    """The line that starts with `opening` and what follows up to a blank line; its number."""
    number, words = 0, []
    for at, line in tree.lines(path):
        if not number and line.startswith(opening):
            number = at
        if number and not line.strip():
            break
        if number:
            words += re.findall(r"`([^`]+)`", line)
    return number, words


def compare(tree, opening, words_in_code, path):
    number, words = paragraph(tree, GLOSSARY, opening)
    if not number:
        yield Finding(GLOSSARY, 1, "spelling", f"no line starts with `{opening}`",
                      f"list there, in backticks, all names of {path}")
        return
    for word in words_in_code.keys() - set(words):
        yield Finding(GLOSSARY, number, "spelling", f"`{word}` of {path} is not in `{opening}`",
                      "add it, spelt as in the code", word)
    for word in sorted(set(words) - words_in_code.keys()):
        yield Finding(GLOSSARY, number, "spelling", f"`{word}` is not a name of {path}",
                      "spell it as in the code, or remove it", word)


def check_spelling(tree):
    states = enumerators(tree, JOB, "JobState")
    causes = enumerators(tree, CAUSE, "Cause")
    if not states:
        yield Finding(JOB, 1, "spelling", "no `enum class JobState` here",
                      "define the states there")
    if not causes:
        yield Finding(CAUSE, 1, "spelling", "no `enum class Cause` here",
                      "define the causes there")
    names = spellings(tree, CAUSE, "cause_names")
    if names:
        as_enumerators = [re.sub(r"[^\w]", "_", name).strip("_") for name in names]
        if as_enumerators != list(causes):
            yield Finding(CAUSE, min(names.values()), "spelling",
                          "`cause_names` differs from `enum class Cause`",
                          "same names, same order; `crash_signal` is spelt `crash(signal)`")
    if not tree.exists(GLOSSARY):
        yield missing(GLOSSARY, "spelling", "write it, with a `States:` and a `Causes:` line")
        return
    if states:
        yield from compare(tree, "States:", states, JOB)
    if causes:
        yield from compare(tree, "Causes:", names or causes, CAUSE)


# --- labels ----------------------------------------------------------------------------------

def defined_labels(tree):
    """{label: line}: `[P1]` anywhere in docs/rules.md, `T1` where a line opens with `**T1`."""
    labels = {}
    for number, line in tree.lines(RULES_PAGE):
        for label in re.findall(r"\[P\d+\]", line):
            labels.setdefault(label, number)
        rule = re.match(r"(?:[-*|#]+\s+)?\*{0,2}([A-OQ-Z]\d+)\b", line)
        if rule:
            labels.setdefault(rule.group(1), number)
    return labels


def check_labels(tree):
    if not tree.exists(RULES_PAGE):
        yield missing(RULES_PAGE, "label", "write down the promises [P1].. and the rules T1..")
        return
    labels = defined_labels(tree)
    if not labels:
        yield Finding(RULES_PAGE, 1, "label", "defines no label",
                      "write promises as `[P1]` and open each rule with `**T1 ...`")
    used = set()
    for path in tree.files:
        if path.startswith(("src/", "tests/", "models/")):
            for number, line in tree.lines(path):
                promises = re.findall(r"\[P\d+\]", line)
                used.update(promises, re.findall(r"\b[A-OQ-Z]\d+\b", line))
                for label in promises:
                    if label not in labels:
                        yield Finding(path, number, "label", f"{label} is not in {RULES_PAGE}",
                                      "name a promise that exists, or state it there", label)
    for label, number in labels.items():
        if label not in used:
            yield Finding(RULES_PAGE, number, "label", f"{label} is used nowhere in src/, tests/ "
                          "or models/", "name it where it is stated, enforced and tested", label)


# --- links, pages, paths ---------------------------------------------------------------------

def links_of(text):
    """(offset, target) of each Markdown link outside code."""
    blank = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.S | re.M)
    prose = blank.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    for match in re.finditer(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)|^\[[^\]]+\]:\s*(\S+)",
                             prose, re.M):
        yield match.start(), match.group(1) or match.group(2)


def check_links(tree):
    for path in tree.files:
        if not path.endswith(".md"):
            continue
        text = tree.text(path)
        for offset, target in links_of(text):
            target = target.split("#")[0]
            if not target or re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            base = tree.root if target.startswith("/") else tree.root / PurePosixPath(path).parent
            if not (base / target.lstrip("/")).exists():
                yield Finding(path, line_of(text, offset), "link", f"`{target}` does not exist",
                              "correct the link, relative to this file", target)


def check_errors(tree):
    codes = enumerators(tree, ERROR, "Errc")
    if not codes:
        yield Finding(ERROR, 1, "error_page", "no `enum class Errc` here",
                      "define the error codes there")
        return
    for code, line in codes.items():
        if not tree.exists(f"docs/errors/{code}.md"):
            yield Finding(ERROR, line, "error_page", f"`{code}` has no page",
                          f"write docs/errors/{code}.md: meaning, cause, what to do", code)
    for path in tree.files:
        page = re.fullmatch(r"docs/errors/(\w+)\.md", path)
        if page and page.group(1) not in codes.keys() | {"README"}:
            yield Finding(path, 1, "error_page", f"page of `{page.group(1)}`, which is no Errc",
                          f"remove it, or add the code to {ERROR}")


# Neither pattern matches its own source text.
_MACHINE = re.compile(r"(?<![\w.)}\]*-])/(?:work|root|home)(?![\w-])|\.\./shared\b")


def check_machine_paths(tree):
    for path in tree.files:
        for number, line in tree.lines(path):
            match = _MACHINE.search(line)
            if match:
                yield Finding(path, number, "machine_path", f"`{match.group()}` is a path of one "
                              "machine", "write it relative to the repository, or take it as an "
                              "option")


RULES = [check_spelling, check_labels, check_links, check_errors, check_machine_paths]
