#!/usr/bin/env python3
"""Shows that mutate_cpp.py finds what can be mutated, and that one program holds all of it."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import mutate_cpp
import mutate_places
import mutate_stages
import mutate_tree

HEAD = """
#include <cstdio>
#include <cstdlib>
#include <map>
namespace perdure {
inline bool mutant(int number) { return number == std::atoi(std::getenv("PERDURE_MUTANT")); }
}
"""


def found(code):
    source = mutate_places.Source(code)
    mutants = list(mutate_cpp.mutants_of("a.cpp", source))
    for number, mutant in enumerate(mutants, 1):
        mutant.number = number
    return source, mutants


def texts(code):
    return [mutant.text for mutant in found(code)[1]]


class Places(unittest.TestCase):
    def in_function(self, body):
        return texts("int f(int a, int b, int c) {\n" + body + "\n}\n")

    def test_operands_end_where_their_operator_binds_less(self):
        self.assertEqual(
            self.in_function("return a + 1 == b && c < 2 || f(a, b) != c ? 1 : 0;"),
            ["a + 1 == b  [the opposite]",
             "a + 1 == b && c < 2  [&& -> ||]",
             "a + 1 == b && c < 2 || f ( a , b ) != c  [|| -> &&]",
             "c < 2  [the opposite]", "c < 2  [< -> <=]",
             "f ( a , b ) != c  [the opposite]"])

    def test_templates_references_and_texts_are_no_operators(self):
        self.assertEqual(self.in_function(
            'const std::map<int, int>& m = g<a>(std::map<int, int>{}); auto&& r = "a == b"; '
            "// a < b\n"), [])

    def test_a_not_ends_with_its_operand(self):
        self.assertEqual(self.in_function("return !a.b(c)->d[1] && b;")[0],
                         "! a . b ( c ) -> d [ 1 ]  [without !]")

    def test_guards_of_every_form(self):
        self.assertEqual(
            self.in_function("if (a) return 1;\nif (auto x = a; x) return 2;\n"
                             "if (auto* y = &b) return 3;\nwhile (c) break;\n"
                             "if constexpr (sizeof(a) == 4) return 4;"),
            ["a  [never holds]", "auto x = a ; x  [never holds]",
             "auto * y = & b  [never holds]", "c  [never holds]"])

    def test_statements_are_calls_and_assignments(self):
        self.assertEqual(
            self.in_function("int d = a;\nstd::map<int, int> e;\nf(a, b, c);\nd += f(d, 1, 2);\n"
                             "++d;\nfor (;;) g(d);\nPERDURE_ASSERT(d == 1);\nh = {d++, f(a)};"),
            ["f ( a , b , c ) ;  [left out]", "d += f ( d , 1 , 2 ) ;  [left out]",
             "++ d ;  [left out]", "g ( d ) ;  [left out]",
             "h = { d ++ , f ( a ) } ;  [left out]"])

    def test_one_that_is_all_of_an_if_is_its_guard(self):
        self.assertEqual(self.in_function("if (a) f(a, b, c);"), ["a  [never holds]"])
        self.assertEqual(len(self.in_function("if (a) f(a, b, c);\nelse f(c, b, a);")), 3)

    def test_declarations_are_no_statements(self):
        self.assertEqual(texts("class A {\n    A(int b);\n    int c(int d);\n};\nint e(int f);\n"),
                         [])

    def test_deliberate_bugs_are_not_mutated(self):
        self.assertEqual(self.in_function("if (zoo(Bug::x)) f(a, b, c);"), [])
        self.assertEqual(self.in_function("if (!zoo(Bug::x)) return 1;\nreturn a == b;"), [])
        self.assertEqual(self.in_function("return a == b || zoo(Bug::x);"),
                         ["a == b  [the opposite]"])

    def test_equal_code_has_names_of_its_own(self):
        mutants = found("void f(int a) {\n    g(a);\n    g(a);\n}\n")[1]
        self.assertEqual(len({m.name for m in mutants}), 2)
        moved = found("\n\nvoid f(int a) {\n    g(a);\n    g(a);\n}\n")[1]
        self.assertEqual([m.name for m in mutants], [m.name for m in moved])


class Programs(unittest.TestCase):
    """Compiled once, run once for each mutant."""

    CODE = """
int told = 0;
void tell(int what) { told = 10 * told + what; }
void pass_on(int what) { return tell(what); }
int judge(int a, int b) {
    told = 0;
    if (const int* found = &a; *found == 3) return 70;
    if (const auto* known = a > 1 ? &b : nullptr) tell(*known);
    if (a < b && !(b == 3))
        tell(1);
    else
        pass_on(2);
    return told;
}
"""
    MAIN = """
int main() {
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b) std::printf("%d ", judge(a, b));
}
"""

    def test_each_mutant_changes_what_it_says_and_none_changes_nothing(self):
        source, mutants = found(self.CODE)
        rendering = mutate_cpp.Rendering(source, mutants)
        self.assertEqual(rendering.misplaced, [])
        outputs = self.outputs(rendering.text(), len(mutants))
        original = self.outputs(self.CODE, 0)[0]
        self.assertEqual(outputs[0], original)
        for mutant, output in zip(mutants, outputs[1:]):
            with self.subTest(mutant.text):
                self.assertNotEqual(output, original)

    def test_a_mutant_is_what_one_would_have_written(self):
        source, mutants = found(self.CODE)
        text = mutate_cpp.Rendering(source, mutants).text()
        outputs = self.outputs(text, len(mutants))
        for change, by_hand in [("a < b  [< -> <=]", ("a < b &&", "a <= b &&")),
                                ("[&& -> ||]", ("a < b &&", "a < b ||")),
                                ("[without !]", ("&& !(", "&& (")),
                                ("tell ( 1 ) ;", ("tell(1);", ";")),
                                ("return tell ( what )", ("return tell(what);", "")),
                                ("const auto * known", ("known = a > 1", "known = a > 9"))]:
            number = next(m.number for m in mutants if change in m.text)
            with self.subTest(change):
                self.assertEqual(outputs[number], self.outputs(self.CODE.replace(*by_hand), 0)[0])

    def test_what_does_not_compile_is_found_by_its_mark(self):
        source, mutants = found("int f(int a) {\n    g(a);\n    return a == wrong;\n}\n")
        text = mutate_cpp.Rendering(source, mutants).text()
        line = next(i for i, l in enumerate(text.splitlines(), 1) if "wrong" in l)
        column = text.splitlines()[line - 1].index("wrong") + 1
        self.assertEqual(mutate_cpp.marks_at(text, line, column), [mutants[1].number])
        log = f"x/src/store/engine/a.cpp:{line}:{column}: error: no such thing"
        self.assertEqual(mutate_tree.not_compiling(log.replace(": error", ":  error"),
                                              {"src/store/engine/a.cpp": text}),
                         {mutants[1].number})

    def outputs(self, code, last):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.cpp"
            path.write_text(HEAD + code + self.MAIN)
            compiler = shutil.which("c++") or shutil.which("g++")
            subprocess.run([compiler, "-std=c++20", "-w", "-o", f"{folder}/a", str(path)],
                           check=True)
            return [subprocess.run([f"{folder}/a"], env={"PERDURE_MUTANT": str(number)},
                                   capture_output=True, text=True, check=True).stdout
                    for number in range(last + 1)]


class Order(unittest.TestCase):
    REACH = {"contract": {"A.quick": (0.1, {1}), "A.slow": (9.0, {1, 2}), "A.other": (0.1, {2})},
             "engine": {"*": (1.0, {1})}, "simulator": {"*": (5.0, {1, 3})},
             "sqlite": {"B.on_disk": (5.0, {3, 5})}}

    def stages(self, number, names, test_max=100):
        options = argparse.Namespace(seeds=1, stages=names, test_max=test_max)
        return [(name, command[-1].removeprefix("--gtest_filter="))
                for name, command, _ in mutate_stages.stages(number, self.REACH, options)]

    def test_only_what_reaches_a_mutant_is_run_and_what_is_cheap_goes_first(self):
        usual = "contract,engine,simulator"
        self.assertEqual(self.stages(1, usual), [("contract", "A.quick"), ("engine", "*"),
                                                 ("contract", "A.slow"), ("simulator", "1")])
        self.assertEqual(self.stages(1, "contract", 1), [("contract", "A.quick")])
        self.assertEqual(self.stages(3, usual + ",sqlite"), [("simulator", "1"),
                                                             ("sqlite", "B.on_disk")])
        options = argparse.Namespace(seeds=1, stages=usual, test_max=100)
        self.assertEqual(mutate_stages.fate_of(5, self.REACH, options), ("unreached", ""))

    def test_no_test_is_left_out(self):
        text = "A/B.\n  c/memory  # GetParam() = memory\n  d/memory\nE.\n  f\n"
        for said in ("", "Running main() from gtest_main.cc\n"):
            self.assertEqual(mutate_stages.listed_tests(said + text),
                             ["A/B.c/memory", "A/B.d/memory", "E.f"])

    def test_on_sqlite_a_test_has_another_name(self):
        tests = ["A/B.c/memory_restarted", "A/B.c/memory", "Memory/D.e/f", "A/R.h/memory_17"]
        self.assertEqual(mutate_stages.on_sqlite(tests),
                         ["A/B.c/sqlite_inline", "A/R.h/sqlite_inline_17"])


if __name__ == "__main__":
    unittest.main()
