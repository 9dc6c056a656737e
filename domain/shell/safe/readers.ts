/** Programs that read or print, and plain writes inside of the workspace; per option, not per program (SECURITY §2). */
import { optionsOf } from '../options-of.ts';
import { argumentsOf, type ShellCommand } from '../shell-command.ts';
import { jqReadsEnvironment } from '../jq-program.ts';
import { firstIs, isAlone, onlyOptions, onlyWords, safePrograms, valuesOf } from './safe-program.ts';

/** `test -v 'a[$(id)]'` evaluates its text: a subscript is not harmless. */
const hasNoSubscript = onlyWords(/^(?:\[|[^[(`$]*)$/);

export const READERS = safePrograms({
  'ls dir cat tac nl head tail stat df cut paste column fold fmt rev comm cmp tr join expand unexpand': {},
  'base64 base32 od strings readlink realpath': {},
  'pwd cal whoami uname arch nproc uptime free wait jobs': {},
  'mkdir touch tee': {},
  'seq expr sleep locale getconf lscpu which type exit return break continue shift': { isText: true },
  'basename dirname echo true false :': { isText: true, isOpenSafe: true },
  'hostname hash history': { when: isAlone },
  wc: { notNames: 'files0-from' },
  file: { notLetters: 'Cmf', notNames: 'compile magic-file files-from' },
  du: { notLetters: 'X', notNames: 'files0-from exclude-from' },
  tree: { notLetters: 'oR', notNames: 'fromfile gitfile infofile' },
  diff: { notLetters: 'l', notNames: 'paginate from-file to-file exclude-from' },
  sort: {
    startsPrograms: true,
    notLetters: 'oT',
    notNames: 'output compress-program files0-from temporary-directory random-source',
  },
  uniq: { when: (command) => valuesOf(command).filter((value) => !value.startsWith('-')).length < 2 },
  'grep egrep fgrep zgrep': { notLetters: 'fR', notNames: 'file exclude-from dereference-recursive' },
  rg: {
    startsPrograms: true,
    notLetters: 'fLz',
    notNames: 'file follow pre pre-glob hostname-bin search-zip ignore-file',
  },
  ag: {
    startsPrograms: true,
    notLetters: 'pfuUaz',
    notNames: 'pager path-to-ignore follow unrestricted search-zip hidden all-types',
  },
  jq: {
    notLetters: 'fL',
    notNames: 'from-file rawfile slurpfile library-path',
    when: (command) =>
      !jqReadsEnvironment(command) &&
      valuesOf(command).every((value) => !/(?<!\.)\b(?:input_filename|import|include)\b/.test(value)),
  },
  shuf: { notLetters: 'o', notNames: 'output random-source' },
  split: { notNames: 'filter additional-suffix' },
  iconv: { notLetters: 'o', notNames: 'output' },
  bc: { when: onlyWords(/^-[lqs]+$/) },
  hexdump: { notLetters: 'f' },
  xxd: { notLetters: 'r', when: (command) => optionsOf(command).operands.length < 2 },
  'md5sum sha1sum sha256sum sha512sum cksum': { notLetters: 'c', notNames: 'check' },
  printf: { isText: true, when: firstIs(/^(?!-v)/) },
  'cd pushd': { when: staysBelow },
  date: { notLetters: 'sfr', notNames: 'set file reference', isText: true },
  tput: { when: firstIs(/^(?:cols|lines|colors)$/) },
  lsof: { when: onlyWords(/^-(?:i\S*|P|n|t|iTCP)$|^:\d+$/) },
  ss: { when: onlyWords(/^-[ltnpua4]+$/) },
  ps: { when: (command) => /^(?:|-ef?|-A|aux?|-aux?|-o)$/.test(valuesOf(command).join(' ')) },
  'test [': { when: hasNoSubscript },
  set: {
    when: (command) =>
      !isAlone(command) && onlyWords(/^[-+][euxfC]*o?$|^pipefail$|^errexit$|^nounset$|^xtrace$/)(command),
  },
  read: { when: readsNames },
  export: { isText: true, when: onlyOptions(/^$/, /^-/) },
  cp: { notLetters: 'lsLHS', notNames: 'link symbolic-link suffix backup' },
  mv: { notLetters: 'S', notNames: 'suffix backup' },
  mktemp: { when: onlyWords(/^-d$/) },
  chmod: { notNames: 'reference', when: (command) => isHarmlessMode(modeOf(command)) },
  ln: {
    notLetters: 'tTLdF',
    notNames: 'target-directory no-target-directory logical directory backup suffix',
    when: isLinkInside,
  },
});

/** `read 'a[$(id)]'` would evaluate a subscript, and names in capitals steer programs. */
function readsNames(command: ShellCommand): boolean {
  return argumentsOf(command).every(
    (word, at, all) =>
      /^-[rs]+$|^-[rs]*[ndtp]$|^[a-z_]\w*$|^REPLY$/.test(word.value) ||
      /^-[rs]*[ndtp]$/.test(all[at - 1]?.value ?? ''),
  );
}

function modeOf(command: ShellCommand): string {
  return valuesOf(command).find((arg) => !/^-(?:R|v|c|f|-.*)$/.test(arg)) ?? '';
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
  const [folder = '-', ...others] = valuesOf(command);
  return others.length === 0 && !/^[-+]/.test(folder);
}
