#!/usr/bin/env python3
"""The Debian package in a root of its own: installed, started as its units say, upgraded while a
job runs, removed, purged.

    package.py [--root DIR]

The root is an overlay over this machine's, with its own processes, network, cgroups and package
database; nothing outside changes. With --root it is over DIR: a fresh Debian 12 with nothing but
what the package names proves that it names all of it:

    debootstrap --variant=minbase --include=adduser,python3,libfmt9,libpq5,libsqlite3-0,libssl3 \\
        bookworm DIR

Needs root. There is no systemd in it: unit_runner.py starts the units instead, and says what it
does not do.
"""
import argparse
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

from instance import ROOT, is_alive

HERE = os.path.dirname(os.path.abspath(__file__))
UNITS = ("perdure-server.service", "perdure-worker.service")
WAIT_FOR_GO = "echo begun; until [ -e /tmp/go ]; do sleep 0.05; done; echo ended"


def run(*words, check=True, **options):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


def expect(condition, *shown):
    if not condition:
        raise AssertionError(" ".join(str(each) for each in shown))


def until(what, condition, patience=60):
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not in {patience} s: {what}\n{logs()}")
        time.sleep(0.05)


def logs():
    text = ""
    for unit in UNITS:
        path = f"/run/unit-runner/{unit}.log"
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                text += f"--- {unit}\n" + file.read()[-3000:]
    return text


# --- outside: two versions of the package, and the root ---------------------------------------


def build_packages(folder):
    """The package as it is handed out, and the same with a higher version."""
    first = run(ROOT + "/packaging/build-deb").stdout.strip()
    shutil.copy(first, folder + "/first.deb")
    run("dpkg-deb", "-R", first, folder + "/tree")
    control = folder + "/tree/DEBIAN/control"
    with open(control, encoding="utf-8") as file:
        text = file.read()
    with open(control, "w", encoding="utf-8") as file:
        file.write("".join(line.rstrip("\n") + ".next\n" if line.startswith("Version:") else line
                           for line in text.splitlines(keepends=True)))
    run("dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "-b", folder + "/tree",
        folder + "/second.deb")
    shutil.rmtree(folder + "/tree")


def own_group():
    """Our group in the unified hierarchy of cgroups; None without one."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        mounts = [line.split() for line in file if " - cgroup2 " in line]
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        own = [line.strip()[3:] for line in file if line.startswith("0::")]
    return mounts[0][4] + own[0] if mounts and own else None


def run_in_root(folder, base):
    group = own_group()
    if group:
        group = f"{group}/package-test-{os.getpid()}"
        os.mkdir(group)

    def enter():
        if group:
            with open(group + "/cgroup.procs", "w", encoding="utf-8") as file:
                file.write("0")

    words = ["unshare", "--mount", "--pid", "--net", "--cgroup", "--kill-child", "--fork",
             sys.executable, "-B", os.path.abspath(__file__), "--inside", folder, "--root", base]
    try:
        return subprocess.run(words, preexec_fn=enter, check=False).returncode
    finally:
        for path, _, _ in os.walk(group or "", topdown=False):
            until("the cgroups are empty", lambda p=path: try_rmdir(p), 10)


def try_rmdir(path):
    try:
        os.rmdir(path)
        return True
    except FileNotFoundError:
        return True
    except OSError:
        return False


# --- inside ----------------------------------------------------------------------------------


def mount(kind, source, target, options=""):
    os.makedirs(target, exist_ok=True)
    run("mount", "-t", kind, *(["-o", options] if options else []), source, target)


def raise_loopback():
    with socket.socket() as any_socket:
        request = struct.pack("16sh14x", b"lo", 1)  # IFF_UP
        fcntl.ioctl(any_socket, 0x8914, request)    # SIOCSIFFLAGS


def enter_root(folder, base):
    run("mount", "--make-rprivate", "/")
    mount("tmpfs", "tmpfs", folder + "/layers")
    for name in ("upper", "work"):
        os.mkdir(f"{folder}/layers/{name}")
    root = folder + "/tree"
    mount("overlay", "overlay", root,
          f"lowerdir={base},upperdir={folder}/layers/upper,workdir={folder}/layers/work")
    mount("proc", "proc", root + "/proc")
    mount("sysfs", "sysfs", root + "/sys")
    run("mount", "--bind", "/dev", root + "/dev")
    if subprocess.run(["mount", "-t", "cgroup2", "cgroup2", root + "/sys/fs/cgroup"],
                      check=False).returncode != 0:
        print("no unified hierarchy of cgroups here")
    for name in ("tmp", "run"):
        mount("tmpfs", "tmpfs", f"{root}/{name}")
    os.chmod(root + "/tmp", 0o1777)
    os.makedirs(root + "/run/systemd/system")
    os.makedirs(root + "/packages")
    for name in ("first.deb", "second.deb"):
        shutil.copy(f"{folder}/{name}", root + "/packages")
    os.makedirs(root + "/usr/local/bin", exist_ok=True)
    shutil.copy(HERE + "/unit_runner.py", root + "/usr/local/bin/systemctl")
    raise_loopback()
    os.chroot(root)
    os.chdir("/")
    os.environ.clear()
    os.environ.update(PATH="/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME="/",
                      DEBIAN_FRONTEND="noninteractive", NO_COLOR="1", LC_ALL="C.UTF-8")


def install(name):
    return run("dpkg", "-i", f"/packages/{name}.deb").stdout


def main_pid(unit):
    with open(f"/run/unit-runner/{unit}.pid", encoding="utf-8") as file:
        return int(file.read())


def is_active(unit):
    return run("systemctl", "is-active", "--quiet", unit, check=False).returncode == 0


def user_of(pid):
    return run("stat", "-c", "%U", f"/proc/{pid}").stdout.strip()


def mode_of(path):
    return run("stat", "-c", "%U:%a", path).stdout.strip()


def job(identity):
    return json.loads(run("perdure", "job", "show", identity, "--json").stdout)


def it_installs():
    said = install("first")
    expect("systemctl enable --now perdure-server perdure-worker" in said, said)
    expect(not any(is_active(unit) for unit in UNITS), "it starts nothing by itself")
    for unit in UNITS:
        if shutil.which("systemd-analyze"):
            found = run("systemd-analyze", "verify", "--man=no", f"/lib/systemd/system/{unit}",
                        check=False)
            expect(found.returncode == 0 and not found.stderr, found.stderr)
    expect(run("perdure", "version").stdout.startswith("perdure "), "the program runs")


def it_runs_a_job_as_its_own_user():
    run("systemctl", "start", *UNITS)
    expect(user_of(main_pid(UNITS[0])) == "perdure", "the server's user")
    expect(user_of(main_pid(UNITS[1])) == "perdure-worker", "the worker's user")
    expect(mode_of("/var/lib/perdure") == "perdure:700", "the server's directory")
    expect(mode_of("/var/lib/perdure/perdure.db") == "perdure:600", "the database")
    expect(mode_of("/var/lib/perdure-worker") == "perdure-worker:700", "the worker's directory")
    said = run("perdure", "run", "--", "sh", "-c", "id -un; cat /proc/self/cgroup").stdout
    expect(said.startswith("perdure-worker\n"), said)
    if os.path.exists("/sys/fs/cgroup/cgroup.procs"):
        expect("/perdure.slice/jobs/" in said, "not in the group beside the worker's:", said)


def an_upgrade_costs_no_running_job():
    identity = run("perdure", "submit", "--effects", "once", "--", "sh", "-c",
                   "echo $$; " + WAIT_FOR_GO).stdout.strip()
    until("the job runs", lambda: "begun" in run("perdure", "logs", identity, check=False).stdout)
    process = int(run("perdure", "logs", identity).stdout.split()[0])
    before = [main_pid(unit) for unit in UNITS]
    install("second")
    after = [main_pid(unit) for unit in UNITS]
    expect(all(is_active(unit) for unit in UNITS), "both run again\n" + logs())
    expect(not set(before) & set(after), "both are new", before, after)
    with open("/run/unit-runner/calls", encoding="utf-8") as file:
        expect("--signal=USR1 perdure-worker.service" in file.read(), "it was detached")
    expect(is_alive(process), "the job's process was ended")
    with open("/tmp/go", "w", encoding="utf-8"):
        pass
    until("the job has ended", lambda: job(identity)["state"] not in ("running", "starting"))
    shown = job(identity)
    expect(shown["state"] == "succeeded" and len(shown["attempts"]) == 1, shown)
    expect(run("perdure", "logs", identity).stdout.endswith("begun\nended\n"), "its output")


def a_removal_stops_it_and_keeps_what_is_not_its_own():
    processes = [main_pid(unit) for unit in UNITS]
    run("dpkg", "-r", "perdure")
    expect(not any(is_alive(pid) for pid in processes), "still running")
    expect(os.path.exists("/etc/perdure/server.toml"), "the configuration stays")
    expect(os.path.exists("/var/lib/perdure/perdure.db"), "the jobs stay")
    expect(not os.path.exists("/usr/bin/perdure"), "the program goes")


def a_purge_keeps_jobs_unless_it_is_told_not_to():
    said = run("dpkg", "-P", "perdure").stdout
    expect("are kept" in said, said)
    expect(not os.path.exists("/etc/perdure"), "the configuration goes")
    expect(os.path.exists("/var/lib/perdure/perdure.db"), "the jobs stay")
    install("second")
    run("systemctl", "start", *UNITS)
    found = json.loads(run("perdure", "jobs", "--json").stdout)["jobs"]
    expect(len(found) == 2, "the jobs from before are known again", found)
    run("systemctl", "stop", *reversed(UNITS))
    run("dpkg", "-P", "perdure", env=dict(os.environ, PERDURE_PURGE_DATA="yes"))
    expect(not os.path.exists("/var/lib/perdure"), "the jobs go")
    expect(not os.path.exists("/var/lib/perdure-worker"), "the worker's state goes")


ROWS = (it_installs, it_runs_a_job_as_its_own_user, an_upgrade_costs_no_running_job,
        a_removal_stops_it_and_keeps_what_is_not_its_own,
        a_purge_keeps_jobs_unless_it_is_told_not_to)


def inside(folder, base):
    enter_root(folder, base)
    for row in ROWS:
        began = time.monotonic()
        row()
        print(f"ok {time.monotonic() - began:5.1f} s  {row.__name__}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--root", default="/", help="over which root; this machine's if left out")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        signal.alarm(300)
        return inside(options.inside, options.root)
    if os.geteuid() != 0:
        print("skipped: a root of its own needs root; nothing was checked")
        return 0
    folder = tempfile.mkdtemp(prefix="perdure-package-")
    try:
        build_packages(folder)
        return run_in_root(folder, options.root)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
