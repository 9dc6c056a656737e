/**
 * Build tools and compilers of languages that project-runners does not have: as harmless as `npm test`, by their
 * subcommand.
 */
import type { ShellCommand } from '../shell-command.ts';
import { type Check, firstIs, onlyOptions, onlyWords, runs, safePrograms, valuesOf } from './safe-program.ts';

const ABOUT_ITSELF = /^(?:--?version|-[vV]|--help)$/;

/** One of these comes first, with known options: none that names another configuration, folder or program. */
const does = (subcommand: RegExp, options = ''): { readonly when: Check } => ({
  when: (command) =>
    runs(subcommand, options)(command) || (command.words.length > 1 && onlyWords(ABOUT_ITSELF)(command)),
});

/** Only options of this form. */
const withOptions = (options: RegExp): { readonly when: Check } => ({
  when: onlyOptions(new RegExp(`${options.source}|${ABOUT_ITSELF.source}`), /^[-@]/),
});

const GO_OPTION =
  /^--?(?:v|run|race|count|cover|covermode|coverpkg|coverprofile|short|timeout|bench|benchmem|benchtime|o|x|n|a|p|tags|parallel|failfast|fullpath|list|json|trimpath|cpu|shuffle|skip|vet|m|u|f|deps|e|find|test|all|src|cmd|diff|buildvcs)(?:=|$)/;
/** `go run x.go` and packages below the folder; a package with a version would be fetched. */
const isGoHarmless = (command: ShellCommand): boolean => {
  const [first = '', second = ''] = valuesOf(command);
  if (first === 'env') return second !== '' && !second.startsWith('-');
  if (first === 'mod') return /^(?:graph|why|verify)$/.test(second);
  if (first === 'tool')
    return /^(?:cover|pprof)$/.test(second) && !valuesOf(command).some((arg) => arg.startsWith('-http'));
  if (first === 'run') return /^(?:\.|\.\/[\w./-]*|[\w/-]+\.go)$/.test(second);
  const args = valuesOf(command);
  const end = args.findIndex((arg) => /^--?args$|^--$/.test(arg));
  const own = end < 0 ? args : args.slice(0, end);
  return (
    /^(?:build|test|vet|fmt|version|list|doc)$/.test(first) &&
    own.every((arg) => !arg.startsWith('-') || GO_OPTION.test(arg))
  );
};

export const LANGUAGE_RUNNERS = safePrograms({
  cargo: does(
    /^(?:build|test|check|clippy|fmt|doc|bench|run|tree|metadata|b|t|c|r)$/,
    'vqreip:j:F:d: --all --all-features --all-targets --benches --bench --bin --bins --check --color --depth --doc ' +
      '--document-private-items --duplicates --edges --example --examples --exclude --features --format-version --frozen --invert --jobs ' +
      '--keep-going --lib --locked --message-format --no-default-features --no-deps --no-fail-fast --no-run --offline --package ' +
      '--profile --quiet --release --test --tests --verbose --workspace',
  ),
  'rustc java tsx hadolint': withOptions(/^$/),
  rustfmt: withOptions(/^(?:--check|--edition(?:=\d+)?)$/),
  go: { when: isGoHarmless },
  gofmt: { options: 'ldwser' },
  'golangci-lint': does(
    /^run$/,
    'vE:D:j: --build-tags --disable --disable-all --enable --enable-all --fast --fix --new --new-from-rev --out-format --tests --timeout --verbose',
  ),
  'mvn mvnw': {
    when: onlyWords(
      /^(?:-q|-o|-B|-ntp|-Dtest=[\w#.*]+|-DskipTests|clean|compile|test|test-compile|package|verify|validate|-version)$/,
    ),
  },
  'gradle gradlew': {
    when: onlyWords(/^(?:-q|--offline|--info|--no-daemon|--tests|--version|:?[\w:]+|[\w.*]+)$/),
  },
  javac: withOptions(/^-(?:Xlint\S*|g|nowarn|verbose)$/),
  dotnet: {
    when: (command) =>
      does(
        /^(?:build|test|run|clean|format)$/,
        'c:v:f: --configuration --filter --framework --no-build --no-restore --nologo --verbosity --verify-no-changes',
      ).when(command) && valuesOf(command).every((arg) => !arg.startsWith('/')),
  },
  rspec: withOptions(/^(?:-f\w*|--format(?:=\w+)?|--fail-fast|--no-color)$/),
  rake: does(/^(?:test|spec|lint|build|-T)$/, 'TPnqstv --dry-run --quiet --silent --tasks --trace --verbose'),
  ruby: withOptions(/^(?:-c|-w|-wc)$/),
  php: withOptions(/^-l$/),
  composer: does(
    /^(?:validate|show|test)$/,
    'nqvtilo --direct --installed --latest --no-check-all --no-dev --no-interaction --outdated --platform --quiet --strict --tree --verbose',
  ),
  mix: does(
    /^(?:test|compile|format)$/,
    '--check-formatted --cover --dry-run --exclude --failed --force --include --max-failures --only --seed --slowest --stale --trace --warnings-as-errors',
  ),
  swift: does(
    /^(?:build|test|run)$/,
    'c:v --configuration --enable-code-coverage --filter --parallel --product --show-bin-path --skip-build --target --verbose',
  ),
  cmake: withOptions(/^(?:-[SB]|--build|--target|-j\d*|--config|-DCMAKE_BUILD_TYPE=\w+)$/),
  ctest: withOptions(/^(?:--test-dir|--output-on-failure|-V|-j\d*|-R)$/),
  ninja: withOptions(/^(?:-C|-j\d*|-v|-n)$/),
  // Without options that start programs or read others from files: `-B`, `-wrapper`, `-fplugin`, `-specs`, `@file`.
  'gcc g++ clang clang++ cc': withOptions(
    /^-(?:W[\w-]+|O[0-3sg]?|g\d?|c|o|std=[\w+]+|l\w+|D\w+(?:=\w+)?|I[\w./-]+|L[\w./-]+|pedantic|pthread|S|E)$/,
  ),
  'clang-format': withOptions(/^(?:-i|-n|--dry-run|-Werror)$/),
  shellcheck: withOptions(/^(?:-x|-s|-S|-e|-f|--severity=\w+|--shell=\w+|--exclude=[\w,]+|--format=\w+)$/),
  yamllint: withOptions(/^(?:-s|--strict|-f|--format)$/),
  markdownlint: withOptions(/^--fix$/),
  terraform: {
    when: (command) =>
      firstIs(/^(?:fmt|validate|--?version|version)$/)(command) &&
      onlyOptions(/^-(?:check|diff|json|list=\w+|-?version|no-color|recursive|write=\w+)$/)(command),
  },
  tox: withOptions(/^-(?:l|a|av)$/),
});
