/**
 * The alternative to a container: bubblewrap's namespaces around one command. It sees the system's programs, the
 * workspace at its path, and nothing else of the host. `boxBounds` (boxed-shell.ts) limits memory and processes.
 */
import { execFile } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shellProgram } from './shell.ts';
import { makeTemporaryFolder } from './worker-folders.ts';
import { type FilterArch, seccompFilter } from './seccomp-filter.ts';
import { type BoxSettings, MOUNT } from './settings/settings.ts';

export interface Bubblewrap {
  /** Whether it works here; checked once. Never throws. */
  works(): Promise<boolean>;
  /**
   * The arguments before the command's shell. `inside` is the start folder, relative to the workspace; `more` are
   * further options of bubblewrap, such as other folders to show. Only where it works.
   */
  prefix(
    workspace: string,
    inside: string,
    sandbox: BoxSettings,
    more?: readonly string[],
  ): Promise<readonly string[]>;
}

/** Files that the dynamic linker, names of hosts and users, time and certificates need; no keys, no passwords. */
const ETC = [
  'alternatives',
  'ca-certificates',
  'group',
  'hosts',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'mime.types',
  'nsswitch.conf',
  'os-release',
  'passwd',
  'pki',
  'protocols',
  'resolv.conf',
  'services',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
];
const PROGRAMS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];
const TRY_MS = 5_000;
/**
 * These come after the last mount: nothing can be added beside what is shown. They include /proc. If the worker is
 * root, the kernel's settings there would belong to the command's user, and no capability is needed to change them.
 */
const CLOSED = ['--remount-ro', '/proc', '--remount-ro', '/'];

/** Versions before 0.8 do not have it; then the filter alone refuses new namespaces. */
const NO_NAMESPACES = ['--unshare-user', '--disable-userns'];
/** A folder in memory, whose size older versions cannot limit. */
const tmpfs = (options: readonly string[], { memoryBytes }: Pick<BoxSettings, 'memoryBytes'>): string[] => [
  ...(options.length > 0 ? ['--size', String(Math.floor(memoryBytes / 4))] : []),
  '--tmpfs',
];

/**
 * Closes inherited descriptors: the kernel closes those that we opened ourselves. Shells other than bash can name only
 * descriptors up to 9. $0 is the filter, which can only be passed as a descriptor.
 */
const START = `for fd in /proc/self/fd/*; do
  fd=\${fd##*/}
  case $fd in 0 | 1 | 2) ;; ?) eval "exec $fd>&-" ;; *) [ -z "$BASH_VERSION" ] || eval "exec $fd>&-" ;; esac
done
exec "$@" 3<"$0"`;

/** `folders` are those of PATH. */
export function createBubblewrap(folders: readonly string[]): Bubblewrap {
  const filter = createFilterFile();
  const begin = (more: readonly string[]): readonly string[] => [
    shellProgram(),
    '-c',
    START,
    ...(isKnown(process.arch) ? [filter(process.arch), 'bwrap', '--seccomp', '3'] : ['/dev/null', 'bwrap']),
    ...more,
  ];
  // The options that work here.
  let known: Promise<readonly string[] | undefined> | undefined;
  const probe = (): Promise<readonly string[] | undefined> => {
    known ??= folders.some((folder) => existsSync(`${folder}/bwrap`))
      ? tried(begin)
      : Promise.resolve(undefined);
    return known;
  };
  return {
    works: async () => (await probe()) !== undefined,
    prefix: async (workspace, inside, sandbox, more = []) => {
      const options = (await probe()) ?? [];
      const memory = tmpfs(options, sandbox);
      return begin([...options, ...bubblewrapArguments(workspace, inside, { ...sandbox, memory }, more)]);
    },
  };
}

/** The kernel or its settings may forbid it although the program exists. */
async function tried(
  begin: (more: readonly string[]) => readonly string[],
): Promise<readonly string[] | undefined> {
  for (const options of [NO_NAMESPACES, []]) {
    const box = boxArguments({ network: false, memory: tmpfs(options, { memoryBytes: 2 ** 24 }) });
    const all = [...options, ...box, ...CLOSED, '/bin/sh', '-c', 'exit 0'];
    const [program = '', ...args] = begin(all);
    const works = await new Promise<boolean>((resolve) => {
      execFile(program, args, { timeout: TRY_MS }, (error) => resolve(error === null));
    });
    if (works) return options;
  }
  return undefined;
}

/** There is no filter for other architectures. */
function isKnown(arch: string): arch is FilterArch {
  return arch === 'x64' || arch === 'arm64';
}

/**
 * Path of the filter's file, private to this process and created again when it is gone, because old files in /tmp may
 * be removed.
 */
function createFilterFile(): (arch: FilterArch) => string {
  let file: string | undefined;
  return (arch) => {
    if (file !== undefined && existsSync(file)) return file;
    const made = join(makeTemporaryFolder('filter'), 'seccomp.bpf');
    writeFileSync(made, seccompFilter(arch), { mode: 0o400 });
    process.once('exit', () => rmSync(dirname(made), { recursive: true, force: true }));
    file = made;
    return made;
  };
}

function bubblewrapArguments(
  workspace: string,
  inside: string,
  sandbox: Pick<BoxSettings, 'workspace'> & BoxArguments,
  more: readonly string[],
): readonly string[] {
  const mount =
    sandbox.workspace === 'none'
      ? [...sandbox.memory, MOUNT]
      : [sandbox.workspace === 'ro' ? '--ro-bind' : '--bind', workspace, MOUNT];
  const start = inside === '' ? MOUNT : `${MOUNT}/${inside}`;
  const variables = ['HOME', 'TMPDIR'].flatMap((name) => ['--setenv', name, '/tmp']);
  return [
    ...boxArguments(sandbox),
    ...mount,
    ...more,
    ...CLOSED,
    ...variables,
    '--setenv',
    'PWD',
    start,
    '--chdir',
    start,
    '--',
  ];
}

interface BoxArguments extends Pick<BoxSettings, 'network'> {
  /** Options before the path of a folder in memory. */
  readonly memory: readonly string[];
}

function boxArguments({ network, memory }: BoxArguments): string[] {
  return [
    '--unshare-all',
    ...(network ? ['--share-net'] : []),
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    '--hostname',
    'sandbox',
    '--ro-bind',
    '/usr',
    '/usr',
    ...PROGRAMS.flatMap((name) => ['--ro-bind-try', `/${name}`, `/${name}`]),
    ...ETC.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    ...memory,
    '/tmp',
  ];
}
