/**
 * The second choice to a container: bubblewrap's namespaces around one command. The system's programs are seen, the
 * workspace at its place, and nothing else of the host; there is no limit on memory or processes beyond the host's own.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { MOUNT, type Sandbox } from '#domain/sandbox.ts';

export interface Bubblewrap {
  /** Whether a box can be made with it here; found out once. Never throws. */
  works(): Promise<boolean>;
}

/** What the dynamic linker, names of hosts and users, time and certificates need; no keys, no passwords. */
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
 * After the last mount: nothing can be added beside what is shown. /proc too, since under a worker that is root the
 * kernel's own settings in it belong to whom the command runs as, and no capability is asked for.
 */
const CLOSED = ['--remount-ro', '/proc', '--remount-ro', '/'];

/** `folders` are those of PATH. */
export function createBubblewrap(folders: readonly string[]): Bubblewrap {
  let known: Promise<boolean> | undefined;
  return {
    works() {
      known ??= folders.some((folder) => existsSync(`${folder}/bwrap`)) ? tried() : Promise.resolve(false);
      return known;
    },
  };
}

/** The kernel or its settings may forbid it although the program is there. */
function tried(): Promise<boolean> {
  const args = [...boxArguments({ network: false }), ...CLOSED, '/bin/sh', '-c', 'exit 0'];
  return new Promise((resolve) => {
    execFile('bwrap', args, { timeout: TRY_MS }, (error) => resolve(error === null));
  });
}

/** What comes before the command's shell: `inside` is the folder to start in, from the workspace. */
export function bubblewrapPrefix(workspace: string, inside: string, sandbox: Sandbox): readonly string[] {
  const mount =
    sandbox.workspace === 'none'
      ? ['--tmpfs', MOUNT]
      : [sandbox.workspace === 'ro' ? '--ro-bind' : '--bind', workspace, MOUNT];
  const start = inside === '' ? MOUNT : `${MOUNT}/${inside}`;
  const variables = ['HOME', 'TMPDIR'].flatMap((name) => ['--setenv', name, '/tmp']);
  return [
    'bwrap',
    ...boxArguments(sandbox),
    ...mount,
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

function boxArguments({ network }: Pick<Sandbox, 'network'>): string[] {
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
    '--tmpfs',
    '/tmp',
  ];
}
