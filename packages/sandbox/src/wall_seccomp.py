"""
What Landlock leaves open, closed by seccomp filters for the program that this process becomes: sockets that are files, ways to open
a TCP connection that Landlock does not see, and every call that touches another process. Those that change a file's mode, owner,
times or attributes are left to whoever holds the listener (wall_changes.py).
"""

import ctypes
import errno
import platform
import struct

LIBC = ctypes.CDLL(None, use_errno=True)

# AUDIT_ARCH_* and the numbers of <asm/unistd.h>; those from 424 on are the same everywhere.
X64, ARM64 = "x86_64", "aarch64"
ARCHITECTURES = {X64: 0xC000003E, ARM64: 0xC00000B7}
NUMBERS = {
    "socket": (41, 198),
    "socketpair": (53, 199),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "prlimit64": (302, 261),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "perf_event_open": (298, 241),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "open_by_handle_at": (304, 265),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "unshare": (272, 97),
    "setns": (308, 268),
    "io_uring_setup": (425, 425),
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    # Those of wall_changes.py; an architecture has no number for what it has only in a newer form.
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    # Those of wall_bounds.py.
    "clone": (56, 220),
    "fork": (57, None),
    "vfork": (58, None),
    "clone3": (435, 435),
    "fallocate": (285, 47),
}
MACHINE = platform.machine()

ALLOW, NOTIFY = 0x7FFF0000, 0x7FC00000
REFUSE = 0x50000
CLONE_NEWUSER = 0x10000000


def number(name):
    """Of a system call on this machine; None where there is none."""
    return NUMBERS[name][0 if MACHINE == X64 else 1]


def argument(index):
    """Offset in struct seccomp_data, of the lower half."""
    return 16 + 8 * index


# A process: itself is 0, and whatever else is refused, its own number too.
SELF_ONLY = {
    "prlimit64": 0,
    "sched_setparam": 0,
    "sched_setscheduler": 0,
    "sched_setaffinity": 0,
    "sched_setattr": 0,
    "migrate_pages": 0,
    "move_pages": 0,
    "perf_event_open": 1,
    "setpriority": 1,
    "ioprio_set": 1,
}
# The first argument of these two says what the second names; from this on it is a user, all of whose processes are meant.
OF_USERS = {"setpriority": 2, "ioprio_set": 3}
NEVER = (
    "process_vm_readv",
    "process_vm_writev",
    "kcmp",
    "pidfd_getfd",
    "process_madvise",
    "process_mrelease",
    # Belong to the user and not to a process.
    "add_key",
    "request_key",
    "keyctl",
    # The same: shared memory, semaphores and queues by number, whoever's they are; they would also stay.
    "shmget",
    "shmat",
    "shmctl",
    "semget",
    "semop",
    "semctl",
    "semtimedop",
    "msgget",
    "msgsnd",
    "msgrcv",
    "msgctl",
    "mq_open",
    "mq_unlink",
    "setns",
    # Files by number, without a path that could be walled.
    "open_by_handle_at",
    # Does what the filters refuse.
    "io_uring_setup",
)


def fixed_filter():
    """
    Landlock closes TCP ports to connect() and bind(), and nothing to sockets that are files: a person's session manager, terminal
    multiplexer or container engine would run anything outside of the wall. So there are only IP and netlink sockets, streams
    are TCP (MPTCP is not seen as such), and none is opened by sending (TCP Fast Open).
    """
    allow, refuse, denied = ("allow",), ("refuse", errno.EACCES), ("refuse", errno.EPERM)
    fast_open = lambda index: [("load", argument(index)), ("bit", 0x20000000, refuse), allow]
    # In a user namespace of its own a process has every power over it, and the kernel more to be attacked by.
    namespace = [("load", argument(0)), ("bit", CLONE_NEWUSER, denied), allow]
    return [
        ("load", 4),
        ("else", ARCHITECTURES[MACHINE], refuse),
        ("load", 0),
        # x32, whose numbers are others.
        ("from", 0x40000000, refuse),
        *(("if", number(name), denied) for name in NEVER),
        *(
            (
                "unless",
                number(name),
                [
                    *([("load", argument(0)), ("from", OF_USERS[name], denied)] if name in OF_USERS else []),
                    ("load", argument(index)),
                    ("if", 0, allow),
                    denied,
                ],
            )
            for name, index in SELF_ONLY.items()
        ),
        (
            "unless",
            number("socket"),
            [
                ("load", argument(0)),
                ("if", 16, allow),
                ("if2", 2, 10, refuse),
                ("load", argument(1)),
                ("and", 0xF),
                ("else", 1, allow),
                ("load", argument(2)),
                ("if", 0, allow),
                ("if", 6, allow),
                refuse,
            ],
        ),
        # An unconnected pair can still be connected to a path.
        ("unless", number("socketpair"), [("load", argument(1)), ("and", 0xF), ("if", 2, refuse), allow]),
        ("unless", number("unshare"), namespace),
        ("unless", number("clone"), namespace),
        ("unless", number("sendto"), fast_open(3)),
        ("unless", number("sendmmsg"), fast_open(3)),
        ("unless", number("sendmsg"), fast_open(2)),
        allow,
    ]


def notifying_filter(names):
    known = [number(name) for name in names if number(name) is not None]
    return [("load", 0), *(("if", each, ("notify",)) for each in known), ("allow",)]


CODES = {"if": (0x15, 0, 1), "else": (0x15, 1, 0), "from": (0x35, 0, 1), "bit": (0x45, 0, 1)}


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
            emit(0x06, ALLOW)
        elif name == "notify":
            emit(0x06, NOTIFY)
        elif name == "refuse":
            emit(0x06, REFUSE | rest[0])
        elif name == "unless":
            inner = assemble(rest[1])
            emit(0x15, rest[0], 0, len(inner))
            made.extend(inner)
        elif name == "if2":
            emit(0x15, rest[0], 2, 0)
            emit(0x15, rest[1], 1, 0)
            made.extend(assemble([rest[2]]))
        else:
            op, yes, no = CODES[name]
            emit(op, rest[0], yes, no)
            made.extend(assemble([rest[1]]))
    return made


def program(code):
    """struct sock_fprog, with what it points to."""
    made = b"".join(assemble(code))
    held = ctypes.create_string_buffer(made, len(made))
    return ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", len(made) // 8, ctypes.addressof(held)), 16), held


def is_known():
    """For another machine there is no filter, which the proof finds (prove-wall.ts)."""
    return MACHINE in ARCHITECTURES


# Made once: it is set for each program.
FIXED = program(fixed_filter()) if is_known() else None


def set_filter(made, flags=0):
    """The listener's descriptor where `flags` ask for one. No new privileges must be set before."""
    # SECCOMP_SET_MODE_FILTER
    result = LIBC.syscall(317 if MACHINE == X64 else 277, 1, flags, made[0])
    if result < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    return result
