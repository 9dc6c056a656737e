/**
 * Programs that run the workspace's own code by its name: tests, builds, a file of the workspace. They do no more than
 * what the project's own scripts say; code given as an argument, by the input or from elsewhere is not among it.
 */
import type { ShellCommand } from '../shell-command.ts';
import { firstIs, onlyOptions, onlyWords, runs, safePrograms, valuesOf } from './safe-program.ts';

/** Options before the script's name, then the script's own arguments. */
const runsFile = (options: RegExp, file: RegExp) => (command: ShellCommand) => {
  const args = valuesOf(command);
  if (args.length > 0 && args.every((arg) => /^(?:--version|-v|-V|--help|-h)$/.test(arg))) return true;
  const at = args.findIndex((arg) => !arg.startsWith('-'));
  return at >= 0 && args.slice(0, at).every((arg) => options.test(arg)) && file.test(args[at] ?? '');
};

/** A file or folder of the workspace, by a plain relative name. */
const FILE = /^(?:\.\/)?[\w@][\w@.+/-]*$/;
const PYTHON_MODULES =
  /^(?:json\.tool|pytest|unittest|compileall|py_compile|tabnanny|doctest|mypy|ruff|black|flake8|isort|coverage|pylint|tokenize|ast|this|calendar|venv)$/;
const PIP_READS = /^(?:list|show|freeze|check|--version|-V)$/;

function isPythonHarmless(command: ShellCommand): boolean {
  const args = valuesOf(command);
  const [first, second] = args[0] === '-u' || args[0] === '-B' ? args.slice(1) : args;
  if (first === '-m' && second === 'pip') return PIP_READS.test(args[2] ?? '');
  if (first === '-m') return PYTHON_MODULES.test(second ?? '');
  return runsFile(/^-[uBEsSO]+$/, /^(?:\.\/)?[\w@][\w@.+/-]*\.py$/)(command);
}

const NODE_OPTIONS =
  /^--(?:test(?:-reporter=\w+|-only|-name-pattern=.*)?|watch|enable-source-maps|no-warnings|trace-warnings|check|experimental-strip-types)$|^-c$/;

const PACKAGE_SCRIPTS =
  /^(?:test|t|tst|run|run-script|start|build|lint|ls|list|la|ll|outdated|version|root|prefix|bin|why|explain)$/;
const REFUSED_BY_NPM =
  /^(?:-g|--global|--prefix|--script-shell|--userconfig|--globalconfig|--node-options|--init-module|--registry|-C|--shell|--node)(?:=|$)/;

function isNpmHarmless(command: ShellCommand): boolean {
  const begin = valuesOf(command).slice(0, 2).join(' ');
  return (
    runs(PACKAGE_SCRIPTS, REFUSED_BY_NPM)(command) ||
    /^(?:-v|--version)(?: |$)|^(?:pkg get|pack --dry-run|-r (?:build|test|lint))\b/.test(begin)
  );
}

/** Of linters and the like, which take other programs from their configuration. */
const isToolHarmless = onlyWords(
  /^(?!--?(?:config|c|plugin|plugins|rulesdir|resolve-plugins-relative-to|require|r|import|loader|project-root|p|preset|globalSetup|setupFiles|rootdir|parser|format|exec)(?:=|$))/,
);

export const PROJECT_RUNNERS = safePrograms({
  'npm pnpm yarn': { when: isNpmHarmless },
  bun: { when: runs(/^(?:test|run)$/, REFUSED_BY_NPM) },
  node: {
    when: (command) =>
      runsFile(NODE_OPTIONS, FILE)(command) || (command.words.length > 1 && onlyWords(/^--test$/)(command)),
  },
  'python python3': { when: isPythonHarmless },
  'make gmake': {
    when: onlyWords(
      /^(?!-[fCIE])(?:-[ksnBi]+|-j\d*|--(?:silent|dry-run|keep-going|always-make|no-print-directory|jobs=\d+)|[\w./-]+|(?!SHELL|MAKEFLAGS|MAKEFILES|\.SHELLFLAGS)\w+=[\w.,/-]*)$/,
    ),
  },
  tsc: { when: onlyOptions(/^(?!--plugins|--build|-b|--outFile|--outDir)/) },
  'eslint biome oxlint jest vitest mocha pytest mypy ruff black flake8 isort': { when: isToolHarmless },
  prettier: {
    when: (command) =>
      isToolHarmless({ ...command, words: command.words.filter((word) => word.value !== '-c') }),
  },
  pylint: { notNames: 'load-plugins rcfile init-hook', when: isToolHarmless },
  coverage: { when: runs(/^(?:report|run|html|json|xml)$/, /^--(?:rcfile|concurrency)/) },
  'pip pip3': { when: firstIs(PIP_READS) },
});
