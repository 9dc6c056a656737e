/**
 * Known habits of programs: which of their words are text, such as patterns and messages, and which name written files.
 */

const words = (line: string): readonly string[] => line.split(' ');

/** Every argument is text. */
export const TEXT_ONLY: ReadonlySet<string> = new Set(
  words('echo printf true false : basename dirname seq expr sleep date kill exit return read type which tr'),
);

/** The first operand is a pattern or script, unless one of these options contains it. */
export const TEXT_FIRST: ReadonlyMap<string, string> = new Map([
  ['grep', 'ef'],
  ['rg', 'ef'],
  ['ag', ''],
  ['sed', 'ef'],
  ['awk', 'f'],
  ['jq', 'f'],
  ['yq', 'f'],
]);

/** Options whose value is text, by letter or long name. */
export const TEXT_OPTIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ['git', words('message grep author committer format pretty since until after before date trailer')],
  ['grep', words('e regexp include exclude exclude-dir color A B C m')],
  ['rg', words('e regexp g glob type t color')],
  ['sed', words('e expression')],
  ['awk', words('F v field-separator assign')],
  ['cut', words('d delimiter f fields output-delimiter')],
  ['sort', words('k t key field-separator')],
  ['curl', words('H header A user-agent w write-out X request d data data-raw e referer')],
  ['npm', words('grep')],
]);

/** Tests of `find` whose next word is text. */
export const FIND_TEXT: ReadonlySet<string> = new Set(
  words(
    '-name -iname -path -ipath -wholename -regex -iregex -regextype -printf -type -xtype -size -mtime -mmin -ctime -cmin -atime -amin -maxdepth -mindepth -newermt -perm -user -group -links -inum',
  ),
);

/** Programs that write to every operand. */
export const WRITES_ALL: ReadonlySet<string> = new Set(
  words(
    'tee sponge patch touch truncate mkdir rm rmdir unlink shred mkfifo mknod chmod chown chgrp chattr setfacl history mv split',
  ),
);

/** Programs that write to their last operand. */
export const WRITES_LAST: ReadonlySet<string> = new Set(words('cp ln install rsync scp dd'));

/** Programs that write to their second operand, if there is one. */
export const WRITES_SECOND: ReadonlySet<string> = new Set(words('uniq xxd'));

/** Programs with the same habit: `gawk` reads its words as `awk` does. */
export function habitOf(program: string): string {
  return program
    .replace(/^[gmn]awk$/, 'awk')
    .replace(/^[ef]grep$/, 'grep')
    .replace(/^g(?=find$|sed$)/, '')
    .replace(/^(?:pnpm|yarn)$/, 'npm');
}
