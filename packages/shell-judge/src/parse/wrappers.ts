/** Programs that start another program, which their own arguments name. */
import { byWord } from '../by-word.ts';

export interface Wrapper {
  /** Letters of options with a value. */
  readonly letters?: string;
  /** Long options with a value in the next word. */
  readonly names?: readonly string[];
  /** Operands before the command: `timeout 5 ls` has one. */
  readonly operands?: number;
  /** `NAME=value` words before the command. */
  readonly takesAssignments?: boolean;
  /** With these of its own options, starting a harmless command stays harmless; in the notation of known-options. */
  readonly harmlessWith?: string;
  /** It adds words to the command that are still unknown. */
  readonly isOpen?: boolean;
  /** It passes the words, joined by spaces, to a shell. */
  readonly joins?: boolean;
}

export const WRAPPERS = byWord<Wrapper>({
  env: { letters: 'uCS', names: ['unset', 'chdir'], takesAssignments: true, harmlessWith: '0v' },
  'nohup builtin': { harmlessWith: '' },
  time: { letters: 'fo', harmlessWith: 'pv' },
  command: { harmlessWith: 'vV' },
  nice: { letters: 'n', names: ['adjustment'], harmlessWith: '#n: --adjustment' },
  ionice: { letters: 'cnpPu', harmlessWith: 'c:n:t' },
  timeout: {
    letters: 'ks',
    names: ['kill-after', 'signal'],
    operands: 1,
    harmlessWith: 'vk:s: --foreground --kill-after --preserve-status --signal --verbose',
  },
  gtimeout: { letters: 'ks', operands: 1, harmlessWith: 'vk:s:' },
  stdbuf: { letters: 'ioe', harmlessWith: 'i:o:e: --error --input --output' },
  // It starts what the project has installed; its rules decide about what it may fetch instead.
  npx: { letters: 'pc', names: ['package', 'call'], harmlessWith: '--no --no-install' },
  'poetry pipenv bundle': { letters: 'CP', names: ['directory', 'project'], operands: 1, harmlessWith: '' },
  'pnpm yarn': { letters: 'CF', names: ['cwd', 'dir', 'filter'], operands: 1 },
  'cross-env': { takesAssignments: true },
  direnv: { operands: 2 },
  'concurrently watchexec': { letters: 'cefinsw', joins: true },
  hyperfine: { letters: 'wmMrpcsnLDu', joins: true },
  exec: { letters: 'a' },
  jobs: {},
  xargs: { letters: 'adEILnPs', isOpen: true },
  parallel: { letters: 'jSaINnL', isOpen: true, joins: true },
  sudo: {
    letters: 'ughpCrtTUDR',
    names: ['user', 'group', 'host', 'prompt', 'chdir'],
    takesAssignments: true,
  },
  doas: { letters: 'uC' },
  runuser: { letters: 'ugG', operands: 1 },
  'gosu su-exec chroot taskset': { operands: 1 },
  pkexec: { names: ['user'] },
  unshare: { letters: 'RSGw' },
  nsenter: { letters: 'tSG' },
  chrt: { letters: 'TPD', operands: 1 },
  prlimit: { letters: 'po' },
  run0: { letters: 'ugD', names: ['user', 'group', 'chdir'] },
  numactl: { letters: 'mNCp' },
  'strace ltrace': { letters: 'oepsau' },
  watch: { letters: 'n', names: ['interval'], joins: true },
  flock: { letters: 'wE', operands: 1 },
  ssh: { letters: 'bcDEeFIiJLlmOopQRSWw', operands: 1, joins: true },
  fakeroot: { letters: 'lfsib' },
  proot: { letters: 'rbqwk' },
  'proxychains proxychains4': { letters: 'f' },
  'systemd-run': { letters: 'puMHEd' },
  caffeinate: { letters: 'tw' },
  'ld-linux-x86-64.so.2': { names: ['library-path', 'preload'] },
  'setsid setpriv busybox toybox unbuffer firejail torsocks dbus-run-session rlwrap entr ld.so': {},
});

/** For wrappers with other functions: the first argument with which they start a program. */
export const STARTING_ARGUMENT: ReadonlyMap<string, RegExp> = new Map([
  ['poetry', /^run$/],
  ['pipenv', /^run$/],
  ['bundle', /^exec$/],
  ['pnpm', /^exec$/],
  ['yarn', /^exec$/],
  ['direnv', /^exec$/],
  ['command', /^(?!-p?[vV])/],
  ['jobs', /^-\w*x/],
]);

/** Options after which a word is a script for a shell. */
export const SCRIPT_OPTIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ['env', ['-S', '--split-string']],
  ['su', ['-c', '--command', '--session-command']],
  ['runuser', ['-c', '--command']],
  ['flock', ['-c', '--command']],
  ['script', ['-c', '--command']],
  ['npx', ['-c', '--call']],
  ['npm', ['-c', '--call']],
  ['setarch', ['-c']],
  ['screen', ['-X']],
  ['nodemon', ['-x', '--exec']],
  ['nix-shell', ['--run', '--command']],
  ['mapfile', ['-C']],
  ['readarray', ['-C']],
  ['compgen', ['-C']],
  ['complete', ['-C']],
]);

export const SHELLS = new Set('sh bash dash zsh ksh mksh ash fish csh tcsh rbash yash'.split(' '));

/** Languages that run code from an argument or from their input. */
export const INTERPRETERS =
  /^(python[\d.]*|pypy\d*|perl[\d.]*|ruby[\d.]*|irb|node|nodejs|deno|bun|php[\d.]*|lua[\d.]*|luajit|tclsh|expect|osascript|pwsh|powershell|rscript|r|julia|groovy|scala|ghci?|racket|guile|elixir|erl|swift|tsx|ts-node|gdb)$/;
