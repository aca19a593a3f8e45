"""Rules about code: layers, sizes, banned words, macros, headers."""

import ast
import re
from pathlib import PurePosixPath

from tidy import Finding, line_of
from tidy_await import check_awaits
from tidy_lex import code_of, includes_of, scopes_of

# A file includes lower layers only, never a sibling. CMakeLists.txt has the same numbers.
LAYERS = {"base": 0, "core": 1, "wire": 1.5, "ports": 2, "shim": 2.5, "store": 3, "platform": 2.8,
          "watchdog": 3, "processes": 3, "webhook": 3, "client": 3,
          "config": 3, "server": 4, "worker": 4, "testbed": 4, "api": 5, "cli": 5, "bench": 5,
          "drill": 5, "sim": 5, "app": 6}
ADAPTERS = {"store", "platform", "watchdog", "processes", "webhook", "client"}

FUNCTION_MAX, FILE_MAX, TEST_FILE_MAX = 60, 400, 800
LINE_MAX, INTERFACE_MAX = 100, 12

# Where exceptions of libraries become a Result: the store adapters, the HTTP session, the root
# of each spawned coroutine, the parser of command lines, and main.
DOORS = re.compile(
    r"src/(store/|api/serve_connection\.|ports/gate\.|cli/command_line\.|app/)")
MACROS = {"PERDURE_ASSERT", "PERDURE_LOG"}
TEST_MACROS = {"STORE_TEST"}  # in tests/contract: one test for each store

ANYWHERE = r"(src|tests)/"
CLOCKS = r"\b(?:system|steady|high_resolution|utc|tai|gps|file)_clock\b"

# (where, where not, what, fix): looked for in code, not in comments or strings.
BANNED = [
    (r"src/core/", None, r"\bnow\s*\(", "let the caller pass the time in as a fact"),
    (r"src/core/", None, r"\w*sleep\w*", "return a decision that carries the time to wait for"),
    (r"src/core/", None, r"\w*random_device\w*", "let the caller pass the drawn number in"),
    (r"src/core/", None, r"\w*thread\w*", "core is pure: move it to a layer above"),
    (r"src/core/", None, r"\w*mutex\w*", "core is pure: move it to a layer above"),
    (r"src/core/", None, r"\bco_await\b", "core decides, server and worker wait"),
    (r"src/core/", None, CLOCKS, "use the types of base/time.h, passed in as facts"),
    (r"src/core/", None, r"\bboost\b", "use the standard library; Boost begins at ports"),
    (r"src/", r"src/(platform|watchdog|app/sim|core|testbed|bench|drill)/", CLOCKS,
     "use the Clock port"),
    (r"src/", r"src/(platform|app/sim|core)/", r"\brandom_device\b", "use the Random port"),
    (r"src/", r"src/(platform|watchdog|app/sim|core|testbed|bench|drill)/",
     r"\b(?:std\s*::\s*j?thread|this_thread)\b",
     "spawn a coroutine through a Gate"),
    (r"src/", r"src/(platform|watchdog|app)/", r"\b(?:secure_)?getenv\b",
     "read it in main and pass it as an option"),
    (r"src/(core|server|worker|store/memory|sim)/", None, r"\bunordered_\w+",
     "use std::map or std::set: iteration order must not depend on a hash"),
    # One word for one thing: these had several meanings, or none that a reader could guess.
    (ANYWHERE, None, r"\b\w*Things?\b|\b(?:things_of|free_things?)\b",
     "a key or a limit is a `permit`"),
    (ANYWHERE, None, r"\b[Ss]ettled?\b|\bsettle_\w+",
     "resolve what is unknown, freeze a policy, run effects"),
    (ANYWHERE, None, r"\b(?:look_at|look_around|look_for)\w*",
     "preload, find, check, poll: what is it looked at for?"),
    (ANYWHERE, None, r"\b(?:tell|hear|heard_from|speak)(?:_\w+)?(?=\()",
     "machines send, log, notify, record, report"),
    (ANYWHERE, None, r"\b\w*Wish\b", "what is asked for is a request"),
    (ANYWHERE, None, r"\b(?:\w*Desk|Stay|Backstage|Misfit|ClaimOrder)\b",
     "BlockingThread, Service, QueueEntry, SubPrograms, ParseError, QueuePosition"),
]


def is_cpp(path):
    return path.startswith(("src/", "tests/")) and path.endswith((".h", ".cpp"))


def is_test(path):
    return path.startswith("tests/") or path.endswith(("_test.cpp", "_test.py"))


def is_ours(path):
    """Files whose size is limited. A Promela model is one piece by nature and is not."""
    return is_cpp(path) or path == "dev" or path.endswith((".py", ".cmake", "CMakeLists.txt"))


def has_marks(path):
    return is_ours(path) or path.startswith((".ci/", "models/"))


def cpp_files(tree):
    return [path for path in tree.files if is_cpp(path)]


# --- layers ----------------------------------------------------------------------------------

def module_of(path):
    """`store/memory/store.h` belongs to `store/memory`, `core/job.h` to `core`."""
    parts = PurePosixPath(path).parts
    if parts[0] == "store" and len(parts) > 2:
        return "/".join(parts[:2])
    return parts[0]


def layer_of(module):
    """The layer of a module; the engine is below the stores that are built on it."""
    shared = {"store/engine": 2.7, "store/sql": 2.9}
    return shared[module] if module in shared else LAYERS[module.split("/")[0]]


def why_not(path, own, used):
    """Why a file of module `own` must not include module `used`, and what to do; or None."""
    own_root, used_root = own.split("/")[0], used.split("/")[0]
    own_layer, used_layer = layer_of(own), layer_of(used)
    if own == used or own.startswith(used + "/") or own_layer == 6:
        return None
    if used_layer > own_layer:
        return (f"{own} (layer {own_layer}) includes {used} (layer {used_layer})",
                "move what is needed down, or let the higher layer pass it in")
    if used_layer == own_layer:
        return (f"{own} includes its sibling {used}",
                "move what both need to a lower layer")
    if own_layer >= 4 and used_root in ADAPTERS and own_root != "sim" and not is_test(path):
        return (f"{own} includes the adapter {used}",
                "use the port; only main, sim and tests name adapters")
    return None


def check_layers(tree):
    for path in cpp_files(tree):
        text = tree.text(path)
        in_src = path.startswith("src/")
        own = module_of(path[len("src/"):]) if in_src else None
        if in_src and own.split("/")[0] not in LAYERS:
            yield Finding(path, 1, "layer", f"`{own}` has no layer",
                          "add it to LAYERS in tools/tidy_cpp.py and to CMakeLists.txt")
            continue
        for offset, included, quoted in includes_of(text):
            line = line_of(text, offset)
            root = included.split("/")[0]
            if ".." in included.split("/"):
                yield Finding(path, line, "layer", f'"{included}" leaves its folder',
                              "write the path from src/ on")
            elif root in LAYERS and (quoted or tree.exists("src/" + included)):
                refused = why_not(path, own, module_of(included)) if in_src else None
                if refused:
                    yield Finding(path, line, "layer", *refused)
            elif quoted and in_src:
                yield Finding(path, line, "layer", f'"{included}" does not start at src/',
                              'write it like "core/job.h", and libraries with <>')


# --- sizes -----------------------------------------------------------------------------------

def check_lines(tree):
    for path in filter(is_ours, tree.files):
        count = 0
        for count, line in tree.lines(path):
            if len(line) > LINE_MAX:
                yield Finding(path, count, "line_size",
                              f"line has {len(line)} characters, {LINE_MAX} are allowed",
                              "break it (./dev format)")
        allowed = TEST_FILE_MAX if is_test(path) else FILE_MAX
        if count > allowed:
            yield Finding(path, allowed + 1, "file_size",
                          f"file has {count} lines, {allowed} are allowed",
                          "split it by topic")


def too_long(path, begin, end, name):
    if end - begin + 1 > FUNCTION_MAX:
        yield Finding(path, begin, "function_size",
                      f"`{name}` has {end - begin + 1} lines, {FUNCTION_MAX} are allowed",
                      "give its parts names of their own", name)


def check_scopes(tree):
    for path in cpp_files(tree):
        text = tree.text(path)
        for scope in scopes_of(text):
            begin, end = line_of(text, scope.begin), line_of(text, scope.end)
            if scope.kind == "function":
                yield from too_long(path, begin, end, scope.name)
            elif scope.pures and scope.virtuals > INTERFACE_MAX:
                yield Finding(path, begin, "interface_size",
                              f"interface `{scope.name}` has {scope.virtuals} methods, "
                              f"{INTERFACE_MAX} are allowed", "split it by who uses it", scope.name)


def check_python(tree):
    for path in tree.files:
        if path.endswith(".py"):
            for node in ast.walk(ast.parse(tree.text(path))):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    yield from too_long(path, node.lineno, node.end_lineno, node.name)


# --- words -----------------------------------------------------------------------------------

def check_banned(tree):
    for path in cpp_files(tree):
        code = code_of(tree.text(path))
        seen = set()
        for where, where_not, pattern, fix in BANNED:
            if not re.match(where, path) or where_not and re.match(where_not, path):
                continue
            for match in re.finditer(pattern, code):
                line, word = line_of(code, match.start()), match.group().strip()
                if (line, fix) not in seen:
                    seen.add((line, fix))
                    yield Finding(path, line, "banned", f"`{word}` is banned here", fix, word)


def check_catch(tree):
    for path in cpp_files(tree):
        if path.startswith("src/") and not DOORS.match(path):
            code = code_of(tree.text(path))
            for match in re.finditer(r"\bcatch\s*\(", code):
                yield Finding(path, line_of(code, match.start()), "catch",
                              "`catch (` outside the four doors",
                              "return a Result; exceptions end at stores, sessions, gates, main")


def check_macros(tree):
    for path in cpp_files(tree):
        allowed = MACROS | (TEST_MACROS if path.startswith("tests/contract/") else set())
        code = code_of(tree.text(path))
        for match in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", code, re.M):
            if match.group(1) not in allowed:
                yield Finding(path, line_of(code, match.start()), "macro",
                              f"macro `{match.group(1)}`",
                              "write a function, a template or a constant", match.group(1))


def check_marks(tree):
    """The words are put together so that this file does not find itself."""
    later, never = "TO" + "DO", "FIX" + "ME"
    for path in filter(has_marks, tree.files):
        for number, line in tree.lines(path):
            if re.search(rf"\b{never}\b", line):
                yield Finding(path, number, "mark", f"`{never}` is banned", "fix it now, or "
                              f"write {later}(soon) with what is missing")
            if re.search(rf"\b{later}\b(?!\((?:release|soon|perf)\))", line):
                yield Finding(path, number, "mark", f"`{later}` without a kind",
                              f"write {later}(release), {later}(soon) or {later}(perf)")


def check_headers(tree):
    for path in cpp_files(tree):
        if not path.endswith(".h"):
            continue
        text = tree.text(path)
        if not text.startswith("//"):
            yield Finding(path, 1, "header", "header does not open with a comment",
                          "say in two to ten lines what this is and what it promises")
        if not code_of(text).lstrip().startswith("#pragma once"):
            yield Finding(path, 1, "header", "`#pragma once` is not the first line of code",
                          "put it right after the opening comment")


RULES = [check_layers, check_lines, check_scopes, check_python, check_banned,
         check_catch, check_macros, check_marks, check_headers, check_awaits]
