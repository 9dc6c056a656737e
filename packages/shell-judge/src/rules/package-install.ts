/** Installing, updating and removing software, and fetching it to run it. */
import { argumentsOf, type ShellCommand } from '../shell-command.ts';
import { categoryOf, type CommandRule, isAboutItself, lineOf, type Matching } from './rule.ts';

const row = (matches: Matching, deny = 'installs software'): CommandRule => ({
  deny,
  isForAuthors: true,
  ...matches,
});

/** Installed packages are run, and only missing ones are fetched: a person may permit it. */
const runs = (matches: Matching): CommandRule => ({
  confirm: 'may fetch software and runs it',
  isForAuthors: true,
  ...matches,
});

/** `npx -y x`, `npx x@1`, `npx -p x`: from the registry, even if it is installed. */
const fetches = (command: ShellCommand): boolean =>
  argumentsOf(command).some((word, at, all) => {
    const isOption = /^(?:-\w*[yp]\w*|--yes|--package(?:=.*)?)$/.test(word.value);
    const isName = all.slice(0, at).every((before) => /^-|^(?:exec|x)$/.test(before.value));
    return isName && (isOption || /.@|:\/\/|^git[+@]|^github:/.test(word.value));
  });

/** `npx --no tsc` and `npm exec --no tsc` fetch nothing. */
const isOffline = (command: ShellCommand): boolean =>
  /^(?:(?:exec|x) )?--no(?:-install)?(?: |$)/.test(lineOf(command));

const PIP_READS = /-[bBdEhiIOqsSuvx]*m\s*pip\s+(?:list|show|freeze|check|inspect|debug|help|--version|-V)\b/;

/** A subcommand that determines the action, after at most one operand such as an option's value. */
const NODE_INSTALLS =
  /^(?!(?:run|run-script|test|t|start|exec|x|help|info|view|search|config|pkg|ls|list|explain|why|docs|audit|-\w)\s)(?:\S+\s)?(?:i|in|ins|inst|install|isntall|install-test|it|add|ci|clean-install|un|uninstall|remove|rm|dlx|global|up|update|upgrade|dedupe|import)(?:\s|$)/;
const LANGUAGE_INSTALLS =
  /^(?:\+\S+ )?(?:install|binstall|uninstall|get|require|add|remove|update|upgrade)(?:\s|$)|^(?:global|tool|mod|extension|plugin|plugins|pub|deps|hex|pm) (?:require|install|add|get|download|upgrade|update)(?:\s|$)|^deps\.get\b/;

export const packageInstall = categoryOf('package_install', [
  row({ programs: /^pip[\d.]*$/, argument: /^(?:install|download|wheel|uninstall)$/ }),
  row({
    programs: /^(?:python[\d.]*|pypy\d*)$/,
    line: /-[bBdEhiIOqsSuvx]*m\s*(?:pip|ensurepip|easy_install|pipx|uv)\b/,
    when: (command) => !PIP_READS.test(lineOf(command)),
  }),
  row({
    programs: /^(?:python[\d.]*|pypy\d*)$/,
    line: /(?:^|\s|\/)setup\.py\s(?:.*\s)?(?:install|develop|easy_install)(?:\s|$)/,
  }),
  row({
    programs: 'pipx easy_install conda mamba micromamba poetry pdm rye hatch pipenv',
    subcommand: /^(?:install|uninstall|remove|add|create|update|upgrade|inject|sync|self)\b/,
  }),
  row({ programs: 'pipx', subcommand: /^run\b/ }, 'fetches software and runs it'),
  row({ programs: 'easy_install' }),
  row({
    programs: 'uv',
    subcommand:
      /^(?:add|remove|sync|x)\b|^pip (?:install|uninstall|sync)\b|^(?:tool|python) (?:install|run|upgrade)\b/,
  }),
  runs({ programs: 'uv', subcommand: /^run\b/ }),
  row({ programs: 'npm pnpm yarn bun cnpm', subcommand: NODE_INSTALLS }),
  row(
    { programs: 'npm pnpm yarn bun', subcommand: /^(?:create|init|innit) \S/ },
    'fetches software and runs it',
  ),
  row({ programs: 'yarn', when: (command) => command.words.length === 1 }),
  row(
    { programs: 'npx npm bunx pnpx', when: (command) => startsPackage(command) && fetches(command) },
    'fetches software and runs it',
  ),
  row(
    { programs: 'bunx pnpx uvx', when: (command) => !isAboutItself(command) },
    'fetches software and runs it',
  ),
  runs({
    programs: 'npx npm corepack',
    when: (command) => startsPackage(command) && !isOffline(command) && !isAboutItself(command),
  }),
  row({
    programs:
      'apt apt-get aptitude dnf yum zypper brew port snap flatpak pkg choco winget scoop microdnf emerge ' +
      'xbps-install nix guix opkg apk',
    argument:
      /^(?:install|add|del|fix|upgrade|update|remove|purge|autoremove|dist-upgrade|full-upgrade|in|reinstall|uninstall|shell|run|refresh|tap)$/,
  }),
  row({ programs: 'nix-env xbps-install emerge', argument: /^-\w*[iuS]|^--(?:install|upgrade|sync)/ }),
  row({ programs: 'pacman yay paru', argument: /^-\w*[SUR]/ }),
  row({ programs: 'dpkg rpm', argument: /^(?:-\w*[iUFe]\w*|--install|--upgrade)$/ }),
  row({
    programs:
      'gem bundle bundler cargo go composer luarocks dotnet mix opam cabal stack nimble deno dart flutter ' +
      'rustup helm gh asdf mise',
    subcommand: LANGUAGE_INSTALLS,
  }),
  row({ programs: 'code codium cursor', names: 'install-extension' }),
  row({ programs: 'cpan cpanm' }),
  row({ programs: 'go', line: /^run\s+\S+@/ }, 'fetches software and runs it'),
]);

/** `npx …` and `npm exec …`, but not `npm test`. */
function startsPackage(command: ShellCommand): boolean {
  const [program, first] = command.words.map((word) => word.value);
  return !/(?:^|\/)npm$/.test(program ?? '') || /^(?:exec|x)$/.test(first ?? '');
}
