/**
 * Reloads settings while the process runs. Sections that every reader reads at each use are replaced in place, in the
 * object that all parts share. All others are reported as needing a restart.
 */
import { isDeepStrictEqual } from 'node:util';
import { Failure } from '#domain/errors.ts';
import type { Reloaded } from '#domain/gateway.ts';
import { isRecord } from '#domain/outside-value.ts';
import { shownSettings } from './shown-settings.ts';
import { SECTIONS } from './sections.ts';
import { type Config, ConfigError, loadConfig, preflight } from '#config';

export interface LiveSettings {
  /** The settings in force. */
  readonly config: Config;
  /**
   * Applies what can be applied, all or nothing. Safe to repeat. @throws Failure Unprocessable, with a line for each
   * problem
   */
  reload(): Reloaded;
  /** The settings in force at a path, or all, without secrets; undefined if there are none. */
  shown(path: string): unknown;
}

/** Sections that every reader reads at each use; `but` names their fields that are only read at the start. */
const LIVE: readonly { readonly section: keyof Config; readonly only?: RegExp; readonly but?: RegExp }[] = [
  { section: 'tools', but: /^(?:rate_limit|denied_paths)/ },
  { section: 'exec' },
  { section: 'hooks' },
  { section: 'budgets' },
  { section: 'egress' },
  { section: 'retention' },
  {
    section: 'models',
    only: /^(?:default|embedding|vision|transcription|prices|contextWindows|images)$/,
  },
  ...SECTIONS.filter(({ isLive }) => isLive).map(({ name }) => ({ section: name as keyof Config })),
];

export function createLiveSettings(first: Config, load: () => Config = loadConfig): LiveSettings {
  const config: Record<string, unknown> = { ...first };
  for (const { section } of LIVE) config[section] = copyOf(first[section]);

  return {
    // This is still a Config; only its type here allows writing.
    config: config as unknown as Config,
    shown: (path) => shownSettings(config, path),
    reload() {
      const next = loadChecked(load, config['models'] as Config['models']);
      const changed = changedPaths(config, next);
      const applied = changed.filter(isLive);
      for (const { section, only, but } of LIVE) {
        const held = config[section];
        const required: unknown = next[section];
        if (Array.isArray(held) && Array.isArray(required))
          held.splice(0, held.length, ...(required as unknown[]));
        else
          replaceFields(
            held as Fields,
            required as Fields,
            (name) => (only?.test(name) ?? true) && !but?.test(name),
          );
      }
      return { applied, restart: changed.filter((path) => !isLive(path)) };
    },
  };
}

type Fields = Record<string, unknown>;

function loadChecked(load: () => Config, held: Config['models']): Config {
  try {
    const next = load();
    const problems = preflight(next);
    if (problems.length === 0) problems.push(...unservedModels(held, next.models));
    if (problems.length === 0) return next;
    throw new ConfigError(problems);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new Failure('Unprocessable', `Nothing was applied. ${error.message}`, { problems: error.problems });
  }
}

/**
 * Settings that name models, and the provider that, if it exists, serves them in place of the named one
 * (config/schema.ts).
 */
const NAMES_MODELS = {
  default: '',
  embedding: 'embedding',
  vision: '',
  transcription: 'transcribe',
} as const;

/** The providers are those of the start, so a model of a newer one could not be called. */
function unservedModels(held: Config['models'], next: Config['models']): string[] {
  const has = (provider = ''): boolean => provider === 'rehearsal' || Object.hasOwn(held.providers, provider);
  const names = Object.keys(NAMES_MODELS) as (keyof typeof NAMES_MODELS)[];
  return names.flatMap((name) => {
    const known = [held[name] ?? []].flat();
    const unserved = [next[name] ?? []]
      .flat()
      .filter((ref) => !known.includes(ref) && !has(ref.split('/')[0]) && !has(NAMES_MODELS[name]));
    return unserved.map(
      (ref) => `models.${name}: this process has no provider for ${ref}; configure it and restart instead`,
    );
  });
}

function replaceFields(held: Fields, fields: Fields, isMeant: (name: string) => boolean): void {
  for (const name of new Set([...Object.keys(held), ...Object.keys(fields)]))
    if (isMeant(name)) {
      if (name in fields) held[name] = fields[name];
      else delete held[name];
    }
}

function isLive(path: string): boolean {
  const [section = '', name] = path.split('.');
  return LIVE.some(
    (one) =>
      one.section === section &&
      (name === undefined || ((one.only?.test(name) ?? true) && one.but?.test(name) !== true)),
  );
}

/** `section.field`, or the section if it has no fields; never a value. */
function changedPaths(held: Readonly<Fields>, next: Config): string[] {
  const required: Readonly<Fields> = { ...next };
  return Object.keys({ ...held, ...required }).flatMap((section) => {
    const [old, now] = [held[section], required[section]];
    if (isDeepStrictEqual(old, now)) return [];
    if (!isRecord(old) || !isRecord(now)) return [section];
    const names = Object.keys({ ...old, ...now });
    return names
      .filter((name) => !isDeepStrictEqual(old[name], now[name]))
      .map((name) => `${section}.${name}`);
  });
}

function copyOf(section: unknown): unknown {
  return Array.isArray(section) ? [...(section as unknown[])] : { ...(section as Fields) };
}
