/**
 * Loads the features of an installation from a folder: `NAME/feature.ts` each, whose default export is made by
 * `defineFeature`. One that is wrong is left out, with what is wrong.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { commandsOf } from '#cli/commands.ts';
import { type Feature, inOrderOfNeed } from '#domain/feature.ts';
import { provideExports } from './provide-exports.ts';

export interface OwnFeatures {
  readonly features: readonly Feature[];
  /** Texts for people; each begins with the feature's folder. */
  readonly problems: readonly string[];
}

const NAME = /^[a-z][a-z0-9-]{0,39}$/;
const MAX_FEATURES = 100;
const MAX_FILES = 2_000;

/** `folder` contains a folder for each feature; undefined when the installation has none. `built`: features of this build. */
export function loadOwnFeatures(folder: string | undefined, built: readonly Feature[]): OwnFeatures {
  if (folder === undefined) return { features: [], problems: [] };
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    return { features: [], problems: [`TEMPOCLAW_FEATURES: there is no folder ${folder}`] };
  const names = foldersIn(folder);
  if (names.length > MAX_FEATURES)
    return { features: [], problems: [`${folder}: it has more than ${MAX_FEATURES} features`] };
  provideExports();
  const features: Feature[] = [];
  const problems: string[] = [];
  for (const name of names) {
    const loaded = loadFeature(join(folder, name), name, [...built, ...features]);
    if (typeof loaded === 'string') problems.push(`${join(folder, name)}: ${loaded}`);
    else features.push(loaded);
  }
  const usable = inOrderOfNeed([...built, ...features]);
  for (const { name, needs = [], own } of features.filter((one) => !usable.includes(one)))
    problems.push(`${own?.folder}: ${name} needs ${needs.join(' and ')}, of which not all are there`);
  return { features: features.filter((one) => usable.includes(one)), problems };
}

function foldersIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^[._]|^node_modules$/.test(entry.name))
    .map(({ name }) => name)
    .toSorted();
}

/** The manifest, or what is wrong. `others`: features that are there already. */
function loadFeature(folder: string, name: string, others: readonly Feature[]): Feature | string {
  const file = ['feature.ts', 'feature.js'].map((one) => join(folder, one)).find((one) => existsSync(one));
  if (file === undefined) return 'it has no feature.ts';
  try {
    // Lists of features are made while modules load, so it is loaded at once.
    const { default: made } = createRequire(import.meta.url)(file) as { readonly default?: Feature };
    if (typeof made !== 'object' || made === null)
      return 'feature.ts has no default export: export default defineFeature({ ... })';
    return problemOf(made, name, others) ?? { ...made, own: { folder, digest: digestOf(folder) } };
  } catch (error) {
    return loadProblem(error, name);
  }
}

function loadProblem(error: unknown, name: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ERR_REQUIRE_ASYNC_MODULE') return 'feature.ts has an await outside of functions';
  // A module of the core that needs the list of features, which is not made yet.
  if (error instanceof ReferenceError && /before initialization/.test(error.message))
    return `feature.ts imports modules of parts at once: give functions that import them, as in () => import('./${name}.ts')`;
  return `feature.ts cannot be loaded: ${error instanceof Error ? error.message : String(error)}`;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isFunction = (value: unknown): boolean => typeof value === 'function';
const isUrl = (value: unknown): boolean => value instanceof URL && value.protocol === 'file:';
const areAll =
  (is: (value: unknown) => boolean) =>
  (values: unknown): boolean =>
    Array.isArray(values) && values.every(is);
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** What each field of a manifest is, and the words for it. */
const FIELDS: Readonly<Record<string, readonly [is: (value: unknown) => boolean, words: string]>> = {
  name: [isText, 'the name of its folder'],
  summary: [isText, 'a text'],
  needs: [areAll(isText), 'a list of names'],
  migrations: [isUrl, "new URL('./migrations/', import.meta.url)"],
  settings: [areAll((one) => isObject(one) && isText(one['name'])), 'a list of sections'],
  tools: [areAll(isFunction), 'a list of functions that import a tool each'],
  addedTools: [isFunction, 'a function that imports a module'],
  rows: [isFunction, 'a function that imports a module'],
  api: [isFunction, 'a function that imports a module'],
  worker: [isFunction, 'a function that imports a module'],
  workflows: [areAll(isUrl), 'a list of file URLs'],
  routes: [areAll(isFunction), 'a list of functions that import a module each'],
  commands: [
    areAll((one) => isObject(one) && isText(one['name']) && isFunction(one['load'])),
    'a list of { group, name, summary, load }',
  ],
  subcommands: [(one) => isObject(one) && Object.values(one).every(isFunction), 'functions by command'],
};

function problemOf(feature: Feature, name: string, others: readonly Feature[]): string | undefined {
  for (const [field, value] of Object.entries(feature)) {
    const [is, words] = FIELDS[field] ?? [];
    if (!is) return `feature.ts has ${field}, which a feature has not: ${Object.keys(FIELDS).join(', ')}`;
    if (value !== undefined && !is(value)) return `${field} must be ${words}`;
  }
  if (!NAME.test(name)) return 'its folder must be named with a-z, 0-9 and -, a letter first, 40 at most';
  if (feature.name !== name) return `its name must be that of its folder, ${name}`;
  if (!isText(feature.summary)) return 'it needs a summary';
  if (others.some((one) => one.name === name))
    return `${name} is a feature of TempoClaw: choose another name`;
  const commands = new Set(commandsOf(others).map((one) => one.name));
  const taken = feature.commands?.find((one) => commands.has(one.name));
  return taken ? `the command ${taken.name} is there already` : migrationsProblem(feature);
}

/** Names of migrations differ between features, which share a table of what has run. */
function migrationsProblem({ name, migrations }: Feature): string | undefined {
  if (!migrations) return undefined;
  if (!existsSync(migrations)) return 'its folder of migrations is missing';
  const stem = name.replaceAll('-', '_');
  const wrong = readdirSync(migrations).find(
    (file) => !new RegExp(`^\\d{4}_${stem}(?:_[a-z0-9_]+)?\\.sql$`).test(file),
  );
  return wrong === undefined ? undefined : `migrations/${wrong} must be named such as 0001_${stem}.sql`;
}

/** Half of a SHA-256 of all files, without tests and packages. */
function digestOf(folder: string): string {
  const hash = createHash('sha256');
  const files = globSync('**/*', { cwd: folder, exclude: ['**/node_modules', '**/test'] }).toSorted();
  if (files.length > MAX_FILES) throw new Error(`it has more than ${MAX_FILES} files`);
  for (const file of files)
    if (statSync(join(folder, file)).isFile())
      hash.update(`${file}\0`).update(readFileSync(join(folder, file)));
  return hash.digest('hex').slice(0, 32);
}
