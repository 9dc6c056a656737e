/**
 * Programs that run the workspace's own code by its name: tests, builds, a file of the workspace. They do no more than
 * the project's own scripts. Code in an argument, from the input or from elsewhere is excluded.
 */
import { NODE_FLAG } from './harmless-variables.ts';
import { literalWord, programOf, type ShellCommand } from '../shell-command.ts';
import { firstIs, onlyWords, runs, safePrograms, valuesOf } from './safe-program.ts';

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

const NODE_OPTIONS = new RegExp(
  `^--(?:test(?:-reporter=\\w+|-only|-name-pattern=.*)?|watch|check)$|^-c$|${NODE_FLAG.source}`,
);

const PACKAGE_SCRIPTS =
  /^(?:test|t|tst|run|run-script|start|build|lint|ls|list|la|ll|outdated|version|root|prefix|bin|why|explain)$/;
/** npm treats any other option as a setting, including `--script-shell`. */
const PACKAGE_OPTIONS =
  'swrladqF: --all --color --depth --dry-run --filter --if-present --include --include-workspace-root --json --long --loglevel --no-audit ' +
  '--no-color --no-fund --no-progress --offline --omit --parallel --parseable --prod --production --quiet --recursive --silent ' +
  '--sort --stream --verbose --workspace --workspaces';

/** Words after the script’s name belong to it; npm also reads options there, up to `--`. */
function isScriptHarmless(command: ShellCommand): boolean {
  const args = valuesOf(command);
  const atScript = args.findIndex((arg) => !/^-|^run(?:-script)?$/.test(arg));
  const own = programOf(command) === 'npm' || atScript < 0 ? args : args.slice(0, atScript + 1);
  return runs(
    PACKAGE_SCRIPTS,
    PACKAGE_OPTIONS,
  )({
    ...command,
    words: [...command.words.slice(0, 1), ...own.map(literalWord)],
  });
}

function isNpmHarmless(command: ShellCommand): boolean {
  const begin = valuesOf(command).slice(0, 2).join(' ');
  return (
    isScriptHarmless(command) ||
    /^(?:-v|--version)(?: |$)|^(?:pkg get|pack --dry-run|-r (?:build|test|lint))\b/.test(begin)
  );
}

/** `ruff check`, or no subcommand of the tool. */
const does = (first: RegExp, options: string) => ({ options, when: firstIs(first) });

export const PROJECT_RUNNERS = safePrograms({
  'npm pnpm yarn': { when: isNpmHarmless },
  bun: { when: (command) => firstIs(/^(?:test|run)$/)(command) && isScriptHarmless(command) },
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
  tsc: {
    options:
      'p:t:m:wvh --allowJs --checkJs --declaration --diagnostics --emitDeclarationOnly --esModuleInterop --explainFiles ' +
      '--extendedDiagnostics --help --incremental --jsx --lib --listFiles --listFilesOnly --module --moduleResolution --noEmit ' +
      '--noEmitOnError --noUnusedLocals --noUnusedParameters --pretty --project --resolveJsonModule --showConfig --skipLibCheck ' +
      '--sourceMap --strict --target --traceResolution --types --version --watch',
  },
  eslint: {
    options:
      'hv --cache --cache-strategy --color --debug --env --ext --fix --fix-dry-run --fix-type --global --help --ignore-pattern ' +
      '--max-warnings --no-cache --no-color --no-error-on-unmatched-pattern --no-eslintrc --no-ignore --no-inline-config ' +
      '--no-warn-ignored --quiet --report-unused-disable-directives --rule --stats --version',
  },
  biome: does(
    /^(?:check|lint|format|ci|version|--version)$/,
    '--apply --changed --colors --diagnostic-level --error-on-warnings --fix --formatter-enabled --linter-enabled ' +
      '--max-diagnostics --no-errors-on-unmatched --only --reporter --since --skip --staged --unsafe --verbose --version --write',
  ),
  oxlint: {
    options:
      'D:A:W:h --allow --deny --deny-warnings --fix --help --import-plugin --max-warnings --quiet --threads --type-aware --version --warn',
  },
  jest: {
    options:
      'bihou:t:w: --bail --cache --changedSince --ci --clearCache --collectCoverageFrom --color --colors --coverage --detectOpenHandles ' +
      '--errorOnDeprecated --expand --findRelatedTests --forceExit --help --json --lastCommit --listTests --logHeapUsage --maxWorkers ' +
      '--no-cache --no-coverage --no-watchman --onlyChanged --passWithNoTests --randomize --runInBand --seed --selectProjects --shard ' +
      '--showSeed --silent --testNamePattern --testPathIgnorePatterns --testPathPattern --testPathPatterns --testTimeout ' +
      '--updateSnapshot --useStderr --verbose --version --watch --watchAll',
  },
  vitest: {
    options:
      'huwt: --allowOnly --bail --changed --coverage --coverage.enabled --coverage.reporter --dom --environment --exclude --fileParallelism ' +
      '--globals --help --hookTimeout --isolate --logHeapUsage --mode --no-color --no-coverage --no-file-parallelism --no-isolate ' +
      '--passWithNoTests --pool --project --reporter --retry --run --shard --silent --testNamePattern --testTimeout --typecheck ' +
      '--update --version --watch',
  },
  mocha: {
    options:
      'bciwhg:f:t:R:s:j:u: --bail --check-leaks --color --colors --diff --dry-run --exit --extension --fgrep --forbid-only --forbid-pending ' +
      '--full-trace --grep --help --ignore --invert --jobs --no-color --no-colors --no-diff --parallel --recursive --reporter --retries ' +
      '--slow --sort --timeout --ui --version --watch',
  },
  pytest: {
    options:
      'qvsxlhVk:m:n:r:W: --asyncio-mode --benchmark-disable --benchmark-only --benchmark-skip --cache-clear --capture --co ' +
      '--collect-only --color --cov --cov-branch --cov-fail-under --cov-report --deselect --disable-warnings --dist ' +
      '--doctest-modules --durations --durations-min --exitfirst --failed-first --ff --fixtures --full-trace --help --ignore ' +
      '--ignore-glob --import-mode --junit-xml --junitxml --last-failed --lf --markers --maxfail --new-first --nf --no-cov --no-header ' +
      '--no-summary --numprocesses --pyargs --quiet --randomly-seed --reruns --runxfail --setup-show --showlocals --snapshot-update ' +
      '--stepwise --strict-markers --sw --tb --timeout --verbose --verbosity --version',
  },
  mypy: {
    options:
      'hvVp:m: --check-untyped-defs --disallow-any-generics --disallow-untyped-defs --exclude --explicit-package-bases --follow-imports ' +
      '--help --hide-error-context --ignore-missing-imports --module --namespace-packages --no-color-output --no-error-summary ' +
      '--no-implicit-optional --no-incremental --package --platform --pretty --python-version --show-column-numbers ' +
      '--show-error-codes --show-error-context --strict --verbose --version --warn-return-any --warn-unreachable --warn-unused-ignores',
  },
  ruff: does(
    /^(?:check|format|rule|linter|version|--version)$/,
    'eqnvsw --add-noqa --check --diff --exclude --exit-non-zero-on-fix --exit-zero --extend-ignore --extend-select --fix --fix-only ' +
      '--force-exclude --ignore --isolated --line-length --no-cache --no-fix --output-format --per-file-ignores --preview --quiet ' +
      '--respect-gitignore --select --show-fixes --show-settings --statistics --target-version --unsafe-fixes --verbose --version --watch',
  ),
  black: {
    options:
      'hqvSCl:t: --check --color --diff --exclude --extend-exclude --fast --help --include --line-length --preview --quiet --safe ' +
      '--skip-string-normalization --target-version --verbose --version',
  },
  flake8: {
    options:
      'hqvj: --benchmark --count --doctests --exclude --extend-exclude --extend-ignore --extend-select --help --ignore --isolated ' +
      '--max-complexity --max-doc-length --max-line-length --per-file-ignores --quiet --select --show-source --statistics --version',
  },
  isort: {
    options:
      'cdhqvl: --atomic --check --check-only --diff --filter-files --help --line-length --profile --quiet --skip --skip-glob --verbose --version',
  },
  prettier: {
    options:
      'clwuh --cache --check --end-of-line --help --ignore-unknown --list-different --log-level --loglevel --no-color ' +
      '--no-error-on-unmatched-pattern --no-semi --print-width --prose-wrap --single-quote --stdin-filepath --tab-width ' +
      '--trailing-comma --use-tabs --version --write',
  },
  pylint: {
    options:
      'hvEj:r:s:d:e: --disable --enable --errors-only --exit-zero --fail-under --help --ignore --ignore-patterns --jobs --max-line-length ' +
      '--msg-template --py-version --recursive --reports --score --verbose --version',
  },
  coverage: {
    when: (command) =>
      firstIs(/^run$/)(command)
        ? onlyWords(
            /^(?!-)|^(?:-[ampqsvx]|--(?:append|branch|parallel-mode|include=.*|omit=.*|source=.*|version))$/,
          )(command)
        : runs(
            /^(?:report|html|json|xml|--version)$/,
            'miqd:o: --directory --fail-under --ignore-errors --include --omit --precision --show-missing --skip-covered --skip-empty --title --version',
          )(command),
  },
  'pip pip3': {
    options:
      'oluevfqV --all --disable-pip-version-check --editable --exclude --exclude-editable --files --format --local --no-color ' +
      '--not-required --outdated --pre --quiet --uptodate --user --verbose --version',
    when: firstIs(PIP_READS),
  },
});
