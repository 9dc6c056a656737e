/** The sections of this installation's features. */
import { FEATURES } from '#features';
import type { SettingsSection } from './section.ts';

export { FEATURE_PROBLEMS } from '#features';

export const SECTIONS: readonly SettingsSection[] = FEATURES.flatMap(({ settings }) => settings ?? []);

/** Each section with its settings. */
export function sectionsOf(config: object): readonly (readonly [SettingsSection, unknown])[] {
  const values = config as Readonly<Record<string, unknown>>;
  return SECTIONS.map((section) => [section, values[section.name]]);
}
