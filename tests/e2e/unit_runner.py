#!/usr/bin/env python3
"""A stand-in for systemctl where no systemd runs: starts the units of the package as systemd would,
as far as the package depends on it. Installed as `systemctl` into the root of a test.

It reads the unit's own file: User, Environment, StateDirectory with its mode, UMask,
ExecStartPre=+, ExecStart, Slice, Delegate, WatchdogSec. A start returns when READY=1 has come. The
main process lives in SLICE/UNIT of the cgroups, like under systemd: a group in which the kernel
refuses it makes the start fail.

Not done: restarts, sandboxes, timeouts of its own, dependencies.
"""
import os
import pwd
import signal
import socket
import subprocess
import sys
import time

UNITS = "/lib/systemd/system"
STATE = "/run/unit-runner"
GROUPS = "/sys/fs/cgroup"
PATIENCE = 60


def read_unit(name):
    """[Service] as {key: [values]}."""
    found, section = {}, ""
    with open(f"{UNITS}/{name}", encoding="utf-8") as file:
        for line in file.read().replace("\\\n", " ").split("\n"):
            line = line.strip()
            if line.startswith("["):
                section = line
            elif section == "[Service]" and "=" in line and not line.startswith("#"):
                key, _, value = line.partition("=")
                found.setdefault(key, []).append(value)
    return found


def one(unit, key, default=""):
    return unit.get(key, [default])[-1]


def main_pid(name):
    """None: the unit is not active."""
    try:
        with open(f"{STATE}/{name}.pid", encoding="ascii") as file:
            pid = int(file.read())
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return pid if file.read().rpartition(")")[2].split()[0] not in "ZX" else None
    except (OSError, ValueError):
        return None


def enter_group(unit, name):
    group = f"{GROUPS}/{one(unit, 'Slice', 'system.slice')}/{name}"
    os.makedirs(group, exist_ok=True)
    with open(group + "/cgroup.procs", "w", encoding="ascii") as file:
        file.write("0")
    return group


def become(unit, name, environment):
    """In the child: everything between fork and exec."""
    os.setsid()
    group = enter_group(unit, name)
    user = pwd.getpwnam(one(unit, "User"))
    if one(unit, "Delegate") == "yes":
        for file in ("", "/cgroup.procs", "/cgroup.subtree_control", "/cgroup.threads"):
            os.chown(group + file, user.pw_uid, user.pw_gid)
    log = os.open(f"{STATE}/{name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number in (1, 2):
        os.dup2(log, number)
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    os.initgroups(user.pw_name, user.pw_gid)
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
    os.umask(int(one(unit, "UMask", "0022"), 8))
    os.chdir("/")
    words = one(unit, "ExecStart").split()
    environment.update(HOME=user.pw_dir, USER=user.pw_name, PATH="/usr/sbin:/usr/bin:/sbin:/bin")
    os.execve(words[0], words, environment)


def make_state_directory(unit):
    user = pwd.getpwnam(one(unit, "User"))
    path = "/var/lib/" + one(unit, "StateDirectory")
    os.makedirs(path, exist_ok=True)
    os.chown(path, user.pw_uid, user.pw_gid)
    os.chmod(path, int(one(unit, "StateDirectoryMode", "0755"), 8))


def start(name):
    if main_pid(name):
        return 0
    unit = read_unit(name)
    make_state_directory(unit)
    os.makedirs(f"{GROUPS}/{one(unit, 'Slice', 'system.slice')}", exist_ok=True)
    for command in unit.get("ExecStartPre", []):
        subprocess.run(command.lstrip("+").split(), check=True)
    path = f"{STATE}/{name}.notify"
    if os.path.exists(path):
        os.unlink(path)
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notify.bind(path)
    os.chmod(path, 0o666)
    environment = {"NOTIFY_SOCKET": path,
                   "WATCHDOG_USEC": str(int(one(unit, "WatchdogSec", "0")) * 1_000_000)}
    for line in unit.get("Environment", []):
        environment.update([line.split("=", 1)])
    pid = os.fork()
    if pid == 0:
        try:
            become(unit, name, environment)
        finally:
            os._exit(203)
    with open(f"{STATE}/{name}.pid", "w", encoding="ascii") as file:
        file.write(str(pid))
    return wait_until_ready(notify, pid, name)


def wait_until_ready(notify, pid, name):
    deadline = time.monotonic() + PATIENCE
    notify.settimeout(0.1)
    while time.monotonic() < deadline:
        ended, _ = os.waitpid(pid, os.WNOHANG)
        try:
            if ended == 0 and b"READY=1" in notify.recv(4096):
                return 0
        except TimeoutError:
            pass
        if ended:
            break
    print(f"{name} has not become ready", file=sys.stderr)
    return 1


def stop(name):
    pid = main_pid(name)
    if not pid:
        return 0
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE
    while main_pid(name):
        if time.monotonic() > deadline:
            return 1
        time.sleep(0.05)
    return 0


def main(words):
    os.makedirs(STATE, exist_ok=True)
    with open(f"{STATE}/calls", "a", encoding="utf-8") as file:
        file.write(" ".join(words) + "\n")
    options = [word for word in words if word.startswith("-")]
    command, *units = [word for word in words if not word.startswith("-")]
    if command == "start":
        return max(start(unit) for unit in units)
    if command == "stop":
        return max(stop(unit) for unit in units)
    if command == "try-restart":
        return max((stop(unit) or start(unit)) if main_pid(unit) else 0 for unit in units)
    if command == "is-active":
        return 0 if main_pid(units[0]) else 3
    if command == "kill":
        number = [option for option in options if option.startswith("--signal=")][0]
        os.kill(main_pid(units[0]), signal.Signals["SIG" + number.split("=")[1]])
        return 0
    if command in ("daemon-reload", "disable"):
        return 0
    print(f"unit_runner: {command} is not known here", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
