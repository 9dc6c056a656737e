/** Programs that read or print, and plain writes inside the workspace; decided by option, not by program. */
import { optionsOf } from '../parse/options-of.ts';
import { argumentsOf, type ShellCommand, type ShellWord } from '../shell-command.ts';
import { jqReadsEnvironment } from '../jq-program.ts';
import { exportsHarmlessValue, isHarmlessToSet, isHarmlessVariable } from './harmless-variables.ts';
import { hasNoOptionFile } from './inspectors.ts';
import { firstIs, isAlone, onlyWords, safePrograms, valuesOf } from './safe-program.ts';

/** `test -v 'a[$(id)]'` evaluates its text: a subscript is not harmless. */
const hasNoSubscript = onlyWords(/^(?:\[|[^[(`$]*)$/);

const GREP =
  'abcEFGhHiIlLnoPqrsTUuvVwxyzZA:B:C:D:e:m:d:# --regexp --extended-regexp --fixed-strings --perl-regexp --basic-regexp ' +
  '--ignore-case --no-ignore-case --word-regexp --line-regexp --count --color --colour --files-with-matches --files-without-match ' +
  '--max-count --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --line-number ' +
  '--initial-tab --null --after-context --before-context --context --text --binary-files --exclude --exclude-dir --include ' +
  '--recursive --line-buffered --null-data --invert-match --label --directories --devices --version --help';

/** From the manuals of GNU, with additions of BSD. */
export const READERS = safePrograms({
  'ls dir': {
    options:
      'aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1I:w:T: --all --almost-all --author --block-size --classify --color --dereference ' +
      '--directory --escape --file-type --format --full-time --group-directories-first --hide --human-readable --hyperlink --ignore ' +
      '--ignore-backups --indicator-style --inode --kibibytes --literal --no-group --numeric-uid-gid --quote-name --quoting-style ' +
      '--recursive --reverse --si --size --sort --time --time-style --width --zero --version --help',
  },
  cat: {
    options:
      'AbeEnstTuv --number --number-nonblank --show-all --show-ends --show-tabs --show-nonprinting --squeeze-blank',
  },
  tac: { options: 'brs: --before --regex --separator' },
  nl: {
    options:
      'b:d:f:h:i:l:n:ps:v:w: --body-numbering --number-format --number-separator --number-width --starting-line-number',
  },
  head: { options: '#qvzc:n: --bytes --lines --quiet --silent --verbose --zero-terminated' },
  tail: {
    options:
      '#fFqvrzc:n:s: --bytes --lines --follow --quiet --silent --verbose --zero-terminated --pid --retry --sleep-interval',
  },
  stat: { options: 'fLtxc: --format --printf --file-system --dereference --terse' },
  df: {
    options:
      'ahHiklPTB:t:x: --all --block-size --human-readable --inodes --local --output --portability --print-type --si --total --type --exclude-type',
  },
  cut: {
    options:
      'nszb:c:d:f: --bytes --characters --delimiter --fields --only-delimited --complement --output-delimiter --zero-terminated',
  },
  paste: { options: 'szd: --delimiters --serial --zero-terminated' },
  column: {
    options:
      'tsxcneLJdc:s:o:N:R:H:T:E:W:O:n:l: --table --separator --output-separator --output-width --table-columns --table-right --json --fillrows',
  },
  fold: { options: '#bsw: --bytes --spaces --width' },
  fmt: {
    options:
      '#cstuw:p:g: --width --split-only --tagged-paragraph --uniform-spacing --crown-margin --prefix --goal',
  },
  comm: { options: '123z --check-order --nocheck-order --output-delimiter --total --zero-terminated' },
  cmp: { options: 'bli:n:s --print-bytes --verbose --quiet --silent --bytes --ignore-initial' },
  tr: { options: 'cCdst --complement --delete --squeeze-repeats --truncate-set1' },
  join: {
    options: 'iza:e:j:o:t:v:1:2: --header --check-order --nocheck-order --ignore-case --zero-terminated',
  },
  'expand unexpand': { options: '#ait: --tabs --initial --all --first-only' },
  'base64 base32': { options: 'dDiw: --decode --ignore-garbage --wrap' },
  od: {
    options:
      'abcdfhilosvxA:j:N:S:t:w: --address-radix --skip-bytes --read-bytes --format --output-duplicates --width --strings',
  },
  strings: {
    startsPrograms: true,
    options: '#afwn:t:e: --all --bytes --radix --encoding --print-file-name --include-all-whitespace',
    when: hasNoOptionFile,
  },
  readlink: {
    options: 'femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero',
  },
  realpath: {
    options:
      'emLPqsz --relative-to --relative-base --canonicalize-existing --canonicalize-missing --strip --no-symlinks --quiet --zero --logical --physical',
  },
  pwd: { options: 'LP' },
  cal: { options: '13jmsyn:A:B:' },
  uname: { options: 'asnrvmpio --all --kernel-name --kernel-release --machine --operating-system' },
  nproc: { options: '--all --ignore' },
  uptime: { options: 'ps --pretty --since' },
  free: { options: 'bkmghltwvs:c: --human --mega --giga --total --wide --si' },
  wait: { options: 'nf' },
  jobs: { options: 'lnprs' },
  'rev whoami arch clear uuidgen': {},
  mkdir: {
    options: 'pvm: --parents --verbose --mode',
    when: (command) => optionsOf(command, ['mode']).values.every(({ value }) => isHarmlessMode(value)),
  },
  tee: { options: 'aip --append --ignore-interrupts' },
  touch: { options: 'acmhd:t:r: --no-create --date --time --reference --no-dereference' },
  seq: { isText: true, options: '#ws:f: --equal-width --separator --format' },
  locale: {
    isText: true,
    options: 'amckv --all-locales --charmaps --keyword-name --category-name --verbose',
  },
  getconf: { isText: true, options: 'av:' },
  lscpu: { isText: true, options: 'abceJxyBp:C: --all --online --json --parse --extended' },
  which: { isText: true, options: 'as --all' },
  type: { isText: true, options: 'aftpP' },
  'expr sleep exit return break continue shift': { isText: true },
  'basename dirname echo true false :': { isText: true, isOpenSafe: true },
  'hostname hash history': { when: isAlone },
  unset: { when: (command) => argumentsOf(command).every(isOwnName) },
  trap: {
    isText: true,
    options: '',
    when: (command) => argumentsOf(command).every((word) => word.isLiteral),
  },
  wc: { options: 'cmlLw --bytes --chars --lines --max-line-length --words --total' },
  file: {
    options:
      'bikLhNnrzF:e: --brief --mime --mime-type --mime-encoding --dereference --keep-going --extension --raw --separator --uncompress',
  },
  du: {
    options:
      'abchklmPsSx0B:d:t: --all --apparent-size --block-size --bytes --exclude --human-readable --inodes --max-depth --null ' +
      '--one-file-system --separate-dirs --si --summarize --threshold --time --time-style --total',
  },
  tree: {
    options:
      'adfihDFgupstrQNSncCvUxJXqAL:P:I: --charset --device --dirsfirst --du --filelimit --filesfirst --gitignore --ignore-case --inodes ' +
      '--matchdirs --nolinks --noreport --prune --si --sort --timefmt',
  },
  diff: {
    options:
      '#abBcdeEfhiNnpqrstTuwyZC:U:W:I:x:F:L:D: --brief --color --context --exclude --expand-tabs --ignore-all-space --ignore-blank-lines ' +
      '--ignore-case --ignore-matching-lines --ignore-space-change --ignore-trailing-space --label --left-column --minimal --new-file ' +
      '--no-dereference --normal --recursive --report-identical-files --show-c-function --show-function-line --side-by-side ' +
      '--speed-large-files --strip-trailing-cr --suppress-common-lines --tabsize --text --unified --width',
  },
  sort: {
    startsPrograms: true,
    options:
      'bcCdfghiMmnrRsuVzk:t:S: --check --debug --dictionary-order --field-separator --general-numeric-sort --human-numeric-sort ' +
      '--ignore-case --ignore-leading-blanks --ignore-nonprinting --key --merge --month-sort --numeric-sort --parallel --random-sort ' +
      '--reverse --sort --stable --unique --version-sort --zero-terminated',
  },
  uniq: {
    options:
      'cdDiuzf:s:w: --all-repeated --check-chars --count --group --ignore-case --repeated --skip-chars --skip-fields --unique --zero-terminated',
    when: (command) => optionsOf(command).operands.length < 2,
  },
  'grep egrep fgrep zgrep': { options: GREP },
  rg: {
    startsPrograms: true,
    options:
      'acFhHiIlnNopPqsSuUvVwx0.A:B:C:d:e:E:g:j:m:M:r:t:T: --after-context --before-context --byte-offset --case-sensitive --color --colors ' +
      '--column --context --count --count-matches --crlf --encoding --engine --files --files-with-matches --files-without-match ' +
      '--fixed-strings --glob --glob-case-insensitive --heading --help --hidden --ignore-case --iglob --include-zero --invert-match --json ' +
      '--line-number --line-regexp --max-columns --max-count --max-depth --max-filesize --multiline --multiline-dotall --no-config ' +
      '--no-filename --no-follow --no-heading --no-ignore --no-ignore-vcs --no-line-number --no-messages --no-require-git --null ' +
      '--one-file-system --only-matching --passthru --pcre2 --pretty --quiet --regexp --replace --smart-case --sort --sortr --stats ' +
      '--text --threads --trim --type --type-list --type-not --unrestricted --version --vimgrep --with-filename --word-regexp',
  },
  ag: {
    startsPrograms: true,
    options:
      'cilLnoQsSvwA:B:C:G:m: --after --before --case-sensitive --color --column --context --count --depth --file-search-regex ' +
      '--files-with-matches --files-without-matches --heading --ignore --ignore-case --ignore-dir --literal --max-count --nobreak --nocolor ' +
      '--nofilename --nogroup --noheading --numbers --nonumbers --only-matching --smart-case --stats --vimgrep --word-regexp',
  },
  jq: {
    options:
      'aCcehjMnRrsSV --arg --argjson --args --ascii-output --color-output --compact-output --exit-status --help --indent --join-output ' +
      '--jsonargs --monochrome-output --null-input --raw-input --raw-output --raw-output0 --seq --slurp --sort-keys --stream ' +
      '--stream-errors --tab --unbuffered --version',
    when: (command) =>
      !jqReadsEnvironment(command) &&
      valuesOf(command).every((value) => !/(?<!\.)\b(?:input_filename|import|include)\b/.test(value)),
  },
  shuf: { options: 'erzn:i: --echo --head-count --input-range --repeat --zero-terminated' },
  split: {
    startsPrograms: true,
    options:
      '#dxeul:b:C:n:a:t: --bytes --elide-empty-files --hex-suffixes --line-bytes --lines --number --numeric-suffixes --suffix-length --verbose',
  },
  iconv: { options: 'clsf:t: --from-code --to-code --list --verbose' },
  bc: { when: onlyWords(/^-[lqs]+$/) },
  hexdump: { options: 'bcCdovxn:s:e: --canonical --length --skip --no-squeezing' },
  xxd: {
    options: 'abBeEipuc:g:l:n:o:s:',
    when: (command) => optionsOf(command).operands.length < 2,
  },
  'md5sum sha1sum sha256sum sha512sum cksum': {
    options: 'btza: --algorithm --binary --tag --text --zero --untagged',
  },
  printf: { isText: true, when: firstIs(/^(?!-v)/) },
  'cd pushd': { options: 'LP', when: staysBelow },
  date: {
    isText: true,
    options: 'uRI:d: --date --iso-8601 --rfc-3339 --rfc-email --universal --utc',
    // Any other operand would set the clock.
    when: (command) =>
      optionsOf(command, ['date', 'rfc-3339']).operands.every(({ value }) => value.startsWith('+')),
  },
  'test [': { when: hasNoSubscript },
  set: {
    when: (command) =>
      !isAlone(command) && onlyWords(/^[-+][euxfC]*o?$|^pipefail$|^errexit$|^nounset$|^xtrace$/)(command),
  },
  read: { when: readsNames },
  export: { isText: true, options: '', when: setsHarmlessNames },
  cp: {
    options:
      'aprRnvufidPTxt: --archive --force --interactive --no-clobber --no-dereference --no-target-directory --parents --preserve ' +
      '--recursive --target-directory --update --verbose',
  },
  mv: {
    options:
      'finuvTt: --force --interactive --no-clobber --no-target-directory --target-directory --update --verbose',
    when: namesNoDevice,
  },
  mktemp: { when: onlyWords(/^-d$/) },
  chmod: {
    options: 'RvcfrwxX --recursive --verbose --changes --silent --quiet',
    when: (command) => isHarmlessMode(modeOf(command)) && namesNoDevice(command),
  },
  ln: { options: 'sfnvi --symbolic --force --no-dereference --verbose --interactive', when: isLinkInside },
});

/** Moving to `/dev/null` replaces it; only writing to it is harmless. */
function namesNoDevice(command: ShellCommand): boolean {
  return valuesOf(command).every((value) => !value.startsWith('/dev/'));
}

function isOwnName({ value, isLiteral }: ShellWord): boolean {
  return isLiteral && /^[A-Za-z_]\w*$/.test(value) && isHarmlessToSet(value);
}

function setsHarmlessNames(command: ShellCommand): boolean {
  return argumentsOf(command).every(
    (word) => isHarmlessVariable(word.value.split('=', 1)[0] ?? '') || exportsHarmlessValue(word),
  );
}

/** `read 'a[$(id)]'` would evaluate a subscript, and names in capitals affect programs. */
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

/** No mode that lets others write or sets the user or group. */
function isHarmlessMode(mode: string): boolean {
  if (/^0?[0-7]{3}$/.test(mode)) return /[0145]$/.test(mode);
  return mode
    .split(',')
    .every((part) => /^(?:[ugo]*[-+=][rxX]*|u?[-+=][rwxX]*|[ugoa]*-[rwxX]*|a[+=][rxX]*)$/.test(part));
}

/** A symbolic link to a path below its own folder, so that it leads only where its text says. */
function isLinkInside(command: ShellCommand): boolean {
  const { letters, names, operands } = optionsOf(command);
  const isSymbolic = letters.has('s') || names.includes('symbolic');
  const hasHidden = operands.some((word) => /(?:^|\/)\./.test(word.value));
  return isSymbolic && operands.length === 2 && !hasHidden && namesNoDevice(command);
}

/** `cd` without a folder goes home, `cd -` anywhere. */
function staysBelow(command: ShellCommand): boolean {
  const [folder = '-', ...others] = valuesOf(command).filter((value) => !/^-[LP]+$|^--$/.test(value));
  return others.length === 0 && !/^[-+]/.test(folder);
}
