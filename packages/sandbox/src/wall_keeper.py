"""
The keeper of one command: its parent and that of all it leaves behind, whatever that did to hide. It makes the changes that the
kernel hands over (wall_changes.py), and ends with the last of them.
"""

import os
import select
import signal
import socket
import struct
import time

import wall_seccomp as seccomp
from wall_bounds import LOOK_SECONDS
from wall_changes import Changes, listen

LIBC = seccomp.LIBC
SET_PDEATHSIG, SET_CHILD_SUBREAPER, SET_NO_NEW_PRIVS = 1, 36, 38


def prctl(*arguments):
    if LIBC.prctl(*[seccomp.ctypes.c_ulong(each) for each in (*arguments, 0, 0, 0, 0)[:5]]) != 0:
        raise OSError(seccomp.ctypes.get_errno(), "prctl")


def adopt():
    """From here on what a child leaves behind is this process's."""
    prctl(SET_CHILD_SUBREAPER, 1)


def start(enter, become, is_walled=True):
    """
    Starts a command: `enter` puts it behind its wall, `become` makes it its program. Returns its pid and the listener of its calls.
    Throws what kept it from starting.
    """
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            ours.close()
            enter()
            prctl(SET_NO_NEW_PRIVS, 1)
            if seccomp.is_known():
                if is_walled:
                    seccomp.set_filter(seccomp.FIXED)
                try:
                    socket.send_fds(theirs, [b"l"], [listen(is_walled)])
                except OSError:
                    # Before Linux 5.19: without a wall memory and disk have their bounds all the same.
                    if is_walled:
                        raise
            become()
        except OSError as error:
            theirs.send(b"e" + struct.pack("=i", error.errno or 0))
        finally:
            os._exit(127)
    theirs.close()
    listener = None
    try:
        while True:
            words, descriptors, _, _ = socket.recv_fds(ours, 5, 1)
            if words == b"":
                # It has become its program, which closed the other end.
                return pid, listener
            if descriptors:
                listener = descriptors[0]
            else:
                number = struct.unpack("=i", words[1:])[0]
                os.waitpid(pid, 0)
                raise OSError(number, os.strerror(number))
    finally:
        ours.close()


def keep(command, listener, bounds, on_end, is_walled=True):
    """
    Until all that the command started is over; `on_end` is told its own end. It passes SIGTERM on, and once the command is over ends
    the rest; on SIGUSR1, which says that this process has lost its parent, and where a bound is passed it ends all at once.
    """
    ending = False

    def end(number, _):
        nonlocal ending, command
        ending = True
        if command is not None:
            os.kill(command, signal.SIGTERM)
        if number == signal.SIGUSR1:
            command = None

    is_passed = False
    look_at = time.monotonic() + LOOK_SECONDS
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, lambda *_: None)
    for number in (signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, end)
    changes = None if listener is None else Changes(listener, bounds, is_walled)
    waiting = select.poll()
    waiting.register(woken, select.POLLIN)
    if listener is not None:
        waiting.register(listener, select.POLLIN)
    while True:
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                if pid == command:
                    command = None
                    on_end(status)
        except ChildProcessError:
            return
        now = time.monotonic()
        if now >= look_at:
            is_passed = is_passed or bounds.look()
            look_at = now + LOOK_SECONDS
        if is_passed or (ending and command is None):
            for child in children():
                os.kill(child, signal.SIGKILL)
        for fd, events in waiting.poll(LOOK_SECONDS * 1000):
            if fd == woken:
                os.read(woken, 4096)
            elif events & select.POLLIN:
                changes.serve()
            else:
                # Nobody is left whose calls would come.
                waiting.unregister(listener)


def write(fd, text):
    try:
        os.write(fd, text.encode())
    except OSError:
        # Its reader is gone.
        return


def children():
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        return [int(pid) for pid in file.read().split()]
