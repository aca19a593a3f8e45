"""A rule about coroutines, against a bug of g++ 12.

In a statement with co_await, g++ 12 destroys some temporaries twice: aggregates made with braces
and lambdas that capture, whenever a member or capture has a destructor. What it shares is then
freed too early, without a warning. A named variable is destroyed once, and so is what a function
returns. Allowed are captures of `this` and of references, and lambdas that go straight to
suspend(), unless they capture everything or move something in: those hold pointers and numbers.
"""

import re

from tidy import Finding, line_of
from tidy_lex import code_of

FIX = "name it in a variable first: g++ 12 destroys such temporaries twice"

_OPEN, _CLOSE = "([{", ")]}"
_MORE = re.compile(r"\s*[,).\]?:<>+*/&|-]")  # after a closing brace: the statement goes on
_REFERENCE = re.compile(r"\s*(?:this|&\s*\w*)\s*$")
_TYPE = re.compile(r"([\w:]+(?:<[^<>;{}]*>)?)\s*$")


def _matching(code, at):
    """The offset of the bracket that closes the one at `at`."""
    depth = 0
    for place in range(at, len(code)):
        if code[place] in _OPEN:
            depth += 1
        elif code[place] in _CLOSE:
            depth -= 1
            if depth == 0:
                return place
    return len(code) - 1


def _opening(code, at):
    depth = 0
    for place in range(at, -1, -1):
        if code[place] in _CLOSE:
            depth += 1
        elif code[place] in _OPEN:
            depth -= 1
            if depth == 0:
                return place
    return 0


def _begin_of_statement(code, at):
    at -= 1
    while at >= 0 and code[at] not in ";{":
        if code[at] == "}" and not _MORE.match(code, at + 1):
            break
        at = (_opening(code, at) if code[at] in _CLOSE else at) - 1
    return at + 1


def _captures(code, at):
    """The text between the brackets at `at`, if they open a lambda; otherwise None."""
    before = code[:at].rstrip()
    if before and (before[-1].isalnum() or before[-1] in "_)]>"):
        if not re.search(r"\breturn$", before):
            return None
    return code[at + 1:_matching(code, at)]


def _is_harmless(code, at, captures):
    if all(_REFERENCE.match(part) for part in captures.split(",") if part.strip()):
        return True
    straight = re.search(r"\bsuspend\s*\(\s*$", code[:at])
    return straight and not re.match(r"\s*=\s*(,|$)", captures) and "move(" not in captures


def _after_lambda(code, at):
    """Past the body of the lambda whose captures open at `at`."""
    at = _matching(code, at) + 1
    while at < len(code) and code[at] not in "{;":
        at = _matching(code, at) + 1 if code[at] == "(" else at + 1
    return _matching(code, at) + 1 if at < len(code) and code[at] == "{" else at


def temporaries_of(code, begin):
    """(offset, name) of what is dangerous in the statement that begins at `begin`."""
    at, depth = begin, 0
    while at < len(code) and not (code[at] == ";" and depth <= 0) and code[at] != "}":
        if code[at] == "[":
            captures = _captures(code, at)
            if captures is None:
                at = _matching(code, at) + 1
                continue
            if not _is_harmless(code, at, captures):
                yield at, f"[{captures.strip()}]"
            at = _after_lambda(code, at)
            continue
        if code[at] == "{":
            before = code[begin:at].rstrip()
            if before.endswith(")") or re.search(r"\b(else|do|try)$", before):
                return  # a block: the statement was its condition
            if code[at + 1:_matching(code, at)].strip():
                named = _TYPE.search(before)
                yield at, named.group(1) if named else "braces"
            at = _matching(code, at) + 1
            continue
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        at += 1


def check_awaits(tree):
    for path in tree.files:
        if not path.startswith(("src/", "tests/")) or not path.endswith((".h", ".cpp")):
            continue
        code = code_of(tree.text(path))
        seen = set()
        for match in re.finditer(r"\bco_await\b", code):
            for offset, name in temporaries_of(code, _begin_of_statement(code, match.start())):
                if offset not in seen:
                    seen.add(offset)
                    yield Finding(path, line_of(code, offset), "await",
                                  f"`{name}` is made in a statement with co_await", FIX,
                                  re.sub(r"\s+", "", name))
