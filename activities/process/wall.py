"""
Starts programs behind the wall (wall.ts): Landlock for files, TCP ports, signals and other processes, seccomp for what
Landlock leaves open, and without root's powers. Python, since Node cannot make these system calls.

  wall.py PLAN run FILE ARGUMENT...   walls itself in, then becomes the program
  wall.py PLAN serve SOCKET           walls itself in, then starts programs for its worker (launcher.ts)
  wall.py PLAN serve-each SOCKET      the same, each program behind a wall of its own, which costs some 30 ms each

PLAN is JSON: `hidden` (paths), `writable` (folders), `ports` (that nothing connects to).
"""

import ctypes
import errno
import json
import os
import platform
import select
import signal
import socket
import stat
import struct
import sys

LIBC = ctypes.CDLL(None, use_errno=True)

# linux/landlock.h. Rights beyond READ are those to change what is there; making devices is granted nowhere.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REFER, TRUNCATE = 1, 2, 4, 8, 1 << 13, 1 << 14
MAKE_DEVICES = 1 << 6 | 1 << 11
READ = EXECUTE | READ_FILE | READ_DIR
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
CONNECT_TCP = 2
SCOPES = 1 | 2
# Cross-folder renames need the second version; without them git and npm break.
LEAST_ABI, ABI_TRUNCATE, ABI_NET, ABI_SCOPE = 2, 3, 4, 6

# Bytes of a file with a rule of its own: that keeps a deleted one on its disk while anything runs behind the wall.
MOST_GRANTED = 1 << 20

DEVICES = ("null", "zero", "full", "random", "urandom")

# What root keeps: to own and to open files, which are walled in, and low ports.
# CHOWN, DAC_OVERRIDE, FOWNER, FSETID, SETGID, SETUID, NET_BIND_SERVICE
KEPT = (0, 1, 3, 4, 6, 7, 10)


def call(number, *arguments):
    result = LIBC.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def prctl(*arguments):
    if LIBC.prctl(*[ctypes.c_ulong(each) for each in (*arguments, 0, 0, 0, 0)[:5]]) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


class Ruleset:
    def __init__(self, plan):
        abi = LIBC.syscall(CREATE_RULESET, None, 0, 1)
        if abi < LEAST_ABI:
            raise OSError(errno.ENOSYS, "this kernel has no Landlock, or too old a one")
        self.all = (1 << (15 if abi >= ABI_TRUNCATE else 14)) - 1
        net = CONNECT_TCP if abi >= ABI_NET else 0
        scopes = SCOPES if abi >= ABI_SCOPE else 0
        attributes = struct.pack("QQQ", self.all, net, scopes)
        self.fd = call(CREATE_RULESET, attributes, len(attributes), 0)
        self.hidden = [path.rstrip("/") for path in plan["hidden"]]
        self.show("/")
        self.grant("/proc", READ_FILE | READ_DIR)
        for name in DEVICES:
            self.grant("/dev/" + name, READ_FILE | WRITE_FILE)
        for path in ("/dev/shm", *plan["writable"]):
            self.grant(path, self.all & ~MAKE_DEVICES)
        if net:
            self.close_ports(set(plan["ports"]))

    def show(self, folder):
        """Landlock has no exceptions: beside what is hidden, each neighbour is shown by itself."""
        try:
            entries = list(os.scandir(folder))
        except OSError:
            # Nobody may list it, so nothing of it is shown.
            return
        for entry in entries:
            if entry.path in ("/proc", "/dev") or entry.path in self.hidden or entry.is_symlink():
                continue
            if any(path.startswith(entry.path + "/") for path in self.hidden):
                self.show(entry.path)
            else:
                self.grant(entry.path, READ)

    def grant(self, path, rights):
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            # Gone meanwhile, or not on this machine: not shown.
            return
        try:
            about = os.stat(fd)
            if not stat.S_ISDIR(about.st_mode):
                if about.st_size > MOST_GRANTED:
                    return
                rights &= OF_FILES & self.all
            call(ADD_RULE, self.fd, 1, struct.pack("=Qi", rights, fd), 0)
        finally:
            os.close(fd)

    def close_ports(self, closed):
        """There is no list of what is forbidden, so each other port is allowed: some 100 ms."""
        for port in range(65536):
            if port not in closed:
                call(ADD_RULE, self.fd, 2, struct.pack("QQ", CONNECT_TCP, port), 0)

    def enter(self):
        drop_powers()
        prctl(38, 1)  # PR_SET_NO_NEW_PRIVS
        call(RESTRICT_SELF, self.fd, 0)


def drop_powers():
    if os.geteuid() != 0:
        return
    with open("/proc/sys/kernel/cap_last_cap", encoding="ascii") as file:
        last = int(file.read())
    for capability in range(last + 1):
        # PR_CAPBSET_READ, PR_CAPBSET_DROP; one that is not there any more needs no dropping.
        if capability not in KEPT and LIBC.prctl(23, capability, 0, 0, 0) == 1:
            prctl(24, capability)
    prctl(47, 4)  # PR_CAP_AMBIENT_CLEAR_ALL
    header = struct.pack("=Ii", 0x20080522, 0)
    held = ctypes.create_string_buffer(24)
    if LIBC.capget(header, held) != 0:
        raise OSError(ctypes.get_errno(), "capget")
    kept = sum(1 << each for each in KEPT)
    permitted = struct.unpack("=6I", held.raw)[1] & kept
    if LIBC.capset(header, struct.pack("=6I", permitted, permitted, 0, 0, 0, 0)) != 0:
        raise OSError(ctypes.get_errno(), "capset")


# AUDIT_ARCH_*, and the numbers of socket, socketpair, sendto, sendmsg, sendmmsg; io_uring_setup is 425 everywhere.
MACHINES = {
    "x86_64": (0xC000003E, 41, 53, 44, 46, 307),
    "aarch64": (0xC00000B7, 198, 199, 206, 211, 269),
}


def socket_filter():
    """
    Landlock closes TCP ports to connect(), and nothing to sockets that are files: a person's session manager, terminal
    multiplexer or container engine would run anything outside of the wall. So there are only IP and netlink sockets,
    streams are TCP (MPTCP is not seen as such), none is opened by sending (TCP Fast Open), and none by io_uring.
    """
    arch, *numbers = MACHINES[platform.machine()]
    plain_socket, pair, sendto, sendmsg, sendmmsg = numbers
    allow, refuse = ("allow",), ("refuse",)
    code = [
        ("load", 4), ("else", arch, refuse), ("load", 0), ("from", 0x40000000, refuse),
        ("if", 425, refuse),
        ("unless", plain_socket, [
            ("load", 16), ("if", 16, allow), ("if2", 2, 10, refuse),
            ("load", 24), ("and", 0xF), ("else", 1, allow),
            ("load", 32), ("if", 0, allow), ("if", 6, allow), refuse,
        ]),
        # An unconnected pair can still be connected to a path.
        ("unless", pair, [("load", 24), ("and", 0xF), ("if", 2, refuse), allow]),
        ("unless", sendto, [("load", 40), ("bit", 0x20000000, refuse), allow]),
        ("unless", sendmmsg, [("load", 40), ("bit", 0x20000000, refuse), allow]),
        ("unless", sendmsg, [("load", 32), ("bit", 0x20000000, refuse), allow]),
        allow,
    ]
    made = b"".join(assemble(code))
    return ctypes.create_string_buffer(made, len(made))


def assemble(code):
    """Classic BPF. A condition is followed by what happens then."""
    made = []

    def emit(op, value, yes=0, no=0):
        made.append(struct.pack("=HBBI", op, yes, no, value))

    for name, *rest in code:
        if name == "load":
            emit(0x20, rest[0])
        elif name == "and":
            emit(0x54, rest[0])
        elif name == "allow":
            emit(0x06, 0x7FFF0000)
        elif name == "refuse":
            emit(0x06, 0x50000 | errno.EACCES)
        elif name == "unless":
            inner = assemble(rest[1])
            emit(0x15, rest[0], 0, len(inner))
            made.extend(inner)
        elif name == "if2":
            emit(0x15, rest[0], 2, 0)
            emit(0x15, rest[1], 1, 0)
            made.extend(assemble([rest[2]]))
        else:
            op, yes, no = {"if": (0x15, 0, 1), "else": (0x15, 1, 0), "from": (0x35, 0, 1), "bit": (0x45, 0, 1)}[name]
            emit(op, rest[0], yes, no)
            made.extend(assemble([rest[1]]))
    return made


# Made once: it is set for each program. None for a machine without a row, which the proof finds (prove-wall.ts).
FILTER = socket_filter() if platform.machine() in MACHINES else None


def limit_sockets():
    if FILTER is None:
        return
    program = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", len(FILTER) // 8, ctypes.addressof(FILTER)), 16)
    prctl(22, 2, ctypes.addressof(program))  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER


def as_bytes(text):
    return text.encode("utf-8", "replace")


def serve(path, ruleset, each):
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            # What it starts inherits it: behind the wall nothing is written in /proc.
            file.write("1000")
    except OSError:
        # Not allowed here: then commands are as likely to go as others.
        pass
    if not each:
        ruleset.enter()
    prctl(4, 0)  # PR_SET_DUMPABLE: what it starts is behind the same wall, and must not look in here.
    channel = socket.socket(fileno=int(os.environ["NODE_CHANNEL_FD"]))
    channel.set_inheritable(False)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    # Handled, not ignored: that would be inherited. Ctrl-C reaches the whole group; the worker decides when its commands end.
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, lambda *_: None)
    running = {}

    def tell(**words):
        channel.sendall((json.dumps(words) + "\n").encode())

    tell(up=True)
    pending = b""
    while True:
        ready, _, _ = select.select([channel, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            for pid in list(running):
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended != 0:
                    code = os.waitstatus_to_exitcode(status)
                    name = signal.Signals(-code).name if code < 0 else None
                    tell(id=running.pop(pid), code=code if code >= 0 else None, signal=name)
        if channel in ready:
            data = channel.recv(1 << 16)
            if data == b"":
                return
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                asked = json.loads(line)
                try:
                    pid = start(asked, path, ruleset if each else None)
                    running[pid] = asked["id"]
                    with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
                        since = int(file.read().rpartition(")")[2].split()[19])
                    tell(id=asked["id"], pid=pid, since=since)
                except OSError as error:
                    tell(id=asked["id"], failed=f"{error.strerror} {errno.errorcode.get(error.errno, '')}")


def start(asked, path, ruleset):
    outputs = [output(path, asked["id"], which) for which in (1, 2)]
    told, tell = os.pipe()
    try:
        pid = os.fork()
        if pid == 0:
            try:
                become(asked, outputs, ruleset)
            except OSError as error:
                os.write(tell, struct.pack("i", error.errno))
            finally:
                os._exit(127)
        os.close(tell)
        tell = -1
        failed = os.read(told, 4)
    finally:
        os.close(told)
        if tell >= 0:
            os.close(tell)
        for each in outputs:
            each.close()
    if failed:
        os.waitpid(pid, 0)
        number = struct.unpack("i", failed)[0]
        raise OSError(number, f"{asked['file']}: {os.strerror(number)}")
    return pid


def output(path, name, which):
    """A way to the worker, its header sent: the rest is the command's."""
    made = socket.socket(socket.AF_UNIX)
    made.connect(path)
    made.sendall(f"{name}{which}".encode())
    return made


def become(asked, outputs, ruleset):
    os.setsid()
    os.chdir(as_bytes(asked["cwd"]))
    here = os.stat(".")
    if f"{here.st_dev}.{here.st_ino}" != asked["folder"]:
        # Another folder has taken the place of the one that was checked.
        raise OSError(errno.ENOENT, "")
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    for number, each in enumerate(outputs, 1):
        os.dup2(each.fileno(), number)
    if ruleset is not None:
        ruleset.enter()
    limit_sockets()
    arguments = [as_bytes(each) for each in (asked["file"], *asked["args"])]
    environment = {as_bytes(name): as_bytes(value) for name, value in asked["env"].items()}
    os.execvpe(arguments[0], arguments, environment)


def main():
    plan, mode, first, *rest = sys.argv[1:]
    ruleset = Ruleset(json.loads(plan))
    if mode == "run":
        ruleset.enter()
        limit_sockets()
        # Python ignores them, and that would be inherited.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.execvp(first, [first, *rest])
    serve(first, ruleset, mode == "serve-each")


main()
