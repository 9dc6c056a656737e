"""
The bounds of what the commands of one workspace use together: processes with their threads, memory, and disk. No limit of the
kernel's does it: those of a process are passed by starting others, those of a user hold for the worker too, and groups of processes
(cgroups) are seldom a worker's to make. So the keeper of each command is asked before a process is started or disk is set aside, and looks
at the rest ten times a second.
"""

import ctypes
import hashlib
import os
import stat
import time

LIBC = ctypes.CDLL(None, use_errno=True)

LOOK_SECONDS = 0.1
# What other programs give back may hide what a command takes, so that memory is measured anew after so long.
MEASURE_SECONDS = 10
# Before anything was measured.
FIRST = 16 << 20
# A session has no more commands at once: each may start its share of the processes without counting all.
MAX_COMMANDS = 16
COUNT_SECONDS = 0.05

# Names the keepers of a workspace to each other. What a command names so descends from its own keeper, whose it stays.
MARK = b"wall:"
PAGE = os.sysconf("SC_PAGE_SIZE")


class Gauge:
    """Measuring takes long. What is left on the machine takes no time to learn, and says when it is due."""

    def __init__(self, limit):
        self.limit = limit
        self.used = None
        self.left = 0

    def is_due(self, left, more=0):
        self.left = max(self.left, left)
        step = FIRST if self.used is None else max((self.limit - self.used) // 2, self.limit >> 5)
        return self.left - left + more > step

    def measured(self, used, left):
        self.used, self.left = used, left

    def is_passed(self, more=0):
        return self.used is not None and self.used + more > self.limit


class Bounds:
    """`limits`: `name`, `processes`, and `memory` and `disk` in bytes; `settings`: their names. `folders`: those of the workspace."""

    def __init__(self, limits, folders):
        self.title = limits["name"]
        self.settings = limits["settings"]
        self.processes = limits["processes"]
        self.memory = Gauge(limits["memory"])
        self.disk = Gauge(limits["disk"])
        self.folders = [os.fsencode(folder) for folder in folders]
        self.name = MARK + hashlib.sha256(b"\0".join(self.folders)).hexdigest()[:10].encode()
        self.devices = {}
        for folder in self.folders:
            self.devices.setdefault(os.stat(folder).st_dev, folder)
        self.counted = self.started = 0
        self.counted_at = self.measured_at = time.monotonic()
        self.reported = set()
        self.only_removes = False

    def begin(self, say):
        """In the keeper, before its command is there; `say` tells the command's reader."""
        self.say = say
        self.disk.is_due(self.disk_left())
        self.memory.is_due(memory_left())
        LIBC.prctl(15, self.name)  # PR_SET_NAME

    def is_full(self):
        """Whether the command may only remove files."""
        if self.disk.used is not None and (self.disk.is_passed() or self.disk.is_due(self.disk_left())):
            self.measure_disk()
        self.only_removes = self.disk.is_passed()
        return self.only_removes and self.report("disk", "so this command can only remove files")

    def may_start(self):
        """Until it is time to count, what has ended counts as there."""
        now = time.monotonic()
        is_old = now - self.counted_at >= COUNT_SECONDS
        is_most = self.counted + self.started >= self.processes
        if (is_old and self.started >= self.processes // MAX_COMMANDS) or (is_most and (is_old or self.started > 0)):
            self.counted = sum(row.threads for row, _ in self.rows())
            self.started = 0
            self.counted_at = now
        if self.counted + self.started >= self.processes:
            self.report("processes", "so no more are started")
            return False
        self.started += 1
        return True

    def may_set_aside(self, size):
        if self.disk.is_due(self.disk_left(), size):
            self.measure_disk()
        return not self.disk.is_passed(size) or not self.report("disk", "so no more is set aside")

    def look(self):
        """Whether the command is to end, which has been reported then."""
        left = memory_left()
        if self.memory.is_due(left) or time.monotonic() - self.measured_at > MEASURE_SECONDS:
            own, commands = self.measure_memory(left)
            # One that takes little is not ended for the others.
            if self.memory.is_passed() and own * commands >= self.memory.used:
                return self.report("memory", "so this command was ended")
        if self.only_removes or not self.disk.is_due(self.disk_left()):
            return False
        self.measure_disk()
        return self.disk.is_passed() and self.report("disk", "so this command was ended")

    def report(self, what, so):
        """Once of each."""
        if what not in self.reported:
            self.reported.add(what)
            most = {
                "processes": f"{self.processes} processes and threads",
                "memory": f"{self.memory.limit >> 20} MiB of memory",
                "disk": f"{self.disk.limit >> 20} MiB of disk",
            }[what]
            self.say(f"{self.title}: the commands of this workspace have {most} at most ({self.settings[what]}), {so}\n")
        return True

    def rows(self):
        """Of all that the keepers of this workspace keep, themselves among it, with whether it is this one's."""
        table = process_rows()
        keepers = {}
        for pid in table:
            above = []
            while pid in table and pid not in keepers and pid not in above:
                above.append(pid)
                pid = table[pid].parent
            found = keepers.get(pid)
            for pid in reversed(above):
                found = keepers[pid] = found or (pid if table[pid].name.startswith(MARK) else None)
        mine = os.getpid()
        for pid, found in keepers.items():
            if found is not None and table[found].name == self.name:
                yield table[pid], found == mine

    def measure_memory(self, left):
        """What this keeper's command has of it, and how many commands there are."""
        shared = total = own = keepers = 0
        held = {}
        for row, is_own in self.rows():
            private, common = memory_of(row)
            total += private
            shared += common
            own += private + common if is_own else 0
            keepers += row.name == self.name
            for found in open_files(row.pid):
                if found.st_dev in MEMORY_DEVICES:
                    held[found.st_dev, found.st_ino] = (found.st_blocks * 512, is_own)
        own += sum(size for size, is_own in held.values() if is_own)
        self.memory.measured(total + max(shared, sum(size for size, _ in held.values())), left)
        self.measured_at = time.monotonic()
        return own, keepers

    def disk_left(self):
        left = 0
        for folder in self.devices.values():
            about = os.statvfs(folder)
            left += about.f_bavail * about.f_frsize
        return left

    def measure_disk(self):
        left = self.disk_left()
        seen = {}
        for row, _ in self.rows():
            for found in open_files(row.pid):
                if found.st_nlink == 0 and found.st_dev in self.devices:
                    seen[found.st_dev, found.st_ino] = found.st_blocks * 512
        used = sum(seen.values()) + sum(size_of(folder) for folder in self.folders)
        self.disk.measured(used, left)


class Row:
    def __init__(self, pid, text):
        head, _, tail = text.rpartition(b")")
        fields = tail.split()
        self.pid = pid
        self.name = head.partition(b"(")[2]
        self.parent = int(fields[1])
        self.threads = int(fields[17])
        self.resident = int(fields[21]) * PAGE


def process_rows():
    table = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    table[int(name)] = Row(int(name), file.read())
            except (OSError, IndexError):
                # Ended meanwhile.
                continue
    return table


def memory_of(row):
    """What is its own, and its part of what it shares."""
    try:
        with open(f"/proc/{row.pid}/smaps_rollup", "rb") as file:
            sizes = dict(line.split()[:2] for line in file if line.startswith(b"Pss"))
        common = int(sizes.get(b"Pss_Shmem:", 0)) << 10
        return (int(sizes[b"Pss:"]) << 10) - common, common
    except (OSError, KeyError):
        # Behind another wall, or over.
        return row.resident, 0


def open_files(pid):
    """Regular ones; nothing of what may not be looked at."""
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for name in names:
        try:
            found = os.stat(f"/proc/{pid}/fd/{name}")
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode):
            yield found


def memory_left():
    with open("/proc/meminfo", "rb") as file:
        text = file.read(256)
    return int(text.partition(b"MemAvailable:")[2].split()[0]) << 10


def memory_devices():
    """Of files that are memory, with a name and without."""
    made = os.memfd_create("bound")
    try:
        return {os.fstat(made).st_dev, os.stat("/dev/shm").st_dev}
    except OSError:
        return set()
    finally:
        os.close(made)


MEMORY_DEVICES = memory_devices()


def size_of(folder):
    """Of all below it on its disk; a file of several names counts once."""
    size = 0
    linked = set()
    waiting = [folder]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:
            # Gone meanwhile, or closed by its owner.
            continue
        for entry in entries:
            try:
                about = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if about.st_nlink > 1 and not stat.S_ISDIR(about.st_mode):
                if about.st_ino in linked:
                    continue
                linked.add(about.st_ino)
            size += about.st_blocks * 512
            if stat.S_ISDIR(about.st_mode):
                waiting.append(entry.path)
    return size
