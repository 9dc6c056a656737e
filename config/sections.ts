/** The sections of the features that this installation has. */
import { FEATURES } from '#features';
import type { SettingsSection } from './section.ts';

export const SECTIONS: readonly SettingsSection[] = FEATURES.flatMap(({ settings }) => settings ?? []);

/** Each with what the settings say in it. */
export function sectionsOf(config: object): readonly (readonly [SettingsSection, unknown])[] {
  const values = config as Readonly<Record<string, unknown>>;
  return SECTIONS.map((section) => [section, values[section.name]]);
}
