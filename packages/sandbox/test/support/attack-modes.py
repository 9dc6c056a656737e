"""All calls that change what a file is, of the paths that it is given: what was done; then of a file of its own."""

import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
done = []
def attempt(name, act):
    try:
        if act() in (None, 0): done.append(name)
    except PermissionError: pass
def all_of(path):
    me = os.getuid()
    attempt('chmod', lambda: os.chmod(path, 0o644))
    attempt('chmod of a link', lambda: (os.path.lexists('link') and os.unlink('link'), os.symlink(path, 'link'), os.chmod('link', 0o644))[2])
    attempt('chmod by a relative path', lambda: os.chmod(os.path.relpath(path), 0o644))
    attempt('chmod by /proc/self/root', lambda: os.chmod('/proc/self/root' + path, 0o644))
    fd = os.open(path, os.O_PATH)
    attempt('chmod of a descriptor', lambda: os.chmod(f'/proc/self/fd/{fd}', 0o644))
    attempt('chmod of /dev/fd', lambda: os.chmod(f'/dev/fd/{fd}', 0o644))
    attempt('fchmodat', lambda: os.chmod(os.path.basename(path), 0o644, dir_fd=os.open(os.path.dirname(path), os.O_PATH)))
    attempt('chown', lambda: os.chown(path, me, -1))
    attempt('lchown', lambda: os.lchown(path, me, -1))
    attempt('fchownat', lambda: libc.fchownat(fd, b'', me, -1, 0x1000) and (_ for _ in ()).throw(PermissionError()))
    attempt('utime', lambda: os.utime(path, (1, 1)))
    attempt('utime now', lambda: os.utime(path))
    attempt('setxattr', lambda: os.setxattr(path, 'user.attack', b'x'))
    attempt('removexattr', lambda: os.removexattr(path, 'user.attack'))
for path in sys.argv[1:]: all_of(path)
print('others', done)
with open('mine', 'w') as file:
    os.fchmod(file.fileno(), 0o640)
    os.utime(file.fileno(), ns=(1_500_000_001, 2_500_000_002))
    os.setxattr('mine', 'user.note', b'kept')
    os.fchown(file.fileno(), os.getuid(), os.getgid())
found = os.stat('mine')
whole = found.st_mode & 0o777 == 0o640 and found.st_mtime_ns == 2_500_000_002 and os.getxattr('mine', 'user.note') == b'kept'
os.removexattr('mine', 'user.note')
print('own', 'whole' if whole and os.listxattr('mine') == [] else [found, os.listxattr('mine')])
