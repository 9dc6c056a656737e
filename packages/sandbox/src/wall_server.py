"""
Starts programs for a worker (launcher.ts), each with a keeper. Commands with the same folders share a wall within the outer one and a
process that stands behind it and forks them: to enter one copies all the rules of the outer, some 20 ms. One that is to be `apart`, which has
values that others must not see, has a wall to itself.
"""

import errno
import json
import os
import resource
import select
import signal
import socket
import struct
import time

import wall_keeper as keeper
from wall_bounds import Bounds

# What a keeper says: that its command runs (errno 0), that it did not start, that it ended, or what disk was used when it was
# measured; a number, and the start in clock ticks or the bytes.
WORD = struct.Struct("=iiQ")
STARTED, FAILED, ENDED, MEASURED = 1, 2, 3, 4

# Processes behind inner walls, some MB each; a command can stop its own, which then has not answered for so many seconds.
MAX_HOSTS, ANSWER_SECONDS = 16, 10


class Server:
    def __init__(self, channel, path, limits):
        self.channel = channel
        self.path = path
        self.limits = limits
        self.bounds = {}
        self.keepers = {}
        self.pending = b""

    def send(self, **words):
        self.channel.sendall((json.dumps(words) + "\n").encode())

    def serve(self):
        """Until the other end of the channel is closed. Keepers end with this process, and with them their commands."""
        keeper.adopt()
        keeper.prctl(4, 0)  # PR_SET_DUMPABLE: commands must not look in here.
        # Handled, not ignored: that would be inherited. Ctrl-C reaches the whole group; the worker decides when its commands end.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, lambda *_: None)
        while True:
            patience = self.patience()
            ready, _, _ = select.select([self.channel, *self.sources()], [], [], patience)
            for source in ready:
                if source is not self.channel:
                    self.receive(source)
            if self.channel in ready:
                lines, self.pending = received(self.channel, self.pending)
                if lines is None:
                    return
                for line in lines:
                    self.start(json.loads(line))

    def sources(self):
        return self.keepers

    def patience(self):
        return None

    def start(self, request):
        """Behind the wall that this process stands behind."""
        self.keep(request, None)

    def keep(self, request, inner):
        try:
            bounds = self.bounds_of(request["folders"])
            status, pid = start_keeper(request, self.path, inner, bounds)
            self.keepers[status] = {
                "id": request["id"],
                "keeper": pid,
                "file": request["file"],
                "reported": False,
                "bounds": bounds,
            }
        except OSError as error:
            self.send(id=request["id"], failed=words_of(request["file"], error.errno))

    def bounds_of(self, folders):
        """As the last command left them."""
        key = tuple(folders)
        if len(self.bounds) >= MAX_HOSTS and key not in self.bounds:
            del self.bounds[next(iter(self.bounds))]
        return self.bounds.setdefault(key, Bounds(self.limits, folders))

    def receive(self, status):
        one = self.keepers[status]
        word = os.read(status, WORD.size)
        if word == b"":
            os.close(status)
            del self.keepers[status]
            if not one["reported"]:
                # It was killed, and nobody knows how its command ends.
                self.send(id=one["id"], code=None, signal=None)
            self.bury(one["keeper"])
            return
        kind, value, since = WORD.unpack(word)
        if kind == STARTED:
            self.send(id=one["id"], pid=value, since=since, keeper=one["keeper"])
            return
        if kind == MEASURED:
            one["bounds"].disk.measured(since, one["bounds"].disk_left())
            return
        one["reported"] = True
        if kind == FAILED:
            self.send(id=one["id"], failed=words_of(one["file"], value))
            return
        code = os.waitstatus_to_exitcode(value)
        name = signal.Signals(-code).name if code < 0 else None
        self.send(id=one["id"], code=code if code >= 0 else None, signal=name)

    def own(self):
        return {one["keeper"] for one in self.keepers.values()}

    def bury(self, ended):
        """Waits for one that ends, and ends what it leaves, which comes here where it was killed."""
        os.waitpid(ended, 0)
        while left := [pid for pid in keeper.children() if pid not in self.own()]:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


class Launcher(Server):
    """`wall_of`: the wall of a command, by its folders."""

    def __init__(self, channel, path, limits, wall_of):
        super().__init__(channel, path, limits)
        self.wall_of = wall_of
        self.hosts = {}

    def sources(self):
        return [*self.keepers, *self.hosts]

    def own(self):
        return super().own() | {host["pid"] for host in self.hosts.values()}

    def start(self, request):
        if request.get("apart"):
            self.keep(request, self.wall_of(request["folders"]))
            return
        way = self.host_of(tuple(request["folders"]))
        host = self.hosts[way]
        host["running"].add(request["id"])
        host["unanswered"].setdefault(request["id"], time.monotonic())
        # The order of the table is that of their last use.
        self.hosts[way] = self.hosts.pop(way)
        way.sendall((json.dumps(request) + "\n").encode())

    def host_of(self, folders):
        found = next((way for way, host in self.hosts.items() if host["folders"] == folders), None)
        if found is not None:
            return found
        idle = [way for way, host in self.hosts.items() if not host["running"]]
        for way in idle[: max(0, len(self.hosts) + 1 - MAX_HOSTS)]:
            self.leave(way)
        ours, theirs = socket.socketpair()
        wall = self.wall_of(list(folders))
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                become_host(theirs.detach(), wall, self.path, self.limits, parent)
            finally:
                os._exit(0)
        theirs.close()
        self.hosts[ours] = {"folders": folders, "pid": pid, "running": set(), "unanswered": {}, "pending": b""}
        return ours

    def patience(self):
        since = time.monotonic() - ANSWER_SECONDS
        for way in [way for way, host in self.hosts.items() if any(at < since for at in host["unanswered"].values())]:
            self.leave(way)
        return 1 if any(host["unanswered"] for host in self.hosts.values()) else None

    def leave(self, way):
        host = self.hosts.pop(way)
        way.close()
        os.kill(host["pid"], signal.SIGKILL)
        for one in host["running"]:
            self.send(id=one, code=None, signal=None)
        self.bury(host["pid"])

    def receive(self, source):
        if source not in self.hosts:
            if source in self.keepers:
                super().receive(source)
            return
        host = self.hosts[source]
        lines, host["pending"] = received(source, host["pending"])
        if lines is None:
            self.leave(source)
            return
        for line in lines:
            message = json.loads(line)
            host["unanswered"].pop(message["id"], None)
            if "code" in message or "failed" in message:
                host["running"].discard(message["id"])
            self.send(**message)


def received(channel, pending):
    """Whole lines, and what is left; None for lines when the other end is closed."""
    try:
        data = channel.recv(1 << 16)
    except ConnectionError:
        data = b""
    if data == b"":
        return None, b""
    *lines, pending = (pending + data).split(b"\n")
    return lines, pending


def become_host(channel, wall, path, limits, parent):
    os.dup2(channel, 100, inheritable=False)
    os.dup2(wall.fd, 101, inheritable=False)
    os.closerange(3, 100)
    os.closerange(102, 65536)
    wall.fd = 101
    keeper.prctl(keeper.SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return
    wall.enter()
    server = Server(socket.socket(fileno=100), path, limits)
    server.serve()


def words_of(file, number):
    return f"{file}: {os.strerror(number)} {errno.errorcode.get(number, '')}"


def as_bytes(text):
    return text.encode("utf-8", "replace")


def start_keeper(request, path, inner, bounds):
    status, say = os.pipe()
    outputs = [output(path, request["id"], which) for which in (1, 2)]
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            # Nothing of the others: a descriptor that stays open here would hide that its owner has ended.
            descriptors = [say, *(each.detach() for each in outputs), *([] if inner is None else [inner.fd])]
            for number, each in enumerate(descriptors, 100):
                os.dup2(each, number, inheritable=False)
            os.closerange(3, 100)
            os.closerange(100 + len(descriptors), 65536)
            if inner is not None:
                inner.fd = 103
            run_keeper(request, inner, bounds, parent)
        finally:
            os._exit(0)
    os.close(say)
    for each in outputs:
        each.close()
    return status, pid


def run_keeper(request, inner, bounds, parent):
    # No session of its own: one that was stopped goes on when the last process outside of its group is gone.
    os.setpgid(0, 0)
    keeper.adopt()
    keeper.prctl(keeper.SET_PDEATHSIG, signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, lambda *_: os._exit(0))
    if os.getppid() != parent:
        return
    say = lambda kind, value, since=0: os.write(100, WORD.pack(kind, value, since))
    bounds.begin(lambda text: keeper.write(102, text))
    is_full = bounds.is_full()

    def enter():
        os.setsid()
        os.chdir(as_bytes(request["cwd"]))
        here = os.stat(".")
        if f"{here.st_dev}.{here.st_ino}" != request["folder"]:
            # Another folder has taken the place of the one that was checked.
            raise OSError(errno.ENOENT, "")
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(101, 1)
        os.dup2(102, 2)
        if is_full:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        if inner is not None:
            inner.enter()

    def become():
        arguments = [as_bytes(each) for each in (request["file"], *request["args"])]
        environment = {as_bytes(name): as_bytes(value) for name, value in request["env"].items()}
        os.execvpe(arguments[0], arguments, environment)

    try:
        pid, listener = keeper.start(enter, become)
    except OSError as error:
        say(FAILED, error.errno or errno.EIO)
        return
    os.close(101)
    with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
        since = int(file.read().rpartition(")")[2].split()[19])
    say(STARTED, pid, since)

    def on_end(status):
        # What reads it waits for its end.
        os.close(102)
        if bounds.disk.used is not None:
            say(MEASURED, 0, bounds.disk.used)
        say(ENDED, status)

    keeper.keep(pid, listener, bounds, on_end)


def output(path, name, which):
    """A way to the worker, its header sent: the rest is the command's."""
    made = socket.socket(socket.AF_UNIX)
    made.connect(path)
    made.sendall(f"{name}{which}".encode())
    return made
