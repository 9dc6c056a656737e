/** Pins what is installed with the npm package, and the sets of packages that it installs when they are first used. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Entry {
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly optional?: boolean;
}

export type Entries = Readonly<Record<string, Entry>>;

/** Packages of a set; of optional ones, npm installs those for the machine. */
export interface OnDemandSet {
  readonly names: readonly string[];
  readonly isOptional?: boolean;
}

/** Writes `package.json` and `package-lock.json` of a set into `folder`, with what our own lock pins. */
export function writeOnDemandLock({ names, isOptional = false }: OnDemandSet, folder: string): void {
  const pinned = pinnedWith(names);
  const versions = Object.fromEntries(
    names.map((name) => [name, pinned[`node_modules/${name}`]?.version ?? '']),
  );
  const root = { [isOptional ? 'optionalDependencies' : 'dependencies']: versions };
  const bytes = Object.keys(pinned).reduce((sum, path) => sum + bytesIn(path), 0);
  mkdirSync(folder, { recursive: true });
  writeJson(join(folder, 'package.json'), { private: true, ...root, config: { bytes } });
  writeJson(join(folder, 'package-lock.json'), {
    lockfileVersion: 3,
    requires: true,
    packages: { '': root, ...pinned },
  });
}

/** The entries of our own lock for the packages and all that they need, by their paths. */
export function pinnedWith(names: readonly string[]): Entries {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Entries };
  return closureOf(
    packages,
    names.map((name) => `node_modules/${name}`),
  );
}

/** The entries at `paths` and of all that they need. */
function closureOf(packages: Entries, paths: readonly string[]): Entries {
  const found = new Map<string, Entry>();
  const open = [...paths];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const entry = packages[path];
    if (!entry || found.has(path)) continue;
    found.set(path, entry);
    for (const name of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) {
      const place = placeOf(packages, path, name);
      if (place !== undefined) open.push(place);
    }
  }
  return Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Where a package at `path` finds `name`: beside it, then in each folder above. */
function placeOf(packages: Entries, path: string, name: string): string | undefined {
  for (let base = path; ; base = base.slice(0, Math.max(0, base.lastIndexOf('/node_modules/')))) {
    const place = `${base && `${base}/`}node_modules/${name}`;
    if (place in packages) return place;
    if (base === '') return undefined;
  }
}

/** 0 where it is not installed, as with packages for other systems. */
function bytesIn(folder: string): number {
  if (!statSync(folder, { throwIfNoEntry: false })) return 0;
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

function writeJson(file: string, value: object): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
