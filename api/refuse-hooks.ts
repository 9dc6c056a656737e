/**
 * Refuses a hook that could never be called, when it is written: one at an address that no hook may reach, or with a
 * model of a provider that is not configured. At each call it would deny what it was to judge. What a name resolves to is
 * judged then.
 */
import { judgeUrl, type UrlRules } from '@tempoclaw/egress/rules';
import { Failure } from '#domain/errors.ts';
import { tenantEgress } from '#policy/tenant-egress.ts';
import type { ApiDeps } from './deps.ts';

type Called = readonly { readonly url?: string | undefined; readonly model?: string | undefined }[];

/** By the rules of the tenant. @throws Failure Unprocessable */
export async function refuseHooks(
  { pool, policy, models }: Pick<ApiDeps, 'pool' | 'policy' | 'models'>,
  tenant: string,
  hooks: Called | null | undefined,
  place = 'body',
): Promise<void> {
  if (!hooks?.some(({ url, model }) => url !== undefined || model !== undefined)) return;
  refuseHooksAgainst(await tenantEgress(pool, policy.settings.egress, tenant), models, hooks, place);
}

/** @throws Failure Unprocessable */
export function refuseHooksAgainst(
  rules: UrlRules,
  models: Pick<ApiDeps['models'], 'problem'>,
  hooks: Called = [],
  place = 'body',
): void {
  const errors = hooks.flatMap(({ url, model }, at) => {
    const verdict = url === undefined ? undefined : judgeUrl(url, rules);
    const messages = {
      url: verdict?.decision === 'deny' ? verdict.reason : undefined,
      model: model === undefined ? undefined : models.problem(model),
    };
    return Object.entries(messages).flatMap(([field, message]) =>
      message === undefined ? [] : [{ pointer: `${place}/hooks/${at}/${field}`, message }],
    );
  });
  const [first] = errors;
  if (first) throw new Failure('Unprocessable', `${first.pointer}: ${first.message}`, { errors });
}
