/**
 * SH-4: a program that runs with credentials of the tenant, and the rules it runs under. It never contains a value of a
 * credential.
 */
import type { keywordRuleSchema, secureCliSchema } from '../resource.ts';
import type { Kept } from '#domain/schema/scalars.ts';

/** Words that the value of an option may contain although a pattern of `deny_args` has them: a title, a text. */
export type KeywordRule = Kept<typeof keywordRuleSchema>;

export type SecureCliRules = Pick<
  SecureCli,
  'deny_args' | 'deny_verbose' | 'keyword_allowlist' | 'timeout_seconds' | 'tips'
>;

export type SecureCli = Omit<
  Kept<typeof secureCliSchema>,
  'env' | 'host' | 'user_env' | 'updated_by' | 'created_at' | 'updated_at'
> & {
  readonly host?: boolean;
  /** Variables that each user gives, so that a call runs with those of its turn's user alone. */
  readonly user_env?: readonly string[];
};

export function mayUse(cli: SecureCli, agent: string): boolean {
  return cli.agents.includes('*') || cli.agents.includes(agent);
}
