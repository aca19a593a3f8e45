"""Places of a C++ file that can be mutated: operators, guards and statements.

It knows C++ as clang-format lays it out: an operator has a space on both sides, a bracket of a
template on neither. What it gets wrong does not compile, and is dropped by the caller.
"""

import re
from dataclasses import dataclass, field

from mutate_lex import tokens_of

ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^="}
# Where any operand ends.
ENDS = {",", ";", "?", ":", "...", "return", "co_return", "case", "else", "throw"} | ASSIGNMENTS
LOGIC = {"&&": "||", "||": "&&"}
EQUALITY = {"==", "!="}
MOVED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
NOT_STATEMENTS = {"if", "for", "while", "switch", "case", "default", "do", "else", "break",
                  "continue", "return", "co_return", "throw", "try", "catch", "using", "const",
                  "constexpr", "auto", "static", "struct", "class", "enum", "namespace", "template",
                  "typename", "delete", "goto", "static_assert", "public", "private", "protected",
                  "friend", "explicit", "inline", "virtual", "PERDURE_ASSERT", "reached"}


@dataclass
class Place:
    """One that can be mutated: tokens from `first` to `last`, operator or condition at `at`."""
    kind: str
    first: int
    last: int
    at: int
    line: int
    changes: list = field(default_factory=list)  # of what its kind allows
    children: list = field(default_factory=list)


class Source:
    """The places of one file that can be mutated."""

    def __init__(self, text):
        self.text = text
        self.tokens = tokens_of(text)
        self.enclosing = self.find_enclosing()
        self.dead = self.find_dead()
        places = [*self.find_operators(), *self.find_guards(), *self.find_statements()]
        self.places = [p for p in places if not self.is_ignored(p)]

    def find_enclosing(self):
        """For each token the bracket around it."""
        around, stack = [], []
        for i, token in enumerate(self.tokens):
            if token.match >= 0 and token.match < i and stack and stack[-1] == token.match:
                stack.pop()
            around.append(stack[-1] if stack else -1)
            if token.match > i:
                stack.append(i)
        return around

    def words(self, first, last):
        return [token.text for token in self.tokens[first:last + 1]]

    def source(self, first, last):
        return self.text[self.tokens[first].start:self.tokens[last].end]

    def line(self, i):
        return self.text.count("\n", 0, self.tokens[i].start) + 1

    # --- what is not the engine's own ---

    def find_dead(self):
        """Code that only a deliberate bug runs."""
        dead = []
        for i, after in self.conditions():
            words = self.words(i + 1, after - 1)
            if "zoo" not in words:
                continue
            last = self.end_of_statement(after + 1)
            if words[0] == "!" and words[1] == "zoo" and "&&" not in words:
                if self.tokens[after + 1].text == "return":
                    dead.append((last + 1, self.tokens[self.enclosing[i]].match))
            elif "||" not in words and "!" not in words[max(words.index("zoo") - 1, 0)]:
                dead.append((after + 1, last))
        return dead

    def conditions(self):
        """Brackets of each `if` and `while`."""
        for i, token in enumerate(self.tokens):
            if token.text in ("if", "while") and self.tokens[i + 1].text == "(":
                yield i + 1, self.tokens[i + 1].match

    def end_of_statement(self, i):
        if self.tokens[i].text == "{":
            return self.tokens[i].match
        while i < len(self.tokens) and self.tokens[i].text != ";":
            i = max(i, self.tokens[i].match) + 1
        return i

    def is_ignored(self, place):
        words = self.words(place.first, place.last)
        if "zoo_rows" in words or "operator" in words:
            return True
        if any(first <= place.first <= last for first, last in self.dead):
            return True
        if self.is_constant(place.first):
            return True
        if "zoo" not in words:
            return False
        if place.kind == "logic":
            sides = [self.words(place.first, place.at - 1), self.words(place.at + 1, place.last)]
            return any(is_zoo(side) for side in sides)
        return place.kind != "guard" or is_zoo(words) or "&&" in words

    def is_constant(self, i):
        """In the brackets of an assertion or of requires, or in a constant's value."""
        while i >= 0:
            around = self.enclosing[i]
            before = self.tokens[around - 1].text if around > 0 else ""
            if before in ("static_assert", "PERDURE_ASSERT", "constexpr", "requires", "noexcept"):
                return True
            if around < 0 or self.tokens[around].text == "{":
                return self.statement_words(i)[:1] in (["constexpr"], ["static_assert"])
            i = around
        return False

    def statement_words(self, i):
        first = i
        while first > 0 and self.tokens[first - 1].text not in (";", "{", "}"):
            first -= 1
        return self.words(first, i)

    # --- operators ---

    def find_operators(self):
        for i, token in enumerate(self.tokens):
            if token.kind != "sign" or self.tokens[i - 1].text == "operator":
                continue
            if token.text == "!" and not token.spaced:
                last = self.end_of_unary(i + 1)
                yield Place("not", i, last, i, self.line(i), ["!"])
            elif not token.spaced:
                continue
            elif token.text in LOGIC:
                ends = {"||"} if token.text == "&&" else set()
                first, last = self.left(i, ends), self.right(i, ends | {token.text})
                yield Place("logic", first, last, i, self.line(i), ["exchange"])
            elif token.text in EQUALITY:
                first, last = self.left(i, set(LOGIC)), self.right(i, {*LOGIC, *EQUALITY})
                yield Place("compare", first, last, i, self.line(i), ["flip"])
            elif token.text in MOVED:
                ends = {*LOGIC, *EQUALITY}
                first, last = self.left(i, ends), self.right(i, {*ends, *MOVED})
                yield Place("compare", first, last, i, self.line(i), ["flip", "move"])

    def is_end(self, i, ends):
        token = self.tokens[i]
        if token.text in ENDS or token.text in ("{", "("):
            return True
        if token.text in ends:
            return token.spaced
        return token.text in ("|", "&", "^") and token.spaced

    def left(self, i, ends):
        first = i
        while first > 0:
            token = self.tokens[first - 1]
            if token.match >= 0 and token.match < first - 1:
                other = self.tokens[token.match]
                if token.text == "}" and not other.glued:
                    break
                first = token.match
                continue
            if token.match >= 0 or self.is_end(first - 1, ends):
                break
            first -= 1
        return first

    def right(self, i, ends):
        last = i
        while last + 1 < len(self.tokens):
            token = self.tokens[last + 1]
            if token.match > last + 1:
                if token.text == "{" and not token.glued:
                    break
                last = token.match
                continue
            if token.match >= 0 or self.is_end(last + 1, ends):
                break
            last += 1
        return last

    def end_of_unary(self, i):
        while self.tokens[i].text in ("!", "*", "-", "&"):
            i += 1
        last = max(i, self.tokens[i].match)
        while last + 1 < len(self.tokens):
            after = self.tokens[last + 1]
            if after.text in (".", "->", "::"):
                last += 2
            elif after.text in ("(", "[", "{", "<") and after.glued and after.match > last:
                last = after.match
            else:
                break
        return last

    # --- guards and statements ---

    def find_guards(self):
        for opening, closing in self.conditions():
            if self.tokens[opening - 1].text == "while" and self.declares(opening, closing):
                continue
            yield Place("guard", opening + 1, closing - 1, opening, self.line(opening),
                        ["never"])

    def parts(self, opening, closing):
        """Tokens between two brackets that are in no other."""
        i = opening + 1
        while i < closing:
            yield i
            i = max(i, self.tokens[i].match) + 1

    def declares(self, opening, closing):
        """The `=` of a condition that declares something."""
        inner = list(self.parts(opening, closing))
        if any(self.tokens[i].text == ";" for i in inner):
            return None
        return next((i for i in inner if self.tokens[i].text == "="), None)

    def find_statements(self):
        for i, token in enumerate(self.tokens):
            before = self.tokens[i - 1].text if i else ";"
            if before not in (";", "{", "}", ")", "else", ":") or not self.is_in_a_function(i):
                continue
            if before == ")" and not self.is_controlled(i):
                continue
            end = self.end_of_statement(i)
            if token.text == "return" and self.returns_nothing(i):
                if self.is_call_or_assignment(i + 1, end):
                    yield Place("statement", i, end, i, self.line(i), ["left out"])
            elif self.is_call_or_assignment(i, end) and not self.is_guarded(i, end):
                yield Place("statement", i, end, i, self.line(i), ["left out"])

    def is_in_a_function(self, i):
        around = self.enclosing[i]
        if around < 1 or self.tokens[around].text != "{" or self.tokens[around].glued:
            return False
        if self.tokens[around - 1].text in ("=", ",", "return", "?"):
            return False  # values, not statements
        head = self.statement_words(around - 1)
        return not {"class", "struct", "enum", "union", "namespace"} & set(head)

    def is_controlled(self, i):
        opening = self.tokens[i - 1].match
        words = self.words(max(opening - 2, 0), opening - 1)
        return words[-1] in ("if", "for", "while")

    def is_guarded(self, i, end):
        """All that an `if` does: that its guard never holds is the same."""
        if self.tokens[i - 1].text != ")":
            return False
        opening = self.tokens[i - 1].match
        after = self.tokens[end + 1].text if end + 1 < len(self.tokens) else ""
        return self.tokens[opening - 1].text == "if" and after != "else"

    def returns_nothing(self, i):
        heads = re.findall(r"^(?![#/}\s]|namespace|using).*$",
                           self.text[:self.tokens[i].start], re.M)
        return bool(heads) and heads[-1].startswith("void ")

    def is_call_or_assignment(self, i, end):
        tokens = self.tokens
        if end >= len(tokens) or tokens[end].text != ";" or i >= end:
            return False
        if tokens[i].text in ("++", "--"):
            return True
        while tokens[i].text == "*":
            i += 1
        if tokens[i].kind != "word" or tokens[i].text in NOT_STATEMENTS:
            return False
        while i + 1 < end:
            i += 1
            if tokens[i].text in (".", "->", "::"):
                i += 1
            elif tokens[i].text in ("(", "[", "<") and tokens[i].match > i:
                i = tokens[i].match
            else:
                return tokens[i].text in ASSIGNMENTS or tokens[i].text in ("++", "--")
        return tokens[i].text == ")"


def is_zoo(words):
    return "".join(words).startswith(("zoo(", "!zoo(")) and not {"&&", "||"} & set(words)
