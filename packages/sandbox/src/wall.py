"""
Starts programs behind the wall (wall.ts): Landlock for files, TCP ports, signals and other processes, seccomp for what
Landlock leaves open, and without root's powers. Python, since Node cannot make these system calls.

  wall.py PLAN run FOLDERS FILE ARGUMENT...   starts the program behind a wall and keeps it
  wall.py PLAN bound FOLDERS FILE ARGUMENT... keeps it without a wall: of PLAN there are only `bounds`
  wall.py PLAN serve SOCKET                   walls itself in, then starts programs for its worker (launcher.ts)

PLAN is JSON: `hidden` (paths), `shown` (folders to read below hidden ones), `apart` (folders of which a command sees only its own),
`ports` (that nothing connects to or listens on), `bounds` (wall_bounds.py). FOLDERS is JSON: the command's own, real paths.
"""

import ctypes
import errno
import json
import os
import signal
import socket
import stat
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import wall_keeper as keeper  # noqa: E402
from wall_bounds import Bounds  # noqa: E402
from wall_server import Launcher  # noqa: E402

LIBC = keeper.LIBC

# linux/landlock.h. Rights beyond READ are those to change what is there; making devices is granted nowhere.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REFER, TRUNCATE = 1, 2, 4, 8, 1 << 13, 1 << 14
MAKE_DEVICES = 1 << 6 | 1 << 11
READ = EXECUTE | READ_FILE | READ_DIR
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
BIND_TCP, CONNECT_TCP = 1, 2
SCOPES = 1 | 2
# Cross-folder renames need the second version; without them git and npm break.
MIN_ABI, ABI_TRUNCATE, ABI_NET, ABI_SCOPE = 2, 3, 4, 6

# Bytes of a file with a rule of its own: that keeps a deleted one on its disk while anything runs behind the wall.
MAX_GRANTED = 1 << 20

DEVICES = ("null", "zero", "full", "random", "urandom")

# Semaphores and shared memory of C libraries: whoever knows a name reaches what is there, and nobody learns one.
SHARED_MEMORY = "/dev/shm"

# Walls of workspaces that are kept to be used again.
MAX_KEPT = 64

# What root keeps: to own and to open files, which are walled in, and low ports.
# CHOWN, DAC_OVERRIDE, FOWNER, FSETID, SETGID, SETUID, NET_BIND_SERVICE
KEPT = (0, 1, 3, 4, 6, 7, 10)


def call(number, *arguments):
    result = LIBC.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


class Ruleset:
    """`folders`: what a command may write in, and change the modes of."""

    def __init__(self, folders=(), ports=None):
        abi = LIBC.syscall(CREATE_RULESET, None, 0, 1)
        if abi < MIN_ABI:
            raise OSError(errno.ENOSYS, "this kernel has no Landlock, or too old a one")
        self.folders = folders
        self.all = (1 << (15 if abi >= ABI_TRUNCATE else 14)) - 1
        self.net = BIND_TCP | CONNECT_TCP if ports is not None and abi >= ABI_NET else 0
        scopes = SCOPES if abi >= ABI_SCOPE else 0
        attributes = struct.pack("QQQ", self.all, self.net, scopes)
        self.fd = call(CREATE_RULESET, attributes, len(attributes), 0)
        if self.net:
            self.close_ports(set(ports))
        for folder in folders:
            self.grant(folder, self.all & ~MAKE_DEVICES)

    def grant(self, path, rights):
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            # Gone meanwhile, or not on this machine: not shown.
            return
        try:
            about = os.stat(fd)
            if not stat.S_ISDIR(about.st_mode):
                if about.st_size > MAX_GRANTED:
                    return
                rights &= OF_FILES & self.all
            call(ADD_RULE, self.fd, 1, struct.pack("=Qi", rights, fd), 0)
        finally:
            os.close(fd)

    def close_ports(self, closed):
        """There is no list of what is forbidden, so each other port is allowed: some 100 ms."""
        for port in range(65536):
            if port not in closed:
                call(ADD_RULE, self.fd, 2, struct.pack("QQ", self.net, port), 0)

    def enter(self):
        keeper.prctl(keeper.SET_NO_NEW_PRIVS, 1)
        call(RESTRICT_SELF, self.fd, 0)


def neighbours(folder, hidden):
    """Landlock has no exceptions: beside what is hidden, each neighbour is shown by itself."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        # Nobody may list it, so nothing of it is shown.
        return
    for entry in entries:
        if entry.path in ("/proc", "/dev") or entry.path in hidden or entry.is_symlink():
            continue
        if any(path.startswith(entry.path + "/") for path in hidden):
            yield from neighbours(entry.path, hidden)
        else:
            yield entry.path


def shown_paths(plan):
    hidden = [path.rstrip("/") for path in (*plan["hidden"], *plan["apart"])]
    return [path for folder in ("/", *plan["shown"]) for path in neighbours(folder, hidden)]


def outer_wall(plan, folders):
    ruleset = Ruleset(folders, plan["ports"])
    for path in shown_paths(plan):
        ruleset.grant(path, READ)
    ruleset.grant("/proc", READ_FILE | READ_DIR)
    for name in DEVICES:
        ruleset.grant("/dev/" + name, READ_FILE | WRITE_FILE)
    ruleset.grant(SHARED_MEMORY, ruleset.all & ~MAKE_DEVICES & ~READ_DIR)
    return ruleset


def inner_walls(plan):
    """Gives the wall of one command within the outer one, by its folders. Made before that is entered, from where nobody lists all this."""
    paths = ["/proc", "/dev", *shown_paths(plan)]
    kept = {}

    def wall_of(folders):
        key = tuple(folders)
        if key not in kept:
            ruleset = Ruleset(folders)
            for path in paths:
                ruleset.grant(path, ruleset.all)
            if len(kept) >= MAX_KEPT:
                os.close(kept.pop(next(iter(kept))).fd)
            kept[key] = ruleset
        return kept[key]

    return wall_of


def drop_powers():
    if os.geteuid() != 0:
        return
    with open("/proc/sys/kernel/cap_last_cap", encoding="ascii") as file:
        last = int(file.read())
    for capability in range(last + 1):
        # PR_CAPBSET_READ, PR_CAPBSET_DROP; one that is not there any more needs no dropping.
        if capability not in KEPT and LIBC.prctl(23, capability, 0, 0, 0) == 1:
            keeper.prctl(24, capability)
    keeper.prctl(47, 4)  # PR_CAP_AMBIENT_CLEAR_ALL
    header = struct.pack("=Ii", 0x20080522, 0)
    held = ctypes.create_string_buffer(24)
    if LIBC.capget(header, held) != 0:
        raise OSError(ctypes.get_errno(), "capget")
    kept = sum(1 << each for each in KEPT)
    permitted = struct.unpack("=6I", held.raw)[1] & kept
    if LIBC.capset(header, struct.pack("=6I", permitted, permitted, 0, 0, 0, 0)) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def go_first():
    """When memory is short; what this starts inherits it, since behind the wall nothing is written in /proc."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
    except OSError:
        # Not allowed here: then commands are as likely to go as others.
        pass


def run(plan, folders, words, is_walled):
    """As if this were the program: its end is the program's, once all that it started is over."""
    ruleset = outer_wall(plan, folders) if is_walled else None
    # Python ignores them, and that would be inherited.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    keeper.adopt()
    keeper.prctl(keeper.SET_PDEATHSIG, signal.SIGUSR1)
    bounds = Bounds(plan["bounds"], folders)
    bounds.begin(lambda text: keeper.write(2, text))

    def enter():
        if ruleset is not None:
            drop_powers()
            ruleset.enter()

    try:
        pid, listener = keeper.start(enter, lambda: os.execvp(words[0], words), is_walled)
    except OSError as error:
        print(f"{words[0]}: {error.strerror}", file=sys.stderr)
        sys.exit(127)
    ended = []
    keeper.keep(pid, listener, bounds, ended.append, is_walled)
    code = os.waitstatus_to_exitcode(ended[0])
    sys.exit(code if code >= 0 else 128 - code)


def main():
    plan, mode, first, *rest = sys.argv[1:]
    plan = json.loads(plan)
    if mode in ("run", "bound"):
        run(plan, json.loads(first), rest, mode == "run")
    wall_of = inner_walls(plan)
    ruleset = outer_wall(plan, plan["apart"])
    go_first()
    drop_powers()
    ruleset.enter()
    channel = socket.socket(fileno=int(os.environ["NODE_CHANNEL_FD"]))
    channel.set_inheritable(False)
    launcher = Launcher(channel, first, plan["bounds"], wall_of)
    launcher.send(up=True)
    launcher.serve()


main()
