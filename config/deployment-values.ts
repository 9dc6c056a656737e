/** Collects the secrets among the settings, which the scrubber hides everywhere (SC-2). */
import { passwordOf } from './password-of.ts';
import type { ParsedConfig } from './schema.ts';
import type { FeatureSettings } from './section.ts';
import { sectionsOf } from './sections.ts';

/** Values that must not be shown anywhere; references (`secret://`) are not among them. */
export function deploymentValues(
  config: Pick<ParsedConfig, 'models' | 'encryption' | 'approvals' | 'workspaces'> & {
    readonly database: Pick<ParsedConfig['database'], 'url' | 'poolerUrl'>;
    readonly temporal: Pick<ParsedConfig['temporal'], 'apiKey'>;
  } & Partial<FeatureSettings>,
): readonly string[] {
  const keys = Object.values(config.models.providers).map((provider) => provider.apiKey);
  const { key, previousKeys } = config.encryption;
  const values = [
    passwordOf(config.database.url),
    passwordOf(config.database.poolerUrl),
    config.temporal.apiKey,
    key,
    config.approvals.decisionToken.secret,
    config.workspaces.s3.secretAccessKey,
    ...sectionsOf(config).flatMap(([section, value]) => section.secrets?.(value) ?? []),
  ];
  return [...values, ...keys, ...previousKeys].flatMap((value) =>
    value === undefined || value.includes('secret://') ? [] : [value],
  );
}
