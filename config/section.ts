/**
 * Settings of optional capabilities. Each declares its section of `tempoclaw.yaml` here, and the settings are composed
 * of these.
 */
import type { z } from 'zod';
import type { Config } from '#config';

/** The contents of features' sections, by their names; a feature adds its own by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: it is filled by the features
export interface FeatureSettings {}

export type ValueKind = 'text' | 'number' | 'boolean' | 'boolean or auto' | 'list';

/** Variables in order of preference, the key that they set, and how their text is read. */
export type Variable = readonly [names: readonly string[], key: string, kind: ValueKind];

export interface SettingsSection<Value = unknown> {
  readonly name: string;
  /** Accepts `{}`, for which it returns the defaults. */
  readonly schema: z.ZodType<Value>;
  /** Keys below the section's name. */
  readonly variables?: readonly Variable[];
  /** Set if every reader reads the section at each use, so that a reload applies. */
  readonly isLive?: true;
  /** Makes paths absolute. */
  finish?(value: Value, folder: string): Value;
  /** Problems that parsing alone cannot find, a line each; nothing starts while there is any. */
  problems?(value: Value, config: Config): readonly string[];
  /** Values that must not be shown to anybody; references (`secret://`) are skipped. */
  secrets?(value: Value): readonly (string | undefined)[];
}

/** Gives a section its type. */
export function defineSection<Name extends keyof FeatureSettings>(
  section: SettingsSection<FeatureSettings[Name]> & { readonly name: Name },
): SettingsSection {
  return section as SettingsSection;
}
