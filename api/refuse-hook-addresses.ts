/**
 * Refuses a hook whose address no hook may reach, when it is written. What a name resolves to is judged at each call,
 * where the hook would deny what it was to judge.
 */
import { judgeUrl, type UrlRules } from '@tempoclaw/egress/rules';
import { Failure } from '#domain/errors.ts';
import { tenantEgress } from '#policy/tenant-egress.ts';
import type { ApiDeps } from './deps.ts';

type Addressed = readonly { readonly url?: string | undefined }[];

/** By the rules of the tenant. @throws Failure Unprocessable */
export async function refuseHookAddresses(
  { pool, policy }: Pick<ApiDeps, 'pool' | 'policy'>,
  tenant: string,
  hooks: Addressed | null | undefined,
  place = 'body',
): Promise<void> {
  if (!hooks?.some(({ url }) => url !== undefined)) return;
  refuseHooksAgainst(await tenantEgress(pool, policy.settings.egress, tenant), hooks, place);
}

/** @throws Failure Unprocessable */
export function refuseHooksAgainst(rules: UrlRules, hooks: Addressed = [], place = 'body'): void {
  const errors = hooks.flatMap(({ url }, at) => {
    const verdict = url === undefined ? undefined : judgeUrl(url, rules);
    return verdict?.decision === 'deny'
      ? [{ pointer: `${place}/hooks/${at}/url`, message: verdict.reason }]
      : [];
  });
  const [first] = errors;
  if (first) throw new Failure('Unprocessable', `${first.pointer}: ${first.message}`, { errors });
}
