"""What a hostile script of an agent tries from behind the wall, given a file of facts. Prints the names of what it got done, as JSON."""

import ctypes
import errno
import json
import os
import signal
import socket
import subprocess
import sys

with open(sys.argv[1], encoding="utf-8") as given:
    facts = json.load(given)
LIBC = ctypes.CDLL(None, use_errno=True)
done = []


def attempt(name, act):
    try:
        act()
    except (OSError, subprocess.CalledProcessError, PermissionError):
        return
    done.append(name)


def call(function, *arguments):
    if function(*arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")


def read(path):
    with open(path, "rb") as file:
        file.read(1)


def linked(path, link):
    name = "link-of-the-attack"
    try:
        link(path, name)
        read(name)
    finally:
        if os.path.lexists(name):
            os.unlink(name)


def connect(family, kind, protocol, address):
    made = socket.socket(family, kind, protocol)
    made.settimeout(5)
    try:
        made.connect(address)
    except OSError as error:
        # Anything else comes from behind the wall: nobody listens just there.
        if error.errno in (errno.EACCES, errno.EPERM):
            raise


def listen(port):
    with socket.socket() as made:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind(("127.0.0.3", port))
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM):
                raise


def memory(pid):
    held = ctypes.create_string_buffer(8)
    local = (ctypes.c_void_p * 2)(ctypes.addressof(held), 8)
    with open("/proc/self/maps", encoding="ascii") as file:
        start = int(file.read().split("-")[0], 16)
    remote = (ctypes.c_void_p * 2)(start, 8)
    got = LIBC.process_vm_readv(pid, local, 1, remote, 1, 0)
    # No such address of theirs: it was looked for.
    if got < 0 and ctypes.get_errno() == errno.EPERM:
        raise OSError(errno.EPERM, "refused")


def trace(pid):
    call(LIBC.ptrace, 16, pid, None, None)
    os.waitpid(pid, 0)
    LIBC.ptrace(17, pid, None, None)


def made(path):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    os.unlink(path)


def sys_call(x64, arm64, *arguments):
    call(LIBC.syscall, x64 if os.uname().machine == "x86_64" else arm64, *arguments)


for path in [*facts["secrets"], *facts["hidden"]]:
    attempt(f"mode of {path}", lambda: os.chmod(path, os.stat(path).st_mode & 0o7777))
    attempt(f"owner of {path}", lambda: os.chown(path, os.stat(path).st_uid, -1))
    attempt(f"times of {path}", lambda: os.utime(path, (os.stat(path).st_atime, os.stat(path).st_mtime)))
    attempt(f"attributes of {path}", lambda: os.setxattr(path, "user.attack", b"x"))
for path in facts["secrets"]:
    attempt(f"read {path}", lambda: read(path))
    attempt(f"cat {path}", lambda: subprocess.run(["cat", path], check=True, capture_output=True))
    attempt(f"symlink {path}", lambda: linked(path, os.symlink))
    attempt(f"hard link {path}", lambda: linked(path, os.link))
    attempt(f"rename {path}", lambda: os.rename(path, path))
    attempt(f"/proc/self/root {path}", lambda: read("/proc/self/root" + path))
    attempt(f"/proc/self/cwd {path}", lambda: read("/proc/self/cwd/" + os.path.relpath(path)))
    attempt(f"append {path}", lambda: os.open(path, os.O_WRONLY | os.O_APPEND))
    attempt(f"truncate {path}", lambda: os.truncate(path, os.stat(path).st_size))
    for name, pid in facts["pids"].items():
        attempt(f"{name}'s root {path}", lambda: read(f"/proc/{pid}/root{path}"))
for path in facts["hidden"]:
    attempt(f"list {path}", lambda: os.listdir(path))
for path in facts["kept"]:
    attempt(f"make in {path}", lambda: made(os.path.join(path, "made-by-the-attack")))
for path in facts["programs"]:
    attempt(f"change {path}", lambda: os.open(path, os.O_WRONLY | os.O_APPEND))
    attempt(f"remove {path}", lambda: os.rename(path, path))

for name, pid in {**facts["pids"], "starter": os.getppid() if facts["plain"] else 1}.items():
    for part in ("environ", "mem", "maps", "fd/0", "fd/1", "fd/3"):
        attempt(f"{name}'s {part}", lambda: read(f"/proc/{pid}/{part}"))
    for part in ("cwd", "root"):
        attempt(f"{name}'s {part}", lambda: os.listdir(f"/proc/{pid}/{part}/"))
    for part in ("exe", "cwd", "fd/1"):
        attempt(f"{name}'s {part} by name", lambda: os.readlink(f"/proc/{pid}/{part}"))
    attempt(f"{name}'s memory", lambda: memory(pid))
    attempt(f"trace {name}", lambda: trace(pid))
for name, pid in facts["pids"].items():
    for number in (0, signal.SIGCONT):
        attempt(f"signal {number} to {name}", lambda: os.kill(pid, number))
    attempt(f"limits of {name}", lambda: sys_call(302, 261, pid, 1, None, ctypes.create_string_buffer(16)))
    attempt(f"processors of {name}", lambda: os.sched_setaffinity(pid, os.sched_getaffinity(pid)))
    attempt(f"priority of {name}", lambda: os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid)))
    attempt(f"order of {name} at disks", lambda: sys_call(251, 30, 1, pid, 2 << 13 | 4))
attempt("priority of the user", lambda: os.setpriority(os.PRIO_USER, 0, 0))

for port in facts["ports"]:
    for host in ("127.0.0.1", "127.0.0.2", "localhost", "0.0.0.0", facts["address"]):
        attempt(f"{host}:{port}", lambda: connect(socket.AF_INET, socket.SOCK_STREAM, 0, (host, port)))
    for host in ("::1", "::ffff:127.0.0.1"):
        attempt(f"[{host}]:{port}", lambda: connect(socket.AF_INET6, socket.SOCK_STREAM, 0, (host, port)))
    attempt(f"MPTCP {port}", lambda: connect(socket.AF_INET, socket.SOCK_STREAM, 262, ("127.0.0.1", port)))
    attempt(
        f"fast open {port}",
        lambda: socket.socket().sendto(b"GET / HTTP/1.0\r\n\r\n", 0x20000000, ("127.0.0.1", port)),
    )
    attempt(f"listen on {port}", lambda: listen(port))
attempt("a socket that is a file", lambda: socket.socket(socket.AF_UNIX).connect(facts["socket"]))
attempt("an abstract socket", lambda: socket.socket(socket.AF_UNIX).connect("\0tempoclaw"))
attempt("an unconnected pair", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
attempt("io_uring", lambda: call(LIBC.syscall, 425, 8, ctypes.create_string_buffer(120)))

attempt("core_pattern", lambda: os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
attempt("sysrq", lambda: os.open("/proc/sysrq-trigger", os.O_WRONLY))
attempt("device", lambda: os.mknod("device-of-the-attack", 0o60600, os.makedev(254, 0)))
attempt("mount", lambda: call(LIBC.mount, b"none", b".", b"tmpfs", 0, None))
attempt("bind", lambda: call(LIBC.mount, facts["hidden"][0].encode(), b".", None, 4096, None))
attempt(
    "user namespace",
    lambda: subprocess.run(
        ["unshare", "-Urm", "mount", "--bind", facts["hidden"][0], "."], check=True, capture_output=True
    ),
)
for path in facts["devices"]:
    attempt(path, lambda: os.open(path, os.O_RDONLY))

print(json.dumps({"tried": facts["plain"], "done": done}))
