/**
 * Creating and listing archives in the workspace. Unpacking is excluded, because an archive may contain files that git
 * and shells execute. So are options that start programs, read names from a file, follow links or remove packed files.
 */
import type { ShellCommand } from '../shell-command.ts';
import { isInsidePath } from './is-inside.ts';
import { firstIs, onlyOptions, safePrograms, valuesOf } from './safe-program.ts';

const TAR_LETTERS = /^[ctzjJavfCbpSO]+$/;
const TAR_NAMES =
  /^--(?:create|list|gzip|gunzip|bzip2|xz|zstd|auto-compress|verbose|exclude-vcs|totals|no-recursion|numeric-owner|sort=name|(?:file|directory|exclude|owner|group|mtime|transform|strip-components|format)=.*)$/;
/** Long options whose value may be the next word. */
const TAR_LONG_VALUES = /^--(?:file|directory|exclude|owner|group|mtime|format)$/;

/** Its first word may contain the letters without a dash; then their values follow in order. */
function isHarmlessTar(command: ShellCommand): boolean {
  const words = valuesOf(command);
  const paths: string[] = [];
  let isSafe = words.length > 0;
  let hasMode = false;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const isBundle = at === 0 && !word.startsWith('-');
    if (TAR_LONG_VALUES.test(word)) at += 1;
    else if (word.startsWith('--')) isSafe &&= TAR_NAMES.test(word);
    else if (isBundle || (word.startsWith('-') && word !== '-')) {
      const letters = word.replace(/^-/, '');
      isSafe &&= TAR_LETTERS.test(letters);
      hasMode ||= /[ct]/.test(letters);
    } else paths.push(word);
  }
  hasMode ||= words.some((word) => word === '--create' || word === '--list');
  return isSafe && hasMode && namesKnownFiles(words, paths);
}

/** `tar cf host:x` would connect to a machine; the whole workspace contains hidden folders that no command may name. */
function namesKnownFiles(words: readonly string[], paths: readonly string[]): boolean {
  const isListing = words.some((word, at) => word === '--list' || (/^-?\w*t/.test(word) && at === 0));
  return (
    words.every((word) => !/^[^=]*:/.test(word.replace(/^--[\w-]+=/, '')) && isInsidePath(word)) &&
    (isListing || paths.every((path) => !/^(?:\.?\/*)+$/.test(path)))
  );
}

const GZIP = /^(?:-[cdfklnqrtv1-9]+|--(?:stdout|decompress|keep|list|test|quiet|verbose|fast|best))$/;
const XZ = /^(?:-[cdzkltqv0-9eT]+|--(?:stdout|decompress|keep|list|test|quiet|verbose|threads=\d+))$/;

const LOOKS = /^-(?:l|lv|v|t|Z|Z1|p)q*$/;
const looks = firstIs(LOOKS);

export const ARCHIVES = safePrograms({
  tar: { when: isHarmlessTar },
  zip: { when: isHarmlessZip },
  unzip: { when: (command) => looks(command) && onlyOptions(LOOKS)(command) },
  zipinfo: { options: '12smlvhtTzM' },
  'gzip gunzip zcat gzcat': { when: onlyOptions(GZIP) },
  'xz unxz xzcat bzip2 bunzip2 bzcat zstd zstdcat': { when: onlyOptions(XZ) },
});

/** `-T` with `-TT` starts a program, `-m` removes packed files, `-@` reads names. */
function isHarmlessZip(command: ShellCommand): boolean {
  const [, ...packed] = valuesOf(command).filter((value) => !value.startsWith('-'));
  return (
    onlyOptions(/^(?:-[rqjx9v0-8X]+|--(?:recurse-paths|quiet))$/)(command) &&
    packed.length > 0 &&
    packed.every((path) => !/^(?:\.?\/*)+$/.test(path))
  );
}
