/** Build tools and compilers of languages beside those that project-runners has: as harmless as `npm test`, by their subcommand. */
import type { ShellCommand } from '../shell-command.ts';
import { type Check, onlyOptions, onlyWords, runs, safePrograms, valuesOf } from './safe-program.ts';

const ABOUT_ITSELF = /^(?:--?version|-[vV]|--help)$/;

/** One of these comes first, and no option that names another configuration, folder or program. */
const does = (subcommand: RegExp, refused?: RegExp): { readonly when: Check } => ({
  when: (command) =>
    runs(subcommand, refused)(command) || (command.words.length > 1 && onlyWords(ABOUT_ITSELF)(command)),
});

/** Only options of this form. */
const withOptions = (options: RegExp): { readonly when: Check } => ({
  when: onlyOptions(new RegExp(`${options.source}|${ABOUT_ITSELF.source}`), /^[-@]/),
});

const GO_REFUSED = /^-(?:exec|toolexec|overlay|C|modfile|ldflags|gcflags|asmflags|vettool|compiler|mod)/;
/** `go run x.go` and packages below the folder; a version would be fetched. */
const isGoHarmless = (command: ShellCommand): boolean => {
  const [first = '', second = ''] = valuesOf(command);
  if (first === 'env') return second !== '' && !second.startsWith('-');
  if (first === 'mod') return /^(?:graph|why|verify)$/.test(second);
  if (first === 'tool')
    return /^(?:cover|pprof)$/.test(second) && !valuesOf(command).some((arg) => arg.startsWith('-http'));
  if (first === 'run') return /^(?:\.|\.\/[\w./-]*|[\w/-]+\.go)$/.test(second);
  return does(/^(?:build|test|vet|fmt|version|list|doc)$/, GO_REFUSED).when(command);
};

export const LANGUAGE_RUNNERS = safePrograms({
  cargo: does(
    /^(?:build|test|check|clippy|fmt|doc|bench|run|tree|metadata|b|t|c|r)$/,
    /^(?:--config|--manifest-path|-Z|-C)/,
  ),
  'rustc java tsx hadolint': withOptions(/^$/),
  rustfmt: withOptions(/^(?:--check|--edition(?:=\d+)?)$/),
  go: { when: isGoHarmless },
  gofmt: { notNames: 'cpuprofile' },
  'golangci-lint': does(/^run$/, /^(?:-c|--config|--path-prefix)/),
  'mvn mvnw': {
    when: onlyWords(
      /^(?:-q|-o|-B|-ntp|-Dtest=[\w#.*]+|-DskipTests|clean|compile|test|test-compile|package|verify|validate|-version)$/,
    ),
  },
  'gradle gradlew': {
    when: onlyWords(/^(?:-q|--offline|--info|--no-daemon|--tests|--version|:?[\w:]+|[\w.*]+)$/),
  },
  javac: withOptions(/^-(?:Xlint\S*|g|nowarn|verbose)$/),
  dotnet: does(/^(?:build|test|run|clean|format)$/, /^(?:-p:|\/p:|--property|-s|--source|--configfile)/),
  rspec: withOptions(/^(?:-f\w*|--format(?:=\w+)?|--fail-fast|--no-color)$/),
  rake: does(/^(?:test|spec|lint|build|-T)$/, /^(?:-f|--rakefile|-e|-E|-r|-R)/),
  ruby: withOptions(/^(?:-c|-w|-wc)$/),
  php: withOptions(/^-l$/),
  composer: does(/^(?:validate|show|test)$/, /^(?:-d|--working-dir)/),
  mix: does(/^(?:test|compile|format)$/),
  swift: does(/^(?:build|test|run)$/, /^(?:--package-path|-X|--toolset)/),
  cmake: withOptions(/^(?:-[SB]|--build|--target|-j\d*|--config|-DCMAKE_BUILD_TYPE=\w+)$/),
  ctest: withOptions(/^(?:--test-dir|--output-on-failure|-V|-j\d*|-R)$/),
  ninja: withOptions(/^(?:-C|-j\d*|-v|-n)$/),
  // None of those that start programs or read others from files: `-B`, `-wrapper`, `-fplugin`, `-specs`, `@file`.
  'gcc g++ clang clang++ cc': withOptions(
    /^-(?:W[\w-]+|O[0-3sg]?|g\d?|c|o|std=[\w+]+|l\w+|D\w+(?:=\w+)?|I[\w./-]+|L[\w./-]+|pedantic|pthread|S|E)$/,
  ),
  'clang-format': withOptions(/^(?:-i|-n|--dry-run|-Werror)$/),
  shellcheck: withOptions(/^(?:-x|-s|-S|-e|-f|--severity=\w+|--shell=\w+|--exclude=[\w,]+|--format=\w+)$/),
  yamllint: withOptions(/^(?:-s|--strict|-f|--format)$/),
  markdownlint: withOptions(/^--fix$/),
  terraform: does(/^(?:fmt|validate|version)$/),
  tox: withOptions(/^-(?:l|a|av)$/),
});
