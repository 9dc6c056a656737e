/**
 * Programs that run the workspace's own code by its name: tests, builds, a file of the workspace. They do no more than
 * what the project's own scripts say; code given as an argument, by the input or from elsewhere is not among it.
 */
import { argumentsOf, type ShellCommand } from '../shell-command.ts';
import type { SafeProgram, SafePrograms } from './safe-program.ts';

const values = (command: ShellCommand): readonly string[] => argumentsOf(command).map((word) => word.value);

/** The first word after the program is one of these, and no option stands before it. */
const runs =
  (subcommand: RegExp, refused: RegExp = /^$/) =>
  (command: ShellCommand) => {
    const args = values(command);
    const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
    return subcommand.test(own[0] ?? '') && !own.some((arg) => refused.test(arg));
  };

/** Options before the script's name, then the script's own arguments. */
const runsFile = (options: RegExp, file: RegExp) => (command: ShellCommand) => {
  const args = values(command);
  if (args.length > 0 && args.every((arg) => /^(?:--version|-v|-V|--help|-h)$/.test(arg))) return true;
  const at = args.findIndex((arg) => !arg.startsWith('-'));
  return at >= 0 && args.slice(0, at).every((arg) => options.test(arg)) && file.test(args[at] ?? '');
};

/** A file or folder of the workspace, by a plain relative name. */
const FILE = /^(?:\.\/)?[\w@][\w@.+/-]*$/;
const PYTHON_MODULES =
  /^(?:json\.tool|pytest|unittest|compileall|py_compile|tabnanny|doctest|mypy|ruff|black|flake8|isort|coverage|pylint|tokenize|ast|this|calendar|venv)$/;

const PIP_READS = /^(?:list|show|freeze|check|--version|-V)$/;

const python: SafeProgram = {
  when: (command) => {
    const args = values(command);
    const [first, second] = args[0] === '-u' || args[0] === '-B' ? args.slice(1) : args;
    if (first === '-m' && second === 'pip') return PIP_READS.test(args[2] ?? '');
    if (first === '-m') return PYTHON_MODULES.test(second ?? '');
    return runsFile(/^-[uBEsSO]+$/, /^(?:\.\/)?[\w@][\w@.+/-]*\.py$/)(command);
  },
};
const node: SafeProgram = {
  when: (command) =>
    runsFile(
      /^--(?:test(?:-reporter=\w+|-only|-name-pattern=.*)?|watch|enable-source-maps|no-warnings|trace-warnings|check|experimental-strip-types)$|^-c$/,
      FILE,
    )(command) ||
    (values(command).every((arg) => arg === '--test') && command.words.length > 1),
};
const PACKAGE_SCRIPTS =
  /^(?:test|t|tst|run|run-script|start|build|lint|ls|list|la|ll|outdated|version|root|prefix|bin|why|explain)$/;
const REFUSED_BY_NPM =
  /^(?:-g|--global|--prefix|--script-shell|--userconfig|--globalconfig|--node-options|--init-module|--registry|-C|--shell|--node)(?:=|$)/;
const npm: SafeProgram = {
  when: (command) =>
    runs(PACKAGE_SCRIPTS, REFUSED_BY_NPM)(command) ||
    /^(?:-v|--version)$/.test(values(command)[0] ?? '') ||
    /^(?:pkg get|pack --dry-run|-r (?:build|test|lint))\b/.test(values(command).slice(0, 2).join(' ')),
};
const make: SafeProgram = {
  when: (command) =>
    values(command).every(
      (arg) =>
        /^(?:-[ksnBi]+|-j\d*|--(?:silent|dry-run|keep-going|always-make|no-print-directory|jobs=\d+)|[\w./-]+|(?!SHELL|MAKEFLAGS|MAKEFILES|\.SHELLFLAGS)\w+=[\w.,/-]*)$/.test(
          arg,
        ) && !/^-[fCIE]/.test(arg),
    ),
};
const tool: SafeProgram = {
  when: (command) =>
    values(command).every(
      (arg) =>
        !/^--?(?:config|c|plugin|plugins|rulesdir|resolve-plugins-relative-to|require|r|import|loader|project-root|p|preset|globalSetup|setupFiles|rootdir|parser|format|exec)(?:=|$)/.test(
          arg,
        ),
    ),
};

export const PROJECT_RUNNERS: SafePrograms = new Map<string, SafeProgram>([
  ['npm', npm],
  ['pnpm', npm],
  ['yarn', npm],
  ['bun', { when: runs(/^(?:test|run)$/, REFUSED_BY_NPM) }],
  ['node', node],
  ['python', python],
  ['python3', python],
  ['make', make],
  ['gmake', make],
  [
    'tsc',
    {
      when: (command) =>
        values(command).every((arg) => !/^(?:--plugins|--build|-b|--outFile|--outDir)/.test(arg)),
    },
  ],
  ['eslint', tool],
  [
    'prettier',
    {
      when: (command) =>
        tool.when?.({ ...command, words: command.words.filter((word) => word.value !== '-c') }) === true,
    },
  ],
  ['biome', tool],
  ['oxlint', tool],
  ['jest', tool],
  ['vitest', tool],
  ['mocha', tool],
  ['pytest', tool],
  ['mypy', tool],
  ['ruff', tool],
  ['black', tool],
  ['flake8', tool],
  ['isort', tool],
  ['pylint', { notNames: ['load-plugins', 'rcfile', 'init-hook'], when: tool.when ?? (() => false) }],
  ['coverage', { when: runs(/^(?:report|run|html|json|xml)$/, /^--(?:rcfile|concurrency)/) }],
  ['pip', { when: (command) => PIP_READS.test(values(command)[0] ?? '') }],
  ['pip3', { when: (command) => PIP_READS.test(values(command)[0] ?? '') }],
]);
