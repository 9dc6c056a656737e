/** Settings of optional capabilities: each declares its section of `tempoclaw.yaml` here, and the settings are put together from these. */
import type { z } from 'zod';
import type { Config } from '#config';

/** What the sections of features hold, by their names: a feature adds its own by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: it is filled by the features
export interface FeatureSettings {}

export type ValueKind = 'text' | 'number' | 'boolean' | 'boolean or auto' | 'list';

/** Variables in order of preference, the key that they set, and how their text is read. */
export type Variable = readonly [names: readonly string[], key: string, kind: ValueKind];

export interface SettingsSection<Value = unknown> {
  readonly name: string;
  /** Takes `{}`, which gives the defaults. */
  readonly schema: z.ZodType<Value>;
  /** Keys from the section's name on. */
  readonly variables?: readonly Variable[];
  /** Every reader looks at each time, so that a reload applies. */
  readonly isLive?: true;
  /** Makes paths absolute. */
  finish?(value: Value, folder: string): Value;
  /** What parsing alone cannot see; nothing starts while there is any. A line each. */
  problems?(value: Value, config: Config): readonly string[];
  /** Values that nobody may be shown; references (`secret://`) are passed over. */
  secrets?(value: Value): readonly (string | undefined)[];
}

/** Gives a section its type. */
export function defineSection<Name extends keyof FeatureSettings>(
  section: SettingsSection<FeatureSettings[Name]> & { readonly name: Name },
): SettingsSection {
  return section as SettingsSection;
}
