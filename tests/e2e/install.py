#!/usr/bin/env python3
"""What `cmake --install` gives: everything is there, the manual has no warnings, and the installed
program finds its shim. Needs a build; installs into a temporary folder.

    install.py
"""
import os
import shutil
import subprocess
import sys
import tempfile

from instance import ROOT

EXPECTED = """bin/perdure libexec/perdure/perdure-shim share/man/man1/perdure.1
share/man/man1/perdure-job-show.1 share/bash-completion/completions/perdure
share/zsh/vendor-completions/_perdure share/fish/vendor_completions.d/perdure.fish
share/doc/perdure/LICENSE share/doc/perdure/README.md
share/doc/perdure/examples/perdure.toml share/doc/perdure/examples/perdure.rules.yml
share/doc/perdure/examples/perdure.json""".split()


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def install(prefix):
    done = run("cmake", "--install", os.path.join(ROOT, "build"), "--prefix", prefix, "--strip")
    assert done.returncode == 0, done.stdout + done.stderr


def check_files(prefix):
    missing = [path for path in EXPECTED if not os.path.exists(os.path.join(prefix, path))]
    assert not missing, f"not installed: {missing}"
    for program in EXPECTED[:2]:
        path = os.path.join(prefix, program)
        with open(path, "rb") as file:
            content = file.read()
        assert b".debug_info" not in content, f"{program} is not stripped"
        assert ROOT.encode() not in content, f"{program} names the folder it was built in"


def check_manual(prefix):
    """By whichever formatter there is; `./dev setup` installs none."""
    folder = os.path.join(prefix, "share/man/man1")
    checked = 0
    for page in sorted(os.listdir(folder)):
        path = os.path.join(folder, page)
        if shutil.which("mandoc"):
            found = run("mandoc", "-Tlint", "-Wwarning", path)
            assert found.returncode == 0, found.stdout + found.stderr
            checked += 1
        if shutil.which("groff"):
            found = run("groff", "-man", "-Tutf8", "-wall", "-z", path)
            assert found.returncode == 0 and not found.stderr, found.stderr
            checked += 1
    print(f"manual: {len(os.listdir(folder))} pages, {checked} checks by mandoc and groff")


def check_completion(prefix):
    script = os.path.join(prefix, "share/bash-completion/completions/perdure")
    lines = f"source {script}; COMP_WORDS=(perdure job sh); COMP_CWORD=2; _perdure; echo $COMPREPLY"
    found = run("bash", "-c", lines)
    assert found.stdout.strip() == "show", found.stdout + found.stderr


def check_example(prefix):
    path = os.path.join(prefix, "share/doc/perdure/examples/perdure.toml")
    found = run(os.path.join(prefix, "bin/perdure"), "config", "--config", path, "--json")
    assert found.returncode == 0, found.stderr


def check_a_job(prefix):
    """The instance of the other tests, but with the installed program."""
    os.environ["E2E_PERDURE"] = os.path.join(prefix, "bin/perdure")
    sys.modules.pop("instance")
    from instance import Instance, run_cli  # pylint: disable=import-outside-toplevel
    instance = Instance(slots=1)
    try:
        instance.start()
        done = run_cli(instance, "run", "--", "echo", "hello")
        assert (done.returncode, done.stdout) == (0, "hello\n"), done.stderr
        assert instance.stop() == 0
    finally:
        instance.remove()


def main():
    folder = tempfile.mkdtemp(prefix="perdure-install-")
    try:
        prefix = os.path.join(folder, "usr")
        install(prefix)
        for check in (check_files, check_manual, check_completion, check_example, check_a_job):
            check(prefix)
            print(f"ok: {check.__name__}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
