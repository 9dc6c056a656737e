/**
 * TempoClaw's settings, and with config/client-environment.ts the only reader of process.env. Flags override the
 * environment, which overrides `tempoclaw.yaml`, which overrides defaults. They are checked once and frozen. Workflow
 * code must never import this.
 */
import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withPasswordInUrl } from './config/database-url.ts';
import type { Environment } from './config/environment.ts';
import { readEnvironment, USUAL_BASE_URLS } from './config/environment.ts';
import { explainIssues } from './config/explain.ts';
import type { Layer } from './config/layer.ts';
import { isTree, mergeTrees, setAt } from './config/layer.ts';
import type { ParsedConfig } from './config/schema.ts';
import { configSchema } from './config/schema.ts';
import { absoluteStore, isBucket, withinWorkspaces } from './config/object-store.ts';
import type { FeatureSettings } from './config/section.ts';
import { FEATURE_PROBLEMS, sectionsOf } from './config/sections.ts';
import { secretFiles } from './config/secret-files.ts';
import type { TemporalTls } from './config/temporal-connection.ts';
import { readOfficialSettings, readTlsFiles } from './config/temporal-connection.ts';
import type { YamlFile } from './config/yaml-file.ts';
import { readYamlFile } from './config/yaml-file.ts';

export { DATABASE_FOLDER_OF_ROOT } from './config/secret-files.ts';
export { deploymentValues } from './config/deployment-values.ts';
export type { Environment } from './config/environment.ts';

/** All settings of TempoClaw. They are frozen; folders are absolute, and TLS files are read. */
export interface Config
  extends Omit<ParsedConfig, 'database' | 'temporal' | 'rehearsal' | 'workspaceRoot' | 'workspaces'> {
  readonly database: Omit<ParsedConfig['database'], 'password'>;
  readonly workspaceRoot: string;
  readonly workspaces: ParsedConfig['workspaces'] & { readonly store: string };
  readonly temporal: Omit<ParsedConfig['temporal'], 'tls'> & {
    readonly tls?: TemporalTls;
    readonly metadata?: Record<string, string>;
  };
  /** `dir` contains the shipped scripts, `userDir` the user's own; a script in `userDir` wins. */
  readonly rehearsal: { readonly dir: string; readonly userDir: string };
  /** The file that was read, if there was one. */
  readonly file?: string;
  /** Files with keys, which agents' commands cannot read. */
  readonly secretFiles: readonly string[];
}

/** Settings from a command line. */
export type ConfigFlags = { readonly config?: string | undefined; readonly port?: number | undefined } & {
  readonly [Name in Exclude<keyof typeof FLAGS, 'port'>]?: string | undefined;
};

/** Refused settings: `problems` has one line each, with the source, the key and what is allowed. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The settings cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

const FLAGS = {
  stateDir: ['stateDir', '--state-dir'],
  host: ['api.host', '--host'],
  port: ['api.port', '--port'],
  temporalAddress: ['temporal.address', '--temporal-address'],
  taskQueue: ['temporal.taskQueue', '--task-queue'],
  databaseUrl: ['database.url', '--database-url'],
  logLevel: ['log.level', '--log-level'],
} as const;

/** Loads the settings. Throws ConfigError with every problem at once. */
export function loadConfig(
  options: { flags?: ConfigFlags; cwd?: string; env?: Environment } = {},
): Readonly<Config> {
  const { flags = {}, cwd = process.cwd(), env = process.env } = options;
  const file = readFile(flags.config ?? (env['TEMPOCLAW_CONFIG'] || undefined), cwd, env);
  const environment = readEnvironment(env, providerNames(file.values));
  const official = readOfficialLayer(env, environment);
  const layer = flagLayer(flags);
  const problems = [...FEATURE_PROBLEMS, ...file.problems, ...environment.problems];

  const values = mergeTrees(mergeTrees(file.values, environment.values), layer.values);
  const parsed = configSchema.safeParse(values);
  if (!parsed.success) {
    const locate = (at: readonly PropertyKey[], onKey: boolean): string | undefined => {
      const key = at.map(String).join('.');
      return layer.origins.get(key) ?? environment.origins.get(key) ?? file.locate(at, onKey);
    };
    problems.push(...explainIssues(parsed.error.issues, locate));
  }
  if (problems.length > 0 || !parsed.success) throw new ConfigError(problems);
  const config = finish(parsed.data, cwd, official, file.path);
  const { follow, store } = config.workspaces;
  const snapshots = follow === 'none' || isBucket(store) ? undefined : store;
  return deepFreeze({
    ...config,
    secretFiles: secretFiles(cwd, env, file.path, [parsed.data.temporal.tls?.clientKeyPath, snapshots]),
  });
}

/** Reads the named file, which must exist, or `tempoclaw.yaml`, which may be missing. */
function readFile(named: string | undefined, cwd: string, env: Environment): YamlFile & { path?: string } {
  const path = resolve(cwd, named ?? 'tempoclaw.yaml');
  const file = readYamlFile(path, relative(cwd, path) || path, env);
  if (file !== undefined) return { ...file, path };
  if (named !== undefined) throw new ConfigError([`${named}: no such settings file`]);
  return { values: {}, problems: [], locate: () => undefined };
}

/** Puts the official Temporal settings below ours; returns those that have no key of their own in the file. */
function readOfficialLayer(
  env: Environment,
  layer: Layer,
): { tls?: TemporalTls; metadata?: Record<string, string> } {
  const official = readOfficialSettings(env);
  if (typeof official === 'string') {
    layer.problems.push(official);
    return {};
  }
  const { address, namespace, apiKey, ...rest } = official;
  const source = 'TEMPORAL_* or temporal.toml';
  if (address !== undefined) setAt(layer, 'temporal.address', address, source);
  if (namespace !== undefined) setAt(layer, 'temporal.namespace', namespace, source);
  if (apiKey !== undefined) setAt(layer, 'temporal.apiKey', apiKey, source);
  return rest;
}

function flagLayer(flags: ConfigFlags): Layer {
  const layer: Layer = { values: {}, origins: new Map(), problems: [] };
  for (const [name, [key, shown]] of Object.entries(FLAGS)) {
    const value = flags[name as keyof typeof FLAGS];
    if (value !== undefined) setAt(layer, key, value, shown);
  }
  return layer;
}

function providerNames(values: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const models = values['models'];
  const providers = isTree(models) ? models['providers'] : undefined;
  return new Set(isTree(providers) ? Object.keys(providers) : []);
}

function finish(
  parsed: ParsedConfig,
  cwd: string,
  official: { tls?: TemporalTls; metadata?: Record<string, string> },
  file: string | undefined,
): Omit<Config, 'secretFiles'> {
  const stateDir = resolve(cwd, parsed.stateDir);
  const { tls, ...temporal } = parsed.temporal;
  const usedTls =
    official.tls ?? (tls === undefined ? undefined : withProblem('temporal.tls', () => readTlsFiles(tls)));
  return {
    ...parsed,
    stateDir,
    workspaceRoot: resolve(cwd, parsed.workspaceRoot ?? join(stateDir, 'workspaces')),
    workspaces: {
      ...parsed.workspaces,
      store: absoluteStore(cwd, parsed.workspaces.store ?? join(stateDir, 'snapshots')),
    },
    database: withProblem('database.password', () => withPasswordInUrl(parsed.database)),
    temporal: {
      ...temporal,
      tls: usedTls,
      ...(usedTls === undefined && temporal.apiKey !== undefined && { tls: true }),
      metadata: official.metadata,
    },
    models: { ...parsed.models, providers: finishProviders(parsed.models.providers) },
    ...finishSections(parsed, cwd),
    rehearsal: {
      dir:
        parsed.rehearsal.dir === undefined
          ? fileURLToPath(new URL('examples/rehearsal', import.meta.url))
          : resolve(cwd, parsed.rehearsal.dir),
      userDir: join(stateDir, 'rehearsal'),
    },
    file,
  };
}

function finishSections(parsed: ParsedConfig, cwd: string): FeatureSettings {
  const finished = sectionsOf(parsed).map(([section, value]) => [
    section.name,
    section.finish ? section.finish(value, cwd) : value,
  ]);
  return Object.fromEntries(finished) as FeatureSettings;
}

type Providers = ParsedConfig['models']['providers'];

/** Fills in the type, the usual base URL and OpenAI's protocol; a custom base URL is assumed to support only chat. */
function finishProviders(providers: Providers): Providers {
  const made: Providers = {};
  for (const [name, entry] of Object.entries(providers)) {
    const type = entry.type ?? nativeType(name);
    const baseUrl = entry.baseUrl ?? USUAL_BASE_URLS[name];
    if (type === 'openai-compatible' && baseUrl === undefined) {
      throw new ConfigError([
        `models.providers.${name}.baseUrl: an openai-compatible provider needs its base URL`,
      ]);
    }
    const ownServer = baseUrl !== undefined && !baseUrl.startsWith('https://api.openai.com');
    made[name] = {
      ...entry,
      type,
      ...(baseUrl !== undefined && { baseUrl }),
      ...(type === 'openai' && { api: entry.api ?? (ownServer ? 'chat' : 'responses') }),
    };
  }
  return made;
}

function nativeType(name: string): 'anthropic' | 'openai' | 'google' | 'openai-compatible' {
  return name === 'anthropic' || name === 'openai' || name === 'google' ? name : 'openai-compatible';
}

function withProblem<T>(key: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ConfigError([`${key}: ${error instanceof Error ? error.message : String(error)}`]);
  }
}

/** What Connection.connect and NativeConnection.connect need. Throws when no address is set. */
export function temporalConnection(config: Config): {
  address: string;
  apiKey?: string;
  tls?: TemporalTls;
  metadata?: Record<string, string>;
} {
  const { address, apiKey, tls, metadata } = config.temporal;
  if (address === undefined) {
    throw new ConfigError(['temporal.address: not set; run `tempoclaw up`, or set TEMPORAL_ADDRESS']);
  }
  return { address, apiKey, tls, metadata };
}

/** Contradictions that parsing alone cannot find; nothing should start while there are any. */
export function preflight(config: Config): string[] {
  const problems: string[] = [];
  if (statSync(config.stateDir, { throwIfNoEntry: false })?.isDirectory() === false)
    problems.push(`stateDir: ${config.stateDir} is a file; name a folder`);
  const { follow, store } = config.workspaces;
  if (follow === 'snapshots')
    problems.push(...withinWorkspaces('workspaces.store', store, config.workspaceRoot));
  const chosen = config.models.default?.split('/')[0];
  if (chosen !== undefined && chosen !== 'rehearsal' && config.models.providers[chosen] === undefined) {
    const known = [...Object.keys(config.models.providers), 'rehearsal'].join(', ');
    problems.push(
      `models.default names the provider "${chosen}", which is not configured; configured: ${known}`,
    );
  }
  problems.push(...databaseProblems(config), ...encryptionProblems(config));
  for (const [section, value] of sectionsOf(config))
    problems.push(...(section.problems?.(value, config) ?? []));
  return problems;
}

function databaseProblems({ database: { url, poolerUrl } }: Config): string[] {
  if (poolerUrl === undefined || url !== undefined) return [];
  return ['database.poolerUrl needs database.url, the address of Postgres itself'];
}

function encryptionProblems({ encryption: { key, previousKeys } }: Config): string[] {
  if (key === undefined && previousKeys.length > 0)
    return [
      'encryption.previousKeys is set but encryption.key is not; set the key that new data is written with',
    ];
  if (key !== undefined && previousKeys.includes(key))
    return ['encryption.key is also in encryption.previousKeys; remove it there'];
  return [];
}

/** The settings in a few lines for a log or `doctor`; never a secret. */
export function describe(config: Config): string[] {
  const secret = (value: string | undefined): string => (value === undefined ? 'not set' : 'set');
  const providers = Object.entries(config.models.providers).map(
    ([name, entry]) => `${name}${entry.apiKey === undefined ? ' (no key)' : ''}`,
  );
  return [
    `settings file: ${config.file ?? 'none'}`,
    `state: ${config.stateDir}`,
    `workspaces: ${config.workspaceRoot}${config.workspaces.follow === 'none' ? '' : `, followed by ${config.workspaces.store}`}`,
    `api: http://${config.api.host}:${config.api.port}`,
    `temporal: ${config.temporal.address ?? 'own dev server'}, namespace ${config.temporal.namespace}, task queue ${config.temporal.taskQueue}, api key ${secret(config.temporal.apiKey)}`,
    `database: ${config.database.url === undefined ? 'own Postgres' : withoutPassword(config.database.url)}${config.database.poolerUrl === undefined ? '' : `, through the pooler ${withoutPassword(config.database.poolerUrl)}`}`,
    `models: ${[...providers, 'rehearsal'].join(', ')}; default ${config.models.default ?? 'the best configured'}`,
    `encryption key: ${secret(config.encryption.key)}`,
    `log level: ${config.log.level}`,
  ];
}

/** Makes a database URL safe to show. */
export function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return '(not a URL)';
  const parsed = new URL(url);
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
}

/** The environment for a child process: this process's own plus `extra`; undefined removes a variable. */
export function childEnvironment(extra: Environment, env: Environment = process.env): Record<string, string> {
  const made: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...env, ...extra }))
    if (value !== undefined) made[name] = value;
  return made;
}

/**
 * The folder for things that are downloaded once for every checkout: XDG_CACHE_HOME, else the platform's usual folder.
 */
export function userCacheDir(env: Environment = process.env): string {
  const base =
    env['XDG_CACHE_HOME'] ||
    (process.platform === 'darwin' ? join(homedir(), 'Library/Caches') : join(homedir(), '.cache'));
  return join(base, 'tempoclaw');
}

/** How the packages of a set are installed when they are first used: those that the npm package leaves out. */
export function onDemandPackages(set: string, env: Environment = process.env) {
  return {
    locks: join(import.meta.dirname, 'on-demand', set),
    cacheDir: join(userCacheDir(env), 'packages'),
    env: childEnvironment({}, env),
  };
}

/** The folders in which a command is searched for. */
export function commandFolders(env: Environment = process.env): string[] {
  return (env['PATH'] ?? '').split(process.platform === 'win32' ? ';' : ':').filter((part) => part !== '');
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
