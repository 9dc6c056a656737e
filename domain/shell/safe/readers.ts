/** Programs that read or print, and plain writes inside of the workspace; per option, not per program (SECURITY §2). */
import { optionsOf } from '../options-of.ts';
import { argumentsOf, type ShellCommand } from '../shell-command.ts';
import { jqReadsEnvironment } from '../jq-program.ts';
import type { SafeProgram, SafePrograms } from './safe-program.ts';

const READS: SafeProgram = {};
const PRINTS: SafeProgram = { isText: true };
const PRINTS_ANY: SafeProgram = { isText: true, isOpenSafe: true };

/** `test -v 'a[$(id)]'` evaluates its text: a subscript is not harmless. */
const hasNoSubscript = (command: ShellCommand): boolean =>
  argumentsOf(command).every((word) => !/[[(`$]/.test(word.value) || word.value === '[');

const onlyOption = (allowed: RegExp) => (command: ShellCommand) =>
  argumentsOf(command).every((word) => !word.value.startsWith('-') || allowed.test(word.value));

export const READERS: SafePrograms = new Map<string, SafeProgram>([
  ['ls', READS],
  ['dir', READS],
  ['cat', READS],
  ['tac', READS],
  ['nl', READS],
  ['head', READS],
  ['tail', {}],
  ['wc', { notNames: ['files0-from'] }],
  ['stat', READS],
  ['file', { notLetters: 'Cmf', notNames: ['compile', 'magic-file', 'files-from'] }],
  ['du', { notLetters: 'X', notNames: ['files0-from', 'exclude-from'] }],
  ['df', READS],
  ['tree', { notLetters: 'oR', notNames: ['fromfile', 'gitfile', 'infofile'] }],
  ['cut', READS],
  ['paste', READS],
  ['column', READS],
  ['fold', READS],
  ['fmt', READS],
  ['rev', READS],
  ['comm', READS],
  ['cmp', READS],
  ['diff', { notLetters: 'l', notNames: ['paginate', 'from-file', 'to-file', 'exclude-from'] }],
  ['tr', READS],
  [
    'sort',
    {
      startsPrograms: true,
      notLetters: 'oT',
      notNames: ['output', 'compress-program', 'files0-from', 'temporary-directory', 'random-source'],
    },
  ],
  [
    'uniq',
    { when: (command) => argumentsOf(command).filter((word) => !word.value.startsWith('-')).length < 2 },
  ],
  ['grep', { notLetters: 'fR', notNames: ['file', 'exclude-from', 'dereference-recursive'] }],
  ['egrep', { notLetters: 'fR', notNames: ['file', 'exclude-from', 'dereference-recursive'] }],
  ['fgrep', { notLetters: 'fR', notNames: ['file', 'exclude-from', 'dereference-recursive'] }],
  [
    'rg',
    {
      startsPrograms: true,
      notLetters: 'fLz',
      notNames: ['file', 'follow', 'pre', 'pre-glob', 'hostname-bin', 'search-zip', 'ignore-file'],
    },
  ],
  [
    'jq',
    {
      notLetters: 'fL',
      notNames: ['from-file', 'rawfile', 'slurpfile', 'library-path'],
      when: (command) =>
        !jqReadsEnvironment(command) &&
        argumentsOf(command).every(
          (word) => !/(?<!\.)\b(?:input_filename|import|include)\b/.test(word.value),
        ),
    },
  ],
  ['join', READS],
  ['expand', READS],
  ['unexpand', READS],
  ['shuf', { notLetters: 'o', notNames: ['output', 'random-source'] }],
  ['split', { notNames: ['filter', 'additional-suffix'] }],
  ['iconv', { notLetters: 'o', notNames: ['output'] }],
  ['zgrep', { notLetters: 'fR', notNames: ['file', 'exclude-from', 'dereference-recursive'] }],
  [
    'ag',
    {
      startsPrograms: true,
      notLetters: 'pfuUaz',
      notNames: ['pager', 'path-to-ignore', 'follow', 'unrestricted', 'search-zip', 'hidden', 'all-types'],
    },
  ],
  ['bc', { when: (command) => argumentsOf(command).every((word) => /^-[lqs]+$/.test(word.value)) }],
  ['base64', READS],
  ['base32', READS],
  ['od', READS],
  ['hexdump', { notLetters: 'f' }],
  ['xxd', { notLetters: 'r', when: (command) => optionsOf(command).operands.length < 2 }],
  ['strings', READS],
  ['md5sum', { notLetters: 'c', notNames: ['check'] }],
  ['sha1sum', { notLetters: 'c', notNames: ['check'] }],
  ['sha256sum', { notLetters: 'c', notNames: ['check'] }],
  ['sha512sum', { notLetters: 'c', notNames: ['check'] }],
  ['cksum', { notLetters: 'c', notNames: ['check'] }],
  ['readlink', READS],
  ['realpath', READS],
  ['basename', PRINTS_ANY],
  ['dirname', PRINTS_ANY],
  ['echo', PRINTS_ANY],
  ['printf', { isText: true, when: (command) => argumentsOf(command)[0]?.value.startsWith('-v') !== true }],
  ['seq', PRINTS],
  ['expr', PRINTS],
  ['true', PRINTS_ANY],
  ['false', PRINTS_ANY],
  [':', PRINTS_ANY],
  ['pwd', READS],
  ['cd', { when: (command) => staysBelow(command) }],
  ['pushd', { when: (command) => staysBelow(command) }],
  ['sleep', PRINTS],
  ['date', { notLetters: 'sfr', notNames: ['set', 'file', 'reference'], isText: true }],
  ['cal', READS],
  ['whoami', READS],
  ['uname', READS],
  ['locale', PRINTS],
  ['getconf', PRINTS],
  ['lscpu', PRINTS],
  ['tput', { when: (command) => /^(?:cols|lines|colors)$/.test(argumentsOf(command)[0]?.value ?? '') }],
  [
    'lsof',
    {
      when: (command) =>
        argumentsOf(command).every((word) => /^-(?:i\S*|P|n|t|iTCP)$|^:\d+$/.test(word.value)),
    },
  ],
  ['ss', { when: (command) => argumentsOf(command).every((word) => /^-[ltnpua4]+$/.test(word.value)) }],
  ['arch', READS],
  ['nproc', READS],
  ['uptime', READS],
  ['hostname', { when: (command) => command.words.length === 1 }],
  [
    'ps',
    {
      when: (command) =>
        command.words.length === 1 ||
        (/^(?:-ef?|-A|aux?|-aux?|-o)$/.test(command.words[1]?.value ?? '') && command.words.length === 2),
    },
  ],
  ['free', READS],
  ['which', PRINTS],
  ['type', PRINTS],
  ['hash', { when: (command) => command.words.length === 1 }],
  ['test', { when: hasNoSubscript }],
  ['[', { when: hasNoSubscript }],
  ['exit', PRINTS],
  ['return', PRINTS],
  ['break', PRINTS],
  ['continue', PRINTS],
  ['shift', PRINTS],
  ['wait', READS],
  ['jobs', READS],
  [
    'set',
    {
      when: (command) =>
        argumentsOf(command).length > 0 &&
        argumentsOf(command).every((word) =>
          /^[-+][euxfC]*o?$|^pipefail$|^errexit$|^nounset$|^xtrace$/.test(word.value),
        ),
    },
  ],
  ['read', { when: (command) => readsNames(command) }],
  ['history', { when: (command) => command.words.length === 1 }],
  ['export', { isText: true, when: onlyOption(/^$/) }],
  ['mkdir', READS],
  ['touch', READS],
  ['cp', { notLetters: 'lsLHS', notNames: ['link', 'symbolic-link', 'suffix', 'backup'] }],
  ['mv', { notLetters: 'S', notNames: ['suffix', 'backup'] }],
  ['tee', READS],
  ['mktemp', { when: (command) => argumentsOf(command).every((word) => word.value === '-d') }],
  ['chmod', { notNames: ['reference'], when: (command) => isHarmlessMode(modeOf(command)) }],
  [
    'ln',
    {
      notLetters: 'tTLdF',
      notNames: ['target-directory', 'no-target-directory', 'logical', 'directory', 'backup', 'suffix'],
      when: (command) => isLinkInside(command),
    },
  ],
]);

/** `read 'a[$(id)]'` would evaluate a subscript, and names in capitals steer programs. */
function readsNames(command: ShellCommand): boolean {
  return argumentsOf(command).every(
    (word, at, all) =>
      /^-[rs]+$|^-[rs]*[ndtp]$|^[a-z_]\w*$|^REPLY$/.test(word.value) ||
      /^-[rs]*[ndtp]$/.test(all[at - 1]?.value ?? ''),
  );
}

function modeOf(command: ShellCommand): string {
  const args = argumentsOf(command).map((word) => word.value);
  return args.find((arg) => !/^-(?:R|v|c|f|-.*)$/.test(arg)) ?? '';
}

/** Nothing that others may write to or that becomes its owner. */
function isHarmlessMode(mode: string): boolean {
  if (/^0?[0-7]{3}$/.test(mode)) return /[0145]$/.test(mode);
  return mode
    .split(',')
    .every((part) => /^(?:[ugo]*[-+=][rxX]*|u?[-+=][rwxX]*|[ugoa]*-[rwxX]*|a[+=][rxX]*)$/.test(part));
}

/** A symbolic link to what is below the folder that it is in, so that it leads to no other place than its own text says. */
function isLinkInside(command: ShellCommand): boolean {
  const { letters, names, operands } = optionsOf(command);
  const isSymbolic = letters.has('s') || names.includes('symbolic');
  const hasHidden = operands.some((word) => /(?:^|\/)\./.test(word.value));
  return isSymbolic && operands.length === 2 && !hasHidden;
}

/** `cd` without a folder goes home, `cd -` anywhere. */
function staysBelow(command: ShellCommand): boolean {
  const folders = argumentsOf(command);
  return folders.length === 1 && !/^[-+]/.test(folders[0]?.value ?? '-');
}
