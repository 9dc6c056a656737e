/**
 * The seccomp program of a sandbox without a container: the system calls that its commands may not make, as in the
 * engine's default profile for containers. It is a classic BPF program as bytes, for bubblewrap's `--seccomp`. Refused
 * calls fail with EPERM, so that programs continue without them.
 */

export type FilterArch = 'x64' | 'arm64';

/** Numbers of <asm/unistd.h>: on x64, and on arm64 (the generic table). Those from 424 on are the same everywhere. */
const REFUSED: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  // Other namespaces and mounts give access to more of the kernel than a command needs.
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_by_handle_at: [304, 265],
  // The kernel's keyrings belong to no namespace.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // Memory and descriptors of other processes.
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  // Parts of the kernel that contain most of its vulnerabilities.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  // State of the whole machine.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
};

const NUMBERS = {
  x64: { arch: 0xc000003e, clone: 56, clone3: 435, unshare: 272, ptrace: 101, ioctl: 16 },
  arm64: { arch: 0xc00000b7, clone: 220, clone3: 435, unshare: 97, ptrace: 117, ioctl: 29 },
} as const;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NEW_NAMESPACES = 0x7e020000;
/** For unshare only: in clone this bit is part of the signal. */
const CLONE_NEWTIME = 0x80;
/** PTRACE_ATTACH, PTRACE_SEIZE: tracing of a process that has not requested it. */
const ATTACHES = [16, 0x4206];
/** TIOCSTI, TIOCLINUX: text put into a terminal as if somebody had typed it. */
const TYPES = [0x5412, 0x541c];
/** Calls of the x32 ABI, which have other numbers. */
const X32_BIT = 0x40000000;

const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
/**
 * The answer of a kernel without clone3: its flags are in memory, which no filter can read, and C libraries then use
 * clone.
 */
const ENOSYS = 0x00050026;

/** Offsets in struct seccomp_data; for arguments, of the lower half. */
const NR = 0;
const ARCH = 4;
const argument = (index: number): number => 16 + 8 * index;

const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_GREATER_EQUAL = 0x35;
const IF_ANY_BIT = 0x45;
const RETURN = 0x06;

type Instruction = readonly [code: number, onTrue: number, onFalse: number, value: number];

const result = (value: number): Instruction => [RETURN, 0, 0, value];
/** Returns `value` when the test is true; otherwise continues after it. */
const when = (test: number, value: number, outcome: number): Instruction[] => [
  [test, 0, 1, value],
  result(outcome),
];

/** Refuses one system call with such an argument; the number is loaded again afterwards. */
function refuseWith(nr: number, index: number, tests: readonly Instruction[]): Instruction[] {
  const body: Instruction[] = [[LOAD, 0, 0, argument(index)], ...tests, [LOAD, 0, 0, NR]];
  return [[IF_EQUAL, 0, body.length, nr], ...body];
}

/** `struct sock_filter[]`, little endian, like both architectures. */
export function seccompFilter(arch: FilterArch): Buffer {
  const own = NUMBERS[arch];
  const program: readonly Instruction[] = [
    [LOAD, 0, 0, ARCH],
    [IF_EQUAL, 1, 0, own.arch],
    result(EPERM),
    [LOAD, 0, 0, NR],
    ...(arch === 'x64' ? when(IF_GREATER_EQUAL, X32_BIT, EPERM) : []),
    ...when(IF_EQUAL, own.clone3, ENOSYS),
    ...Object.values(REFUSED).flatMap(([x64, arm64]) => when(IF_EQUAL, arch === 'x64' ? x64 : arm64, EPERM)),
    ...refuseWith(own.clone, 0, when(IF_ANY_BIT, NEW_NAMESPACES, EPERM)),
    ...refuseWith(own.unshare, 0, when(IF_ANY_BIT, NEW_NAMESPACES | CLONE_NEWTIME, EPERM)),
    ...refuseWith(
      own.ptrace,
      0,
      ATTACHES.flatMap((request) => when(IF_EQUAL, request, EPERM)),
    ),
    ...refuseWith(
      own.ioctl,
      1,
      TYPES.flatMap((request) => when(IF_EQUAL, request, EPERM)),
    ),
    result(ALLOW),
  ];
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, onTrue, onFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(onTrue, index * 8 + 2);
    bytes.writeUInt8(onFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  });
  return bytes;
}

/** The number of a refused call, for a test of it. */
export function refusedNumber(name: string, arch: FilterArch): number | undefined {
  const row = REFUSED[name];
  return row && (arch === 'x64' ? row[0] : row[1]);
}
