/**
 * package-lock.json installs on every platform: each optional dependency of a package (a binary for one system) has an entry, which
 * npm leaves out where the registry did not have it, and `npm ci` then refuses there. No registry's address stands in it; each install script
 * is allowed or denied. It states no `engines`: npm would judge them by the Node that runs npm, and warn,
 * while everything runs on the Node that is among the dependencies. `--write` takes those out.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Entry {
  readonly resolved?: string;
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

/** Node looks for a package beside the one that asks, then in each folder above. */
function has(path: string, name: string): boolean {
  if (`${path && `${path}/`}node_modules/${name}` in lock.packages) return true;
  if (path === '') return false;
  return has(path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/'))), name);
}

const problems: string[] = [];
let stating = 0;
for (const [path, entry] of Object.entries(lock.packages)) {
  const name = path.split('node_modules/').at(-1) ?? path;
  for (const [wanted, version] of Object.entries(entry.optionalDependencies ?? {}))
    if (!has(path, wanted))
      problems.push(
        `${name}: ${wanted}@${version} is missing; install a version of ${name} that the registry has for all platforms, without node_modules`,
      );
  if (entry.resolved !== undefined) problems.push(`${name}: names where it was fetched from`);
  if (entry.hasInstallScript === true && !(name in allowScripts))
    problems.push(`${name}: has an install script; allow or deny it in allowScripts of package.json`);
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
