/** Build tools and compilers of languages beside those that project-runners has: as harmless as `npm test`, by their subcommand. */
import { argumentsOf, type ShellCommand } from '../shell-command.ts';
import type { SafeProgram, SafePrograms } from './safe-program.ts';

const values = (command: ShellCommand): readonly string[] => argumentsOf(command).map((word) => word.value);

const ABOUT_ITSELF = /^(?:--?version|-[vV]|--help)$/;

/** One of these comes first, and no option that names another configuration, folder or program. */
const runs = (subcommand: RegExp, refused: RegExp = /^$/): SafeProgram => ({
  when: (command) => {
    const args = values(command);
    const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
    if (args.length > 0 && args.every((arg) => ABOUT_ITSELF.test(arg))) return true;
    return subcommand.test(own[0] ?? '') && !own.some((arg) => refused.test(arg));
  },
});

/** Only options of this form. */
const withOptions = (options: RegExp): SafeProgram => ({
  when: (command) =>
    values(command).every((arg) => !/^[-@]/.test(arg) || options.test(arg) || ABOUT_ITSELF.test(arg)),
});

const GO_REFUSED = /^-(?:exec|toolexec|overlay|C|modfile|ldflags|gcflags|asmflags|vettool|compiler|mod)/;
/** `go run x.go` and packages below the folder; a version would be fetched. */
const isGoHarmless = (command: ShellCommand): boolean => {
  const [first = '', second = ''] = values(command);
  if (first === 'env') return second !== '' && !second.startsWith('-');
  if (first === 'mod') return /^(?:graph|why|verify)$/.test(second);
  if (first === 'tool')
    return /^(?:cover|pprof)$/.test(second) && !values(command).some((arg) => arg.startsWith('-http'));
  if (first === 'run') return /^(?:\.|\.\/[\w./-]*|[\w/-]+\.go)$/.test(second);
  return runs(/^(?:build|test|vet|fmt|version|list|doc)$/, GO_REFUSED).when?.(command) === true;
};

export const LANGUAGE_RUNNERS: SafePrograms = new Map<string, SafeProgram>([
  [
    'cargo',
    runs(
      /^(?:build|test|check|clippy|fmt|doc|bench|run|tree|metadata|b|t|c|r)$/,
      /^(?:--config|--manifest-path|-Z|-C)/,
    ),
  ],
  ['rustc', withOptions(/^$/)],
  ['rustfmt', withOptions(/^(?:--check|--edition(?:=\d+)?)$/)],
  ['go', { when: isGoHarmless }],
  ['gofmt', { notNames: ['cpuprofile'] }],
  ['golangci-lint', runs(/^run$/, /^(?:-c|--config|--path-prefix)/)],
  ['mvn', { when: (command) => isMaven(values(command)) }],
  ['mvnw', { when: (command) => isMaven(values(command)) }],
  ['gradle', { when: (command) => isGradle(values(command)) }],
  ['gradlew', { when: (command) => isGradle(values(command)) }],
  ['java', withOptions(/^$/)],
  ['javac', withOptions(/^-(?:Xlint\S*|g|nowarn|verbose)$/)],
  ['dotnet', runs(/^(?:build|test|run|clean|format)$/, /^(?:-p:|\/p:|--property|-s|--source|--configfile)/)],
  ['rspec', withOptions(/^(?:-f\w*|--format(?:=\w+)?|--fail-fast|--no-color)$/)],
  ['rake', runs(/^(?:test|spec|lint|build|-T)$/, /^(?:-f|--rakefile|-e|-E|-r|-R)/)],
  ['ruby', withOptions(/^(?:-c|-w|-wc)$/)],
  ['php', withOptions(/^-l$/)],
  ['composer', runs(/^(?:validate|show|test)$/, /^(?:-d|--working-dir)/)],
  ['mix', runs(/^(?:test|compile|format)$/)],
  ['swift', runs(/^(?:build|test|run)$/, /^(?:--package-path|-X|--toolset)/)],
  ['tsx', withOptions(/^$/)],
  ['cmake', withOptions(/^(?:-[SB]|--build|--target|-j\d*|--config|-DCMAKE_BUILD_TYPE=\w+)$/)],
  ['ctest', withOptions(/^(?:--test-dir|--output-on-failure|-V|-j\d*|-R)$/)],
  ['ninja', withOptions(/^(?:-C|-j\d*|-v|-n)$/)],
  ['gcc', COMPILES()],
  ['g++', COMPILES()],
  ['clang', COMPILES()],
  ['clang++', COMPILES()],
  ['cc', COMPILES()],
  ['clang-format', withOptions(/^(?:-i|-n|--dry-run|-Werror)$/)],
  [
    'shellcheck',
    withOptions(/^(?:-x|-s|-S|-e|-f|--severity=\w+|--shell=\w+|--exclude=[\w,]+|--format=\w+)$/),
  ],
  ['hadolint', withOptions(/^$/)],
  ['yamllint', withOptions(/^(?:-s|--strict|-f|--format)$/)],
  ['markdownlint', withOptions(/^--fix$/)],
  ['terraform', runs(/^(?:fmt|validate|version)$/)],
  ['tox', withOptions(/^-(?:l|a|av)$/)],
]);

function isMaven(args: readonly string[]): boolean {
  return args.every((arg) =>
    /^(?:-q|-o|-B|-ntp|-Dtest=[\w#.*]+|-DskipTests|clean|compile|test|test-compile|package|verify|validate|-version)$/.test(
      arg,
    ),
  );
}

function isGradle(args: readonly string[]): boolean {
  return args.every(
    (arg) =>
      /^(?:-q|--offline|--info|--no-daemon|--tests|--version|:?[\w:]+|[\w.*]+)$/.test(arg) && arg !== '-I',
  );
}

/** No options that start programs or read others from files: `-B`, `-wrapper`, `-fplugin`, `-specs`, `@file`. */
function COMPILES(): SafeProgram {
  return withOptions(
    /^-(?:W[\w-]+|O[0-3sg]?|g\d?|c|o|std=[\w+]+|l\w+|D\w+(?:=\w+)?|I[\w./-]+|L[\w./-]+|pedantic|pthread|S|E)$/,
  );
}
