"""Just enough C++ to measure it: comments and literals blanked out, scopes and functions found."""

import re
from dataclasses import dataclass

_SKIP = re.compile(
    r'''(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
      | (?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^()\s\\]{0,16})\(.*?\)(?P=delimiter)")
      | (?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")
      | (?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)
      | (?P<char>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
      | (?P<word>[A-Za-z_]\w*)''', re.S | re.X)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]*)"|<([^>\n]*)>)', re.M)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def code_of(text):
    """The text with comments and the inside of literals as spaces: same lines, same columns."""
    def replace(match):
        if match.group("comment"):
            return _blank(match.group())
        if match.group("raw") or match.group("string") or match.group("char"):
            body = match.group()
            return body[0] + _blank(body[1:-1]) + body[-1]
        return match.group()
    return _SKIP.sub(replace, text)


def includes_of(text):
    """(offset, path, quoted) of each include; one inside a comment does not count."""
    code = code_of(text)
    return [(m.start(), m.group(1) or m.group(2), m.group(1) is not None)
            for m in _INCLUDE.finditer(text) if "#" in code[m.start():m.end()]]


@dataclass
class Scope:
    kind: str        # "namespace", "class", "function" or "data"
    name: str
    begin: int       # offset of the first character of its declaration
    end: int = 0     # offset of its closing brace
    virtuals: int = 0
    pures: int = 0


def _without_nested(header):
    """The header with everything inside parentheses dropped: `f(int a = 1)` becomes `f()`."""
    depth, kept = 0, []
    for char in header:
        if char == ")":
            depth -= 1
        if depth == 0:
            kept.append(char)
        if char == "(":
            depth += 1
    return "".join(kept)


def _without_braces(header):
    """Members initialised with braces do not tell what the next brace opens."""
    shorter = re.sub(r"\{[^{}]*\}", "", header)
    return header if shorter == header else _without_braces(shorter)


def _without_template(header):
    match = re.match(r"\s*template\s*<", header)
    while match:
        depth, at = 1, match.end()
        while at < len(header) and depth:
            depth += {"<": 1, ">": -1}.get(header[at], 0)
            at += 1
        header = header[at:]
        match = re.match(r"\s*template\s*<", header)
    return header


_LAMBDA = re.compile(r"\[[^\[\]]*\]\s*(?:<[^{}]*>\s*)?(?:\(\)|$)")
_CLASS = re.compile(r"(?:typedef\s+|static\s+|inline\s+|constexpr\s+|const\s+)*"
                    r"(?:class|struct|union)\b\s*(?:final\b)?\s*([\w:]*)")


def _opens_member(header):
    """Is the brace after this header that of `: member_{...}` in a constructor?"""
    flat = re.sub(r"::", "  ", _without_nested(header))
    return re.search(r"\)[^:?]*:[^:]*", flat) is not None and re.search(r"[\w>]\s*$", flat)


def _kind_of(header):
    """What a brace at namespace or class level opens, judged by the text before it."""
    header = re.sub(r"\[\[.*?\]\]", " ", header)
    header = _without_template(header).strip()
    header = re.sub(r"\balignas\s*\([^()]*\)", " ", header)
    flat = _without_nested(_without_braces(header)).strip()
    if re.search(r"\bnamespace\b[\s\w:]*$", flat) or re.match(r'extern\s*"\s*"$', flat):
        return "namespace", flat
    if re.match(r"(typedef\s+)?enum\b", flat):
        return "data", flat
    named = _CLASS.match(flat)
    if named and "(" not in re.split(r"(?<!:):(?!:)", flat)[0]:
        return "class", named.group(1)
    plain = re.sub(r"\boperator\s*[^\s\w(]+", "operator_", flat)
    assigned = re.search(r"(?<![=<>!])=(?!=)", plain)
    if assigned:
        lambda_ = _LAMBDA.search(plain, assigned.end())
        return ("function" if lambda_ else "data"), plain[:assigned.start()].strip()
    if "(" in plain:
        name = re.search(r"([~\w:]+)\s*\(", plain)
        return "function", name.group(1) if name else plain
    return "data", plain


def _closing(code, at):
    """The offset of the brace that closes the one at `at`."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, at):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.start()
    return len(code) - 1


def _note_method(scope, header):
    if re.search(r"\bvirtual\b", header) and "~" not in header:
        scope.virtuals += 1
        scope.pures += bool(re.search(r"=\s*0\s*$", header))


def _first_code(code, start, end):
    match = re.compile(r"\S").search(code, start, end)
    return match.start() if match else start


def scopes_of(text):
    """All classes and functions that stand at namespace or class level, in order of their end."""
    code = _DIRECTIVE.sub(lambda m: _blank(m.group()), code_of(text))
    found, stack = [], [Scope("namespace", "", 0)]
    start, at, parens = 0, 0, 0
    while at < len(code):
        char = code[at]
        parens += {"(": 1, ")": -1}.get(char, 0)
        if char == "{":
            header = code[start:at]
            if parens > 0 or _opens_member(header):
                at = _closing(code, at) + 1  # a braced argument or member: the header goes on
                continue
            kind, name = _kind_of(header)
            scope = Scope(kind, name, _first_code(code, start, at))
            if kind in ("namespace", "class"):
                stack.append(scope)
                start = at + 1
            else:
                if kind == "function":
                    _note_method(stack[-1], header)
                scope.end = at = _closing(code, at)
                found.append(scope)
                start = at + 1
        elif char == "}":
            if len(stack) > 1:
                scope = stack.pop()
                scope.end = at
                found.append(scope)
            start, parens = at + 1, 0
        elif char == ":" and code[start:at].strip() in ("public", "private", "protected"):
            start = at + 1
        elif char == ";" and parens == 0:
            _note_method(stack[-1], code[start:at])
            start = at + 1
        at += 1
    return found
