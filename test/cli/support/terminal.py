"""Runs a command on a terminal of its own: stdin is typed into it, stdout is its screen. Exits as the command does.

TERMINAL_COLUMNS says how wide it is."""
import fcntl
import os
import pty
import select
import struct
import sys
import termios

columns = int(os.environ.get("TERMINAL_COLUMNS", "100"))
pid, screen = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    os.execvp(sys.argv[1], sys.argv[1:])

sources = [0, screen]
while True:
    ready, _, _ = select.select(sources, [], [])
    if 0 in ready:
        typed = os.read(0, 4096)
        if typed:
            os.write(screen, typed)
        else:
            sources.remove(0)
    if screen in ready:
        try:
            shown = os.read(screen, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not shown:
            break
        os.write(1, shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 0xFF)
