"""
Changes of a file's mode, owner, times and attributes, which Landlock leaves to whoever owns the file: the kernel hands them over to
the keeper of a command, and the keeper makes those that are within the command's folders, on the file that it has checked. Starts of
processes and disk that is set aside are handed over too, and go on where the bounds allow it.
"""

import ctypes
import errno
import fcntl
import os
import struct

import wall_seccomp as seccomp

LIBC = ctypes.CDLL(None, use_errno=True)

# SECCOMP_IOCTL_NOTIF_RECV, SEND; struct seccomp_notif and seccomp_notif_resp.
RECEIVE, ANSWER = 0xC0502100, 0xC0182101
QUESTION, REPLY = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")
# SECCOMP_FILTER_FLAG_NEW_LISTENER, WAIT_KILLABLE_RECV: a signal that a program handles does not repeat a change.
LISTEN = 8 | 32

# SECCOMP_USER_NOTIF_FLAG_CONTINUE: nothing was decided by memory that its caller can still change.
GO_ON = 1
# FALLOC_FL_PUNCH_HOLE, COLLAPSE_RANGE
FREES = 2 | 8

AT_FDCWD, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH = -100, 0x100, 0x1000
# PATH_MAX, XATTR_SIZE_MAX, XATTR_NAME_MAX
MAX_PATH, MAX_VALUE, MAX_NAME = 4096, 65536, 256


class Caller:
    """Whose call it is: its memory and what its paths mean."""

    def __init__(self, pid):
        self.pid = pid
        self.memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)

    def bytes(self, address, size):
        got = os.pread(self.memory, size, address)
        if len(got) < size:
            raise OSError(errno.EFAULT, "memory")
        return got

    def text(self, address, most):
        read = b""
        while len(read) < most:
            # A page may be the last one.
            piece = os.pread(self.memory, min(4096 - (address + len(read)) % 4096, most - len(read)), address + len(read))
            end = piece.find(b"\0")
            if end >= 0:
                return read + piece[:end]
            if piece == b"":
                raise OSError(errno.EFAULT, "memory")
            read += piece
        raise OSError(errno.ENAMETOOLONG, "path")

    def open(self, folder, address, flags):
        """A descriptor of the file, good for nothing else. Without an address it is what the caller has open as `folder`."""
        own = os.O_PATH | os.O_CLOEXEC
        at = f"/proc/{self.pid}/cwd" if folder == AT_FDCWD else f"/proc/{self.pid}/fd/{folder}"
        path = b"" if address == 0 else self.text(address, MAX_PATH)
        if address == 0 or (path == b"" and flags & AT_EMPTY_PATH):
            return os.open(at, own)
        if path == b"":
            raise OSError(errno.ENOENT, "path")
        last = own | (os.O_NOFOLLOW if flags & AT_SYMLINK_NOFOLLOW else 0)
        for prefix, meant in ((b"/proc/self/", ""), (b"/proc/thread-self/", ""), (b"/dev/fd/", "fd/")):
            if path.startswith(prefix):
                return os.open(f"/proc/{self.pid}/{meant}".encode() + path[len(prefix) :], last)
        if path.startswith(b"/"):
            at, path = f"/proc/{self.pid}/root", path.lstrip(b"/") or b"."
        base = os.open(at, own)
        try:
            return os.open(path, last, dir_fd=base)
        finally:
            os.close(base)

    def close(self):
        os.close(self.memory)


def checked(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), "refused")


def by_name(fd):
    return f"/proc/self/fd/{fd}".encode()


def change_mode(fd, mode):
    checked(LIBC.chmod(by_name(fd), ctypes.c_uint(mode & 0o7777)))


def change_owner(fd, user, group):
    checked(LIBC.fchownat(fd, b"", ctypes.c_uint(user & 0xFFFFFFFF), ctypes.c_uint(group & 0xFFFFFFFF), AT_EMPTY_PATH))


def change_times(fd, times):
    """Two struct timespec; None: now."""
    checked(LIBC.utimensat(fd, b"", times, AT_EMPTY_PATH))


def seconds(caller, address):
    """struct utimbuf as two struct timespec."""
    if address == 0:
        return None
    first, second = struct.unpack("=2q", caller.bytes(address, 16))
    return struct.pack("=4q", first, 0, second, 0)


def micro(caller, address):
    """Two struct timeval as two struct timespec."""
    if address == 0:
        return None
    first, one, second, two = struct.unpack("=4q", caller.bytes(address, 32))
    return struct.pack("=4q", first, one * 1000, second, two * 1000)


def nano(caller, address):
    return None if address == 0 else caller.bytes(address, 32)


def set_attribute(caller, fd, name, value, size, flags):
    if size > MAX_VALUE:
        raise OSError(errno.E2BIG, "value")
    held = caller.bytes(value, size) if size > 0 else b""
    checked(LIBC.setxattr(by_name(fd), caller.text(name, MAX_NAME), held, ctypes.c_size_t(size), flags))


def signed(value):
    return ctypes.c_int(value & 0xFFFFFFFF).value


def path(arguments):
    return AT_FDCWD, arguments[0], 0


def link(arguments):
    return AT_FDCWD, arguments[0], AT_SYMLINK_NOFOLLOW


def opened(arguments):
    return signed(arguments[0]), 0, 0


def below(flags=None):
    """A path from a folder that is open; `flags`: which argument has them."""
    return lambda a: (signed(a[0]), a[1], 0 if flags is None else a[flags])


def to_mode(at):
    return lambda caller, fd, a: change_mode(fd, a[at])


def to_owner(at):
    return lambda caller, fd, a: change_owner(fd, a[at], a[at + 1])


def to_times(read, at):
    return lambda caller, fd, a: change_times(fd, read(caller, a[at]))


def to_attribute(caller, fd, a):
    set_attribute(caller, fd, a[1], a[2], a[3], signed(a[4]))


def without_attribute(caller, fd, a):
    checked(LIBC.removexattr(by_name(fd), caller.text(a[1], MAX_NAME)))


# Which file a call names, and what it does to it.
CALLS = {
    "chmod": (path, to_mode(1)),
    "fchmod": (opened, to_mode(1)),
    "fchmodat": (below(), to_mode(2)),
    "fchmodat2": (below(3), to_mode(2)),
    "chown": (path, to_owner(1)),
    "lchown": (link, to_owner(1)),
    "fchown": (opened, to_owner(1)),
    "fchownat": (below(4), to_owner(2)),
    "utime": (path, to_times(seconds, 1)),
    "utimes": (path, to_times(micro, 1)),
    "futimesat": (below(), to_times(micro, 2)),
    "utimensat": (below(3), to_times(nano, 2)),
    "setxattr": (path, to_attribute),
    "lsetxattr": (link, to_attribute),
    "fsetxattr": (opened, to_attribute),
    "removexattr": (path, without_attribute),
    "lremovexattr": (link, without_attribute),
    "fremovexattr": (opened, without_attribute),
}
STARTS = ("clone", "fork", "vfork", "clone3")
# Newer forms that C libraries do without: as of a kernel that has not got them.
ABSENT = ("setxattrat", "removexattrat", "file_setattr")
BOUND = [*STARTS, "fallocate"]
HANDED_OVER = [*CALLS, *BOUND, *ABSENT]
NAMES = {seccomp.number(name): name for name in HANDED_OVER if seccomp.number(name) is not None}
FILTERS = {
    is_walled: seccomp.program(seccomp.notifying_filter(names)) if seccomp.is_known() else None
    for is_walled, names in ((True, HANDED_OVER), (False, BOUND))
}


def listen(is_walled):
    """The descriptor that this process's calls, and those of all that it becomes and starts, are handed over by."""
    return seccomp.set_filter(FILTERS[is_walled], LISTEN)


class Changes:
    def __init__(self, listener, bounds, is_walled):
        self.listener = listener
        self.is_walled = is_walled
        self.bounds = bounds

    def serve(self):
        """One call, which is there to be received."""
        question = bytearray(QUESTION.size)
        try:
            fcntl.ioctl(self.listener, RECEIVE, question)
        except OSError:
            # Its caller has been killed meanwhile.
            return
        name, pid, _, number, _, _, *arguments = QUESTION.unpack(question)
        call = NAMES.get(number)
        failed, how = self.refuse(call, arguments), GO_ON
        if failed is None:
            failed, how = self.make(call, pid, arguments), 0
        try:
            fcntl.ioctl(self.listener, ANSWER, REPLY.pack(name, 0, -failed, 0 if failed else how))
        except OSError:
            # The same.
            return

    def refuse(self, name, arguments):
        """The number of the error of a call that the kernel makes itself, 0 for none; None for other calls."""
        if name == "clone3" and self.is_walled:
            # Its flags lie in memory, where no filter sees them. C libraries then use clone.
            return errno.ENOSYS
        if name in STARTS:
            return 0 if self.bounds.may_start() else errno.EAGAIN
        if name == "fallocate":
            takes = arguments[1] & FREES == 0
            return errno.ENOSPC if takes and not self.bounds.may_set_aside(arguments[3]) else 0
        return None

    def make(self, name, pid, arguments):
        """The number of the error, 0 for none."""
        if name not in CALLS:
            return errno.ENOSYS
        where, change = CALLS[name]
        try:
            caller = Caller(pid)
            try:
                fd = caller.open(*where(arguments))
                try:
                    self.check(fd)
                    change(caller, fd, arguments)
                finally:
                    os.close(fd)
            finally:
                caller.close()
            return 0
        except OSError as error:
            return error.errno or errno.EPERM
        except (ValueError, OverflowError):
            # A path or number that no file has.
            return errno.EINVAL

    def check(self, fd):
        real = os.readlink(by_name(fd))
        # Pipes, sockets and memory have no path.
        if not real.startswith(b"/") or real.startswith(b"/memfd:"):
            return
        if not any(real == folder or real.startswith(folder + b"/") for folder in self.bounds.folders):
            raise OSError(errno.EPERM, "not a file of this command")
