"""C++ as tokens, brackets paired: just enough for code that clang-format has laid out."""

import re
from dataclasses import dataclass

TOKEN = re.compile(
    r"""
      (?P<space>\s+|//[^\n]*|/\*.*?\*/|^[ ]*\#(?:\\\n|[^\n])*)
    | (?P<text>R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    | (?P<number>\d(?:[\w.]|'(?=\w))*)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<sign><=>|\.\.\.|->|\+\+|--|&&|\|\||==|!=|<=|>=|[-+*/%&|^]=|<<|::|.)
    """,
    re.X | re.S | re.M)

OPENERS = {"(": ")", "[": "]", "{": "}"}


@dataclass
class Token:
    text: str
    kind: str
    start: int
    end: int
    spaced: bool = False  # on both sides
    glued: bool = False   # to what is before it
    match: int = -1       # the other bracket


def tokens_of(text):
    tokens = []
    previous_end = -1
    for found in TOKEN.finditer(text):
        if found.lastgroup == "space":
            continue
        token = Token(found.group(), found.lastgroup, found.start(), found.end())
        token.glued = token.start == previous_end
        previous_end = token.end
        token.spaced = not token.glued and text[token.end:token.end + 1].isspace()
        tokens.append(token)
    pair_brackets(tokens)
    return tokens


def pair_brackets(tokens):
    open_ones = []
    for i, token in enumerate(tokens):
        if token.text in OPENERS:
            open_ones.append(i)
        elif token.text == "<" and token.glued and tokens[i - 1].kind == "word":
            open_ones.append(i)
        elif token.text == ">" and open_ones and tokens[open_ones[-1]].text == "<":
            pair(tokens, open_ones.pop(), i)
        elif token.text in OPENERS.values():
            while open_ones and tokens[open_ones[-1]].text == "<":
                open_ones.pop()
            if open_ones and OPENERS[tokens[open_ones[-1]].text] == token.text:
                pair(tokens, open_ones.pop(), i)


def pair(tokens, a, b):
    tokens[a].match, tokens[b].match = b, a


def flat(text):
    """On one line, without comments."""
    return " ".join(token.text for token in tokens_of(text))
