/**
 * Refuses a hook that could never be called, when it is written: one at an address that no hook may reach, with a secret
 * that is not set, or with a model of a provider that is not configured. At each call it would deny what it was to judge.
 * What a name resolves to is judged then.
 */
import { judgeUrl, type UrlRules } from '@tempoclaw/egress/rules';
import type { Hook } from '#domain/turn/hook.ts';
import { tenantEgress } from '#policy/tenant-egress.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { ApiDeps } from './deps.ts';
import { type FieldProblem, referringIn, refuse, secretProblems } from './refuse-unknown-secrets.ts';

type Called = readonly Pick<Hook, 'url' | 'model' | 'headers'>[];

type HookRules = Pick<ApiDeps, 'pool' | 'policy' | 'models'>;

/** By the rules of the tenant, unless others are given. @throws Failure Unprocessable */
export async function refuseHooks(
  deps: HookRules,
  tenant: string,
  hooks: Called | null | undefined,
  rules?: UrlRules,
): Promise<void> {
  refuse(await hookProblems(deps, tenant, hooks, { rules }));
}

/** Why hooks could never be called. `place` is the field of the request that has them. */
export async function hookProblems(
  { pool, policy, models }: HookRules,
  tenant: string,
  hooks: Called | null | undefined,
  { rules, place = 'body' }: { readonly rules?: UrlRules | undefined; readonly place?: string } = {},
): Promise<readonly FieldProblem[]> {
  if (!hooks || hooks.length === 0) return [];
  const reach = rules ?? (await tenantEgress(pool, policy.settings.egress, tenant));
  const pointerOf = (at: number, field: string): string => `${place}/hooks/${at}/${field}`;
  const unreachable = hooks.flatMap(({ url, model }, at) => {
    const verdict = url === undefined ? undefined : judgeUrl(url, reach);
    const messages = {
      url: verdict?.decision === 'deny' ? verdict.reason : undefined,
      model: model === undefined ? undefined : models.problem(model),
    };
    return Object.entries(messages).flatMap(([field, message]) =>
      message === undefined ? [] : [{ pointer: pointerOf(at, field), message }],
    );
  });
  const referring = hooks.flatMap(({ headers }, at) => referringIn(pointerOf(at, 'headers'), headers));
  return [...unreachable, ...(await secretProblems(forTenant(pool, tenant), referring))];
}
