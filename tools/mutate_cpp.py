"""Mutant schemata: rewrites C++ so that one program holds many mutants, chosen when it starts.

    a == b      ((a == b) != mutant(1))                          the comparison is flipped
    a < b       (((mutant(3) ? (a <= b) : (a < b))) != mutant(2))  flipped, or moved by one
    a && b      ((bool(a) != mutant(4)) ? bool(b) : mutant(4))   `&&` becomes `||`, and vice versa
    !a          ((!a) != mutant(5))                              the `!` is dropped
    if (a)      if ((a) && !mutant(6))                           the guard never holds
    f(a);       { if (!mutant(7)) { f(a); } }                    the statement is left out

mutate_places.py finds the operands.
"""

import re
from dataclasses import dataclass

from mutate_lex import flat
from mutate_places import LOGIC, MOVED, Place

# If two places have the same tokens: the innermost kind first.
KINDS = ["not", "compare", "logic", "guard", "statement"]

HEADER = """// One program holds all mutants; PERDURE_MUTANT chooses one by its number.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace perdure {

struct Mutants {
    int chosen = 0;
    std::FILE* file = nullptr;  // gets the number of each that is reached
    bool reached[%d] = {};

    Mutants() {
        if (const char* number = std::getenv("PERDURE_MUTANT")) chosen = std::atoi(number);
        if (const char* path = std::getenv("PERDURE_MUTANTS_REACHED")) file = std::fopen(path, "a");
        if (file) std::setbuf(file, nullptr);  // a process may end in any way
    }
};

inline Mutants mutants;

inline bool mutant(int number) {
    if (!mutants.reached[number]) {
        mutants.reached[number] = true;
        if (mutants.file) std::fprintf(mutants.file, "%%d\\n", number);
    }
    return number == mutants.chosen;
}

}  // namespace perdure
"""


@dataclass
class Mutant:
    name: str  # the same as long as the code around it is
    path: str
    line: int
    kind: str
    text: str  # what becomes of it
    place: Place
    number: int = 0


def describe(source, place, what):
    original = flat(source.source(place.first, place.last))
    if what == "exchange":
        return original, f"{source.tokens[place.at].text} -> {LOGIC[source.tokens[place.at].text]}"
    if what == "move":
        return original, f"{source.tokens[place.at].text} -> {MOVED[source.tokens[place.at].text]}"
    return original, {"flip": "the opposite", "never": "never holds", "!": "without !",
                      "left out": "left out"}[what]


def mutants_of(path, source):
    """All of a file, in order; names count what is written alike."""
    seen = {}
    for place in sorted(source.places, key=lambda p: (p.first, p.at)):
        operator = max(source.tokens[place.at].start - source.tokens[place.first].start, 0)
        for what in place.changes:
            original, change = describe(source, place, what)
            base = f"{path}: {original} [{change}" + (f" at {operator}]" if operator else "]")
            seen[base] = seen.get(base, 0) + 1
            name = base if seen[base] == 1 else f"{base} #{seen[base]}"
            yield Mutant(name, path, place.line, f"{place.kind}/{what}",
                         f"{original}  [{change}]", place)


# --- rendering -------------------------------------------------------------------------------

class Rendering:
    """Text of a file with those mutants that have a number. Marks tell which of them stands where:
    `/*<17*/ ... /*17>*/`."""

    def __init__(self, source, mutants):
        self.source = source
        self.numbers = {}
        for mutant in mutants:
            self.numbers.setdefault(id(mutant.place), {})[mutant.kind.split("/")[1]] = mutant.number
        places = [p for p in source.places if id(p) in self.numbers]
        places.sort(key=lambda p: (p.first, -p.last, -KINDS.index(p.kind)))
        self.roots, self.misplaced = nest(places)

    def text(self):
        source = self.source
        if not source.tokens:
            return source.text
        body = self.between(0, len(source.tokens) - 1, self.roots)
        return source.text[:source.tokens[0].start] + body + source.text[source.tokens[-1].end:]

    def between(self, first, last, places):
        if first > last:
            return ""
        text, at = "", self.source.tokens[first].start
        for place in places:
            if place.first < first or place.last > last:
                continue
            text += self.source.text[at:self.source.tokens[place.first].start]
            numbers = self.numbers[id(place)]
            mark = min(numbers.values())
            text += f"/*<{mark}*/{self.place(place, numbers)}/*{mark}>*/"
            at = self.source.tokens[place.last].end
        return text + self.source.text[at:self.source.tokens[last].end]

    def place(self, place, numbers):
        def inner(first, last):
            return self.between(first, last, place.children)

        chosen = {what: f"::perdure::mutant({number})" for what, number in numbers.items()}
        operator = self.source.tokens[place.at].text
        if place.kind in ("compare", "logic"):
            left, right = inner(place.first, place.at - 1), inner(place.at + 1, place.last)
        if place.kind == "not":
            return f"((!{inner(place.at + 1, place.last)}) != {chosen['!']})"
        if place.kind == "logic":
            m = chosen["exchange"]
            one = f"(static_cast<bool>({left}) != {m})"
            other = f"static_cast<bool>({right})"
            return f"({one} ? {other} : {m})" if operator == "&&" else f"({one} ? !{m} : {other})"
        if place.kind == "compare":
            text = f"({left} {operator} {right})"
            if "move" in chosen:
                moved = f"({flat(left)} {MOVED[operator]} {flat(right)})"
                text = f"({chosen['move']} ? {moved} : {text})"
            return f"({text} != {chosen['flip']})" if "flip" in chosen else text
        if place.kind == "guard":
            return self.guard(place, inner, chosen["never"])
        rest = " return;" if operator == "return" else ""
        return f"{{ if (!{chosen['left out']}) {{ {inner(place.first, place.last)} }}{rest} }}"

    def guard(self, place, inner, chosen):
        source = self.source
        opening, closing = place.first - 1, place.last + 1
        declared = source.declares(opening, closing)
        if declared:
            name = source.tokens[declared - 1].text
            return f"{inner(place.first, place.last)}; {name} && !{chosen}"
        first = place.first
        for i in source.parts(opening, closing):
            if source.tokens[i].text == ";":
                first = i + 1
        head = inner(place.first, first - 1) + " " if first > place.first else ""
        return f"{head}({inner(first, place.last)}) && !{chosen}"


def nest(places):
    """A forest, outermost first. What lies across another one is misplaced."""
    roots, stack, misplaced = [], [], []
    for place in places:
        place.children = []
        while stack and stack[-1].last < place.first:
            stack.pop()
        if stack and place.last > stack[-1].last:
            misplaced.append(place)
            continue
        (stack[-1].children if stack else roots).append(place)
        stack.append(place)
    return roots, misplaced


def marks_at(text, line, column):
    """The marks around a position that the compiler names, outermost first."""
    starts = [0]
    for found in re.finditer("\n", text):
        starts.append(found.end())
    offset = starts[min(line, len(starts)) - 1] + column - 1
    stack = []
    for found in re.finditer(r"/\*<(\d+)\*/|/\*(\d+)>\*/", text):
        if found.start() > offset:
            break
        if found.group(1):
            stack.append(int(found.group(1)))
        elif stack and stack[-1] == int(found.group(2)):
            stack.pop()
    return stack
