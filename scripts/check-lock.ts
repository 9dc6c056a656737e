/**
 * Checks that package-lock.json installs on every platform.
 * - Each optional dependency of a package (a binary for one system) has an entry. npm omits the entry where the
 *   registry did not have the package, and `npm ci` then fails there.
 * - It contains no registry's address, and a link leads to a folder of packages/.
 * - Each install script is allowed or denied, and an allowed one downloads nothing, because no lock covers that.
 * - It states no `engines`. npm would compare them with the Node that runs npm, and warn, although everything runs on
 *   the Node among the dependencies where that one is older. `--write` removes them.
 */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Entry {
  readonly resolved?: string;
  /** A link to the folder that `resolved` names: a workspace. */
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  engines?: unknown;
}

const args = process.argv.slice(2);
const write = args.includes('--write');
const folder = args.find((arg) => arg !== '--write') ?? '.';
const file = join(folder, 'package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, Entry> };
const { allowScripts = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
  allowScripts?: Record<string, boolean>;
};

/** Node searches for a package beside the importing one, then in each folder above. */
function has(path: string, name: string): boolean {
  if (`${path && `${path}/`}node_modules/${name}` in lock.packages) return true;
  if (path === '') return false;
  return has(path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/'))), name);
}

/**
 * Matches starting a package manager or a program, or a call, that downloads what is not in the package; comments may
 * name them.
 */
const FETCHES = /(^|&&\s*|;\s*|['"`])(npm|npx|yarn|pnpm|curl|wget)[\s'"`.]|\bfetch\(|['"](node:)?https?['"]/;

/** What npm runs when the package is installed: the commands, and the files of the package that they name. */
function installScripts(path: string): readonly string[] {
  const manifest = join(folder, path, 'package.json');
  if (!existsSync(manifest)) return [];
  const { scripts = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as { scripts?: Record<string, string> };
  const commands = ['preinstall', 'install', 'postinstall'].flatMap((name) => scripts[name] ?? []);
  const files = commands.flatMap((command) => command.split(/\s+/)).map((word) => join(folder, path, word));
  return [
    ...commands,
    ...files
      .flatMap((name) => [name, `${name}.js`])
      .filter((name) => statSync(name, { throwIfNoEntry: false })?.isFile())
      .map((name) => readFileSync(name, 'utf8')),
  ];
}

const problems: string[] = [];
let stating = 0;
for (const [path, entry] of Object.entries(lock.packages)) {
  const name = path.split('node_modules/').at(-1) ?? path;
  for (const [required, version] of Object.entries(entry.optionalDependencies ?? {}))
    if (!has(path, required))
      problems.push(
        `${name}: ${required}@${version} is missing; install a version of ${name} that the registry has for all platforms, without node_modules`,
      );
  if (entry.link === true) {
    if (!/^packages\/[^/]+$/.test(entry.resolved ?? ''))
      problems.push(`${name}: links to ${entry.resolved}, which is no folder of packages/`);
  } else if (entry.resolved !== undefined) problems.push(`${name}: names where it was fetched from`);
  if (entry.hasInstallScript === true && !(name in allowScripts))
    problems.push(`${name}: has an install script; allow or deny it in allowScripts of package.json`);
  if (allowScripts[name] === true && installScripts(path).some((text) => FETCHES.test(text)))
    problems.push(`${name}: its install script fetches what the lock does not have; deny it`);
  if (path === '' || entry.engines === undefined) continue;
  stating += 1;
  delete entry.engines;
}
if (write) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
else if (stating > 0)
  problems.push(`${stating} packages state engines; run \`npx node scripts/check-lock.ts --write\``);
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
