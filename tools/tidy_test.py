#!/usr/bin/env python3
"""Shows that each house rule fires on a bad sample and stays silent on a good one."""

import os
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import tidy
import tidy_await
import tidy_cpp
import tidy_docs
import tidy_lex
import tidy_sql

HEADER = "// Sample: says what it is.\n#pragma once\n"
LATER, NEVER = "TO" + "DO", "FIX" + "ME"
HOME = "/ho" + "me/ann/job"


class RuleTest(unittest.TestCase):
    def tree(self, files):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for path, text in files.items():
            target = Path(folder.name) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(textwrap.dedent(text), encoding="utf-8")
        return tidy.Tree(folder.name)

    def found(self, rule, files):
        return [str(finding) for finding in rule(self.tree(files))]

    def assert_silent(self, rule, files):
        self.assertEqual(self.found(rule, files), [])

    def assert_fires(self, rule, files, *parts):
        """Exactly one finding, which has all the parts and names a fix."""
        found = self.found(rule, files)
        self.assertEqual(len(found), 1, found)
        for part in (*parts, "; fix: "):
            self.assertIn(part, found[0])


class Migrations(RuleTest):
    FIRST = "src/store/sqlite/migrations/0001_first.sql"
    NOTES = "src/store/sqlite/migrations/released.txt"
    TEXT = "-- 0001_first: why.\n"

    def test_numbers_have_no_gap_and_files_say_what_they_are(self):
        self.assert_silent(tidy_sql.check_numbers, {self.FIRST: self.TEXT})
        third = "src/store/sqlite/migrations/0003_third.sql"
        self.assert_fires(tidy_sql.check_numbers,
                          {self.FIRST: self.TEXT, third: "-- 0003_third: why.\n"}, third, "not 2")
        self.assert_fires(tidy_sql.check_numbers, {self.FIRST: "CREATE TABLE a (b);\n"}, "name")

    def test_a_released_one_is_never_changed(self):
        noted = f"# heading\n{tidy_sql.checksum(self.TEXT)} 0001_first.sql\n"
        self.assert_silent(tidy_sql.check_released, {self.FIRST: self.TEXT, self.NOTES: noted})
        self.assert_silent(tidy_sql.check_released, {self.FIRST: self.TEXT, self.NOTES: "# none\n"})
        self.assert_fires(tidy_sql.check_released,
                          {self.FIRST: self.TEXT + "-- more\n", self.NOTES: noted}, "was changed")
        self.assert_fires(tidy_sql.check_released, {self.FIRST: self.TEXT}, "is missing")


class Layers(RuleTest):
    def include(self, path, *included):
        return {path: "".join(f'#include "{name}"\n' for name in included)}

    def test_lower_layers_and_the_own_module_are_allowed(self):
        for path, included in [("src/core/job.cpp", ["core/job.h", "base/id.h"]),
                               ("src/server/reaper.cpp", ["ports/clock.h", "core/claim.h"]),
                               ("src/store/sqlite/store.cpp", ["store/migrate.h", "wire/a.h"]),
                               ("src/store/sqlite/store.cpp", ["store/engine/tables.h"]),
                               ("src/sim/world.cpp", ["store/memory/store.h", "platform/a.h"]),
                               ("src/server/reaper_test.cpp", ["store/memory/store.h"]),
                               ("src/app/a.cpp", ["api/router.h", "store/sqlite/store.h"]),
                               ("tests/contract/store_test.cpp", ["store/memory/store.h"])]:
            self.assert_silent(tidy_cpp.check_layers, self.include(path, *included))

    def test_a_higher_layer_is_refused(self):
        self.assert_fires(tidy_cpp.check_layers,
                          self.include("src/core/job.cpp", "base/id.h", "ports/clock.h"),
                          "src/core/job.cpp:2: core (layer 1) includes ports (layer 2)")

    def test_a_sibling_is_refused(self):
        self.assert_fires(tidy_cpp.check_layers,
                          self.include("src/processes/clock.h", "client/api.h"), "sibling client")
        self.assert_fires(tidy_cpp.check_layers,
                          self.include("src/server/a.cpp", "worker/b.h"), "sibling worker")
        self.assert_fires(tidy_cpp.check_layers,
                          self.include("src/store/sqlite/a.cpp", "store/memory/b.h"), "sibling")
        self.assert_fires(tidy_cpp.check_layers,
                          self.include("src/store/engine/a.cpp", "store/sqlite/b.h"), "includes")

    def test_an_adapter_is_refused_above_it(self):
        self.assert_fires(tidy_cpp.check_layers,
                          self.include("src/server/a.cpp", "store/memory/b.h"), "adapter")
        self.assert_fires(tidy_cpp.check_layers,
                          self.include("src/cli/a.cpp", "client/b.h"), "adapter")

    def test_paths_start_at_src(self):
        self.assert_fires(tidy_cpp.check_layers, self.include("src/core/a.cpp", "b.h"), "start")
        self.assert_fires(tidy_cpp.check_layers,
                          self.include("src/core/a.cpp", "../ports/b.h"), "leaves")

    def test_angle_brackets_do_not_hide_a_module(self):
        self.assert_fires(tidy_cpp.check_layers, {"src/core/a.cpp": "#include <ports/b.h>\n",
                                                  "src/ports/b.h": HEADER}, "layer 2")

    def test_a_new_folder_needs_a_layer(self):
        self.assert_fires(tidy_cpp.check_layers, self.include("src/extra/a.cpp"), "no layer")

    def test_includes_in_comments_do_not_count(self):
        self.assert_silent(tidy_cpp.check_layers,
                           {"src/core/a.cpp": '/*\n#include "ports/b.h"\n*/\n'})


class Sizes(RuleTest):
    def function(self, lines, opening="void f() {"):
        return f"{opening}\n" + "    g();\n" * (lines - 2) + "}\n"

    def test_functions(self):
        self.assert_silent(tidy_cpp.check_scopes, {"src/core/a.cpp": self.function(60)})
        self.assert_fires(tidy_cpp.check_scopes, {"src/core/a.cpp": self.function(61)},
                          "a.cpp:1: `f` has 61 lines, 60 are allowed")

    def test_functions_of_all_shapes_are_seen(self):
        for opening in ["template <class T, class U = X<T>>\nauto f(T a = {}) -> Foo<T> {",
                        "Foo::Foo(int a) : a_{a}, b_{.c = 1, .d = {2}}, e_(3) {",
                        "Foo::Foo(int a) noexcept\n    : a_(a),\n      b_{a} {",
                        "Foo& Foo::operator=(const Foo& other) {",
                        "bool operator==(const Foo& a, const Foo& b) {",
                        "TEST(Subject, states_the_promise) {",
                        "[[nodiscard]] static struct Foo make() const noexcept {",
                        "const auto f = [](int a) -> int {",
                        "Task<Result<std::vector<Orphan>>> Store::orphans(Now now) && {",
                        "template <class T>\n    requires(sizeof(T) == 4)\nvoid f(T t) {"]:
            files = {"src/core/a.cpp": self.function(70, opening)}
            self.assertEqual(len(self.found(tidy_cpp.check_scopes, files)), 1, opening)

    def test_methods_inside_classes_and_namespaces_are_seen(self):
        opening = "namespace a::b {\nclass C : public D<int> {\npublic:\n"
        text = opening + self.function(61) + "};\n}\n"
        self.assert_fires(tidy_cpp.check_scopes, {"src/core/a.h": text}, "a.h:4: `f`")

    def test_data_classes_and_namespaces_may_be_long(self):
        for opening, closing in [("constexpr std::array names = {", "};"), ("enum class E {", "};"),
                                 ("struct S final : T {", "};"), ("namespace a {", "}"),
                                 ("const std::map<int, int> m{", "};")]:
            text = opening + "\n" * 90 + closing + "\n"
            self.assert_silent(tidy_cpp.check_scopes, {"src/core/a.cpp": text})

    def test_braces_in_literals_and_comments_do_not_count(self):
        text = ("void f() { g(\"}\", '}', R\"x({{{\")\")x\", 1'000'000); }  // }\n/* { */\n"
                + self.function(61, "void h() {"))
        self.assert_fires(tidy_cpp.check_scopes, {"src/core/a.cpp": text}, "a.cpp:3: `h`")

    def test_python_functions(self):
        self.assert_fires(tidy_cpp.check_python,
                          {"tools/a.py": "def f():\n" + "    g()\n" * 60}, "`f` has 61")

    def test_interfaces(self):
        def interface(count):
            methods = "".join(f"    virtual int m{i}(int a) const = 0;\n" for i in range(count))
            return "class I {\npublic:\n    virtual ~I() = default;\n" + methods + "};\n"
        self.assert_silent(tidy_cpp.check_scopes, {"src/ports/a.h": interface(12)})
        self.assert_fires(tidy_cpp.check_scopes, {"src/ports/a.h": interface(13)},
                          "interface `I` has 13 methods")

    def test_files_and_lines(self):
        rule = tidy_cpp.check_lines
        self.assert_silent(rule, {"src/core/a.cpp": "\n" * 400, "src/core/a_test.cpp": "\n" * 800})
        self.assert_fires(rule, {"src/core/a.cpp": "\n" * 401}, "a.cpp:401: file has 401 lines")
        self.assert_fires(rule, {"tests/stories/a_test.cpp": "\n" * 801}, "800 are allowed")
        self.assert_silent(rule, {"src/core/a.cpp": "ä" * 100 + "\n"})
        self.assert_fires(rule, {"src/core/a.cpp": "\n" + "x" * 101}, "a.cpp:2: line has 101")

    def test_banned_in_core(self):
        for code in ["auto t = clock.now();", "usleep(1);", "std::random_device d;",
                     "#include <thread>", "std::mutex m;", "co_await x;", "boost::optional<int> o;",
                     "std::chrono::system_clock::time_point p;", "std::unordered_map<A, B> m;"]:
            self.assert_fires(tidy_cpp.check_banned, {"src/core/a.cpp": code}, "a.cpp:1: `")

    def test_banned_behind_the_ports(self):
        for code in ["std::chrono::steady_clock::now();", "std::random_device d;", "getenv(x);",
                     "std::thread t;", "std::this_thread::yield();"]:
            self.assert_fires(tidy_cpp.check_banned, {"src/server/a.cpp": code}, "a.cpp:1: `")
            self.assert_silent(tidy_cpp.check_banned, {"src/platform/a.cpp": code,
                                                       "src/app/sim/a.cpp": code})

    def test_unordered_containers(self):
        for folder in ["server", "worker", "store/memory", "sim/checkers"]:
            self.assert_fires(tidy_cpp.check_banned,
                              {f"src/{folder}/a.h": "std::unordered_set<int> s;"}, "std::set")
        self.assert_silent(tidy_cpp.check_banned, {"src/wire/a.h": "std::unordered_set<int> s;"})

    def test_comments_strings_and_facts_may_use_the_words(self):
        self.assert_silent(tidy_cpp.check_banned, {"src/core/a.cpp": """\
            // No thread, no sleep.
            const bool late = facts.now < facts.until;  // boost
            const char* text = "mutex";
            """})

    def test_catch_only_at_the_doors(self):
        code = "void f() {\n    try { g(); } catch (const E& e) {}\n}\n"
        self.assert_fires(tidy_cpp.check_catch, {"src/server/a.cpp": code}, "a.cpp:2:")
        self.assert_silent(tidy_cpp.check_catch, {"src/store/sqlite/a.cpp": code,
                                                  "src/app/a.cpp": code,
                                                  "src/ports/gate.cpp": code})

    def test_marks(self):
        rule = tidy_cpp.check_marks
        self.assert_silent(rule, {"src/core/a.cpp": f"// {LATER}(soon): name it.\n"})
        self.assert_fires(rule, {"src/core/a.cpp": f"// {LATER}: name it.\n"}, "without a kind")
        self.assert_fires(rule, {"src/core/a.cpp": f"// {LATER}(later): x.\n"}, "without a kind")
        self.assert_fires(rule, {"cmake/a.cmake": f"# {NEVER}\n"}, "is banned")

    def test_macros(self):
        rule = tidy_cpp.check_macros
        self.assert_silent(rule, {"src/base/a.h": "#define PERDURE_ASSERT(x) f(x)\n",
                                  "tests/contract/a.h": "#define STORE_TEST(x) f(x)\n"})
        self.assert_fires(rule, {"src/base/a.h": "#define MAX 3\n"}, "macro `MAX`")

    def test_headers(self):
        rule = tidy_cpp.check_headers
        self.assert_silent(rule, {"src/base/a.h": HEADER, "src/base/a.cpp": "int a;\n"})
        self.assert_fires(rule, {"src/base/a.h": "#pragma once\n"}, "does not open")
        self.assert_fires(rule, {"src/base/a.h": "// A.\n#include <map>\n#pragma once\n"}, "once")


class Awaits(RuleTest):
    """What g++ 12 destroys twice: see tidy_await.py."""

    def body(self, code):
        return {"src/server/a.cpp": "Task<void> A::f() {\n    " + code + "\n}\n"}

    def test_dangerous_temporaries(self):
        for code, name in [("co_await g(Renew{.session = s});", "Renew"),
                           ("auto r = co_await c.commit(lane, ns::Report{s, {}});", "ns::Report"),
                           ("co_await g({.tenant = t, .name = n});", "braces"),
                           ("co_await g(std::vector<Change>{a, b});", "std::vector<Change>"),
                           ("h(Spec{a}, co_await g());", "Spec"),
                           ("if (co_await g(Spec{a})) return;", "Spec"),
                           ("co_await ask([spec](Jobs& j) { return j.submit(spec); });", "[spec]"),
                           ("co_await g([=] { return 1; });", "[=]"),
                           ("co_await g([s = std::move(s)]() mutable { return s; });", "[s = std"),
                           ("co_await suspend([=](Suspended me) { keep(me); });", "[=]"),
                           ("co_await suspend([p = std::move(p)](Suspended me) { p->f(me); });",
                            "[p = std"),
                           ("co_return co_await g(Spec{\n        a});", "Spec")]:
            self.assert_fires(tidy_await.check_awaits, self.body(code), f"`{name}",
                              "destroys such temporaries twice")

    def test_harmless_ones(self):
        for code in ["Renew renew{.session = s};\n    co_await g(std::move(renew));",
                     "auto f = [spec](Jobs& j) { return j.submit(spec); };\n    co_await ask(f);",
                     "co_await g(Spec{}, {}, Spec());",
                     "co_await suspend([this, mine = p.get()](Suspended me) { mine->take(me); });",
                     "co_await g([&](const X& x) { return Y{x.a}; }, [this, &b] { return b[1]; });",
                     "while (co_await g(a[i], b)) {\n    h(Spec{a});\n    }",
                     "for (auto& x : v) {\n    co_await g(x);\n    }\n    h(Spec{a});",
                     "// co_await g(Spec{a});"]:
            self.assert_silent(tidy_await.check_awaits, self.body(code))


class Spelling(RuleTest):
    files = {
        tidy_docs.JOB: "enum class JobState { ready,  // claimable\n running };\n",
        tidy_docs.CAUSE: 'enum class Cause : int {\n    exit,\n    crash_signal,\n};\n'
                            'constexpr std::array cause_names = {"exit", "crash(signal)"};\n',
        "docs/glossary.md": "# Words\n\nStates: `ready`,\n`running`.\n\n"
                            "Causes: `exit` `crash(signal)`\n\n`other`\n",
    }

    def test_equal_lists_are_fine(self):
        self.assert_silent(tidy_docs.check_spelling, self.files)

    def with_glossary(self, text):
        return self.files | {"docs/glossary.md": text}

    def test_a_forgotten_word(self):
        self.assert_fires(tidy_docs.check_spelling, self.with_glossary(
            "States: `ready`\n\nCauses: `exit` `crash(signal)`\n"), "glossary.md:1: `running`")

    def test_a_wrong_word(self):
        self.assert_fires(tidy_docs.check_spelling, self.with_glossary(
            "States: `ready` `running` `parked`\n\nCauses: `exit` `crash(signal)`\n"), "`parked`")

    def test_a_missing_list(self):
        self.assert_fires(tidy_docs.check_spelling, self.with_glossary(
            "States: `ready` `running`\n"), "no line starts with `Causes:`")

    def test_a_missing_page_or_enum(self):
        files = dict(self.files)
        del files["docs/glossary.md"]
        self.assert_fires(tidy_docs.check_spelling, files, "glossary.md:1: does not exist")
        self.assert_fires(tidy_docs.check_spelling, self.files | {tidy_docs.JOB: ""}, "JobState")
        self.assert_fires(tidy_docs.check_spelling, self.files | {tidy_docs.CAUSE: ""}, "Cause")

    def test_names_that_differ_from_their_enum(self):
        files = self.files | {tidy_docs.CAUSE: 'enum class Cause { crash_signal, exit };\n'
                              'constexpr std::array cause_names = {"exit", "crash(signal)"};\n'}
        self.assert_fires(tidy_docs.check_spelling, files, "cause.h:2: `cause_names` differs")


class Documents(RuleTest):
    page = "| [P1] | durable |\n\n**T1 Four clocks.** See O9.\n"

    def test_labels_that_are_used(self):
        self.assert_silent(tidy_docs.check_labels, {
            "docs/rules.md": self.page, "src/core/a.h": "// Durable [P1].\n",
            "models/a.pml": "/* T1 */\n"})

    def test_labels_that_are_not(self):
        self.assert_fires(tidy_docs.check_labels, {
            "docs/rules.md": self.page, "src/core/a.h": "// [P1]\n"}, "rules.md:3: T1 is used")
        self.assert_fires(tidy_docs.check_labels, {
            "docs/rules.md": self.page, "src/core/a.h": "// T1, P1\n"}, "rules.md:1: [P1] is used")

    def test_promises_that_do_not_exist(self):
        self.assert_fires(tidy_docs.check_labels, {
            "docs/rules.md": self.page, "src/core/a.h": "// T1 [P1]\n// [P99]\n"}, "a.h:2: [P99]")

    def test_a_missing_or_empty_page_of_rules(self):
        self.assert_fires(tidy_docs.check_labels, {}, "rules.md:1: does not exist")
        self.assert_fires(tidy_docs.check_labels, {"docs/rules.md": "# Rules\n"}, "no label")

    def test_links(self):
        rule = tidy_docs.check_links
        self.assert_silent(rule, {"docs/a.md": """\
            [b](b.md#part) [up](../README.md) [web](https://example.org/x) [here](#part)
            `[x](no.md)`
            ```
            [x](no.md)
            ```
            """, "docs/b.md": "", "README.md": "[docs](docs/)\n"})
        self.assert_fires(rule, {"docs/a.md": "\n[b](b.md)\n"}, "a.md:2: `b.md`")

    def test_error_pages(self):
        rule = tidy_docs.check_errors
        code = "enum class Errc {\n    invalid,  // reject\n    fenced,\n};\n"
        pages = {"docs/errors/invalid.md": "", "docs/errors/README.md": ""}
        self.assert_silent(rule, pages | {"src/base/error.h": code, "docs/errors/fenced.md": ""})
        self.assert_fires(rule, pages | {"src/base/error.h": code}, "error.h:3: `fenced`")
        self.assert_fires(rule, pages | {"src/base/error.h": code, "docs/errors/fenced.md": "",
                                         "docs/errors/old.md": ""}, "old.md:1:")
        self.assert_fires(rule, pages, "no `enum class Errc`")

    def test_machine_paths(self):
        rule = tidy_docs.check_machine_paths
        self.assert_silent(rule, {"a.md": "src/home/x ./workers /workers /usr/bin/env docs/root\n"})
        self.assert_fires(rule, {"a.md": f"\nsee {HOME}\n"}, "a.md:2:")
        self.assert_fires(rule, {"a.md": "see ../sha" + "red/X.md\n"}, "a.md:1:")


class Exceptions(RuleTest):
    finding = tidy.Finding("src/a.cpp", 3, "function_size", "`f` is long", "split it", "f")

    def kept(self, allow):
        tree = self.tree({"tools/tidy_allow.txt": allow})
        return [str(f) for f in tidy.apply_allowed(tree, [self.finding])]

    def test_an_exception_silences_its_finding(self):
        self.assertEqual(self.kept("# why\n\nfunction_size src/a.cpp: a table\n"), [])
        self.assertEqual(self.kept("function_size src/a.cpp f: a table\n"), [])

    def test_an_exception_for_something_else_does_not(self):
        kept = self.kept("function_size src/a.cpp g: a table\n")
        self.assertEqual(len(kept), 2)
        self.assertIn("tidy_allow.txt:1: nothing needs", "".join(kept))

    def test_an_exception_needs_a_reason(self):
        kept = self.kept("function_size src/a.cpp\n")
        self.assertEqual(len(kept), 2)
        self.assertIn("cannot be understood", "".join(kept))


class Lexer(unittest.TestCase):
    def test_lines_and_columns_stay(self):
        text = 'int a = 1\'000;  // x\nauto s = R"(\n)"; /* y\n*/ char c = \'"\';\n'
        code = tidy_lex.code_of(text)
        self.assertEqual([len(line) for line in code.split("\n")],
                         [len(line) for line in text.split("\n")])
        self.assertIn("1'000", code)
        self.assertNotIn("x", code)
        self.assertNotIn("y", code)


if __name__ == "__main__":
    unittest.main()
