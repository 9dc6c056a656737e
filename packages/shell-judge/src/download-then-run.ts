/** `curl -o x URL && bash x`: one command of a line runs what another one downloads: remote code execution. */
import { allSources } from './all-sources.ts';
import { runsFile } from './code-of.ts';
import { globMayMatch } from './glob-may-match.ts';
import { optionsOf } from './parse/options-of.ts';
import { pathWordsOf, writtenPathsOf } from './path-words.ts';
import { argumentsOf, programOf, type ShellCommand, type ShellWord } from './shell-command.ts';
import { INTERPRETERS, SHELLS } from './parse/wrappers.ts';

const words = (line: string): ReadonlySet<string> => new Set(line.split(' '));

export const DOWNLOADERS = words(
  'curl wget fetch aria2c axel http https httpie xh curlie lynx links w3m nc ncat netcat socat ftp gh ssh',
);
const KEEPS_NAME = words('wget aria2c axel fetch');
/** Programs that copy a file's content to another name. */
const PASSES_ON = words(
  'cp mv ln install tee dd cat gunzip gzip zcat xz unxz xzcat bunzip2 bzcat zstd base64 openssl sed awk tr head tail',
);
const UNPACKS = words('tar bsdtar gtar unzip 7z 7za ar cpio');
const SYSTEM_PROGRAM = /^\/(?:usr\/)?s?bin\//;

/** Rounds of `cp x y; mv y z`, each of which finds at least one more name. */
const MAX_ROUNDS = 20;

/** Names of files without their folders, which may change in between, and of variables as `$name`. */
interface Downloaded {
  readonly names: Set<string>;
  /** An archive was unpacked or the server chose the name: any file may be a download. */
  isAny: boolean;
}

/**
 * The command that runs a download, or null. The order in the line is ignored, because loops and functions change it.
 */
export function downloadThenRun(commands: readonly ShellCommand[]): ShellCommand | null {
  // The search for the sources of each command is quadratic in the length of a pipe.
  if (!commands.some((command) => DOWNLOADERS.has(programOf(command)))) return null;
  const found: Downloaded = { names: new Set(), isAny: false };
  for (const command of commands) if (downloads(command)) noteTargets(command, found);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = found.names.size;
    for (const command of commands) follow(command, found);
    if (found.names.size === before) break;
  }
  if (found.names.size === 0 && !found.isAny) return null;
  return commands.find((command) => runs(command, found)) ?? null;
}

function downloads(command: ShellCommand): boolean {
  return [command, ...pipedInto(command)].some((each) => DOWNLOADERS.has(programOf(each)));
}

function pipedInto({ input }: ShellCommand): readonly ShellCommand[] {
  return input?.kind === 'pipe' ? [...allSources(input.from)] : [];
}

function add({ names }: Downloaded, path: string): void {
  const name = nameOf(path);
  if (!/^(?:|-|null|stdout|stderr)$/.test(name)) names.add(name);
}

function nameOf(path: string): string {
  const parts = path.replace(/[?#].*$/s, '').split('/');
  return parts.findLast((part) => part !== '') ?? '';
}

function noteTargets(command: ShellCommand, found: Downloaded): void {
  for (const word of writtenPathsOf(command)) add(found, word.value);
  const program = programOf(command);
  if (UNPACKS.has(program)) found.isAny = true;
  const { letters, names, values } = optionsOf(command, ['output', 'output-document', 'out']);
  for (const { option, value } of values)
    if (/^(?:o|O|out|output|output-document)$/.test(option)) add(found, value);
  const isNamedByServer = names.some((name) =>
    /^(?:remote-header-name|content-disposition|input-file)/.test(name),
  );
  if (isNamedByServer || (program === 'curl' && letters.has('J')) || isFileOfGithub(command))
    found.isAny = true;
  const keeps =
    program === 'curl' && (letters.has('O') || names.some((name) => name.startsWith('remote-name')));
  if (!keeps && !KEEPS_NAME.has(program)) return;
  add(found, 'index.html');
  for (const { value } of argumentsOf(command)) if (/[./]/.test(value)) add(found, value);
}

function isFileOfGithub(command: ShellCommand): boolean {
  return programOf(command) === 'gh' && argumentsOf(command).some(({ value }) => value === 'download');
}

/** A file that receives the content of a download is one too. */
function follow(command: ShellCommand, found: Downloaded): void {
  for (const { name, value } of command.assignments)
    if (value?.sources.some((each) => downloads(each) || touches(each, found))) found.names.add(`$${name}`);
  const program = programOf(command);
  if (!touches(command, found) && !pipedInto(command).some((each) => touches(each, found))) return;
  if (UNPACKS.has(program)) found.isAny = true;
  if (!PASSES_ON.has(program)) return;
  for (const word of writtenPathsOf(command)) add(found, word.value);
  for (const { value } of pathWordsOf(command)) {
    const plain = value.replace(/\.(?:gz|xz|bz2|zst)$/, '');
    if (plain !== value && found.names.has(nameOf(value))) add(found, plain);
  }
}

/** An argument or a redirection names a download. */
function touches(command: ShellCommand, found: Downloaded): boolean {
  const targets = command.redirects.flatMap(({ target }) => (target === null ? [] : [target]));
  return [...argumentsOf(command), ...targets].some((word) => isDownloaded(word, found));
}

function isDownloaded(word: ShellWord, { names }: Downloaded): boolean {
  const name = nameOf(word.value);
  if (names.has(name)) return true;
  if (word.isGlob && [...names].some((each) => globMayMatch(name, each))) return true;
  return [...word.text.matchAll(/\$\{?(\w+)/g)].some(([, variable]) => names.has(`$${variable}`));
}

function runs(command: ShellCommand, found: Downloaded): boolean {
  const [first] = command.words;
  if (first === undefined) return false;
  if (first.value.includes('/') || !first.isLiteral) {
    if (isDownloaded(first, found)) return true;
    if (found.isAny && !SYSTEM_PROGRAM.test(first.value)) return true;
  }
  const program = programOf(command);
  if (program === 'eval') return touches(command, found) || isFed(command, found);
  if (!SHELLS.has(program) && !INTERPRETERS.test(program) && !/^(?:source|\.|g?make)$/.test(program))
    return false;
  return scriptsOf(command).some((word) => isScript(word, found)) || isFed(command, found);
}

/** A script's own arguments are data: `node report.js downloaded.json`. */
function scriptsOf(command: ShellCommand): readonly ShellWord[] {
  const program = programOf(command);
  const operands = argumentsOf(command).filter((word) => !word.value.startsWith('-'));
  if (program.endsWith('make'))
    return optionsOf(command, ['file', 'makefile']).values.map(({ word }) => word);
  return runsFile(command) || SHELLS.has(program) || program === '.' || program === 'source'
    ? operands.slice(0, 1)
    : operands;
}

function isScript(word: ShellWord, found: Downloaded): boolean {
  if (isDownloaded(word, found) || found.isAny) return true;
  // `python3 -m x` and `node ./x` search for the file.
  return ['.py', '.js', '.mjs', '.cjs'].some((end) => found.names.has(nameOf(word.value) + end));
}

/** The command receives it through its input, or by a substitution among its words. */
function isFed(command: ShellCommand, found: Downloaded): boolean {
  const sources = argumentsOf(command).flatMap((word) => word.sources);
  if (sources.some((each) => touches(each, found))) return true;
  if (runsFile(command)) return false;
  const { input } = command;
  if (input?.kind === 'file') return input.target !== null && isDownloaded(input.target, found);
  return pipedInto(command).some((each) => touches(each, found));
}
