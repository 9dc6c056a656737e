/**
 * Runs a hook of a tool host: an activity without a workflow, of its own for each run. A step that is repeated runs its
 * hooks again, so nothing of an earlier run is looked for.
 */
import { randomUUID } from 'node:crypto';
import { openPayload, sealPayload } from '#domain/payload-seal.ts';
import type { HookHost, HostedHook } from '#features/hooks/index.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { Sealer } from '#store/seal.ts';
import type { ActivitiesOnce } from '#temporal/activity-once.ts';
import { HOST_WORK, hostQueues, hostWorkPlace, type HostHookRequest } from './contract.ts';
import { hostResultSchema } from './schema.ts';
import { type ResolveOf, secretValues } from './secret-values.ts';
import { readHookAccess } from './store.ts';

export interface HookHostDeps {
  readonly pool: Pool;
  readonly sealer: Pick<Sealer, 'open'>;
  /** Replaces `secret://NAME` with secrets. */
  readonly resolveOf: ResolveOf;
  readonly once: ActivitiesOnce;
}

export function createHookHost({ pool, sealer, resolveOf, once }: HookHostDeps): HookHost {
  return {
    async answer({ tenant, code, event, seconds, signal }: HostedHook) {
      const [host = '', hook = ''] = code.split('/');
      const start = `start it with: npx tempoclaw tools serve --host ${host}`;
      const access = await readHookAccess(forTenant(pool, tenant), sealer, { host, hook });
      if (!access) throw new Error(`the tool host ${host} has no such hook; ${start}`);
      const secrets = await secretValues(resolveOf, tenant, access.secrets);
      const request: HostHookRequest = { hook, event, secrets, seconds };
      const id = `hook/${tenant}/${randomUUID()}`;
      const iv = crypto.getRandomValues(new Uint8Array(12));
      const milliseconds = seconds * 1_000;
      const work = {
        id,
        type: HOST_WORK.hook,
        queue: hostQueues(tenant, host, access.version).hooks,
        summary: hook,
        request: await sealPayload(access.key, hostWorkPlace(id, 'request'), iv, request),
        terms: {
          // So that it is known in time that nothing takes it.
          scheduleToStartTimeout: milliseconds * 0.8,
          startToCloseTimeout: milliseconds,
          retry: { maximumAttempts: 1 },
        },
      };
      const outcome = await once.run(work, signal).catch(async (error: unknown) => {
        // What has ended, or was never begun, cannot be cancelled.
        await once.cancel(id).catch(() => undefined);
        throw error;
      });
      if (outcome === 'unsent') throw new Error(`the tool host ${host} is not running; ${start}`);
      if (outcome === 'unsupported') throw new Error('tool hosts need Temporal Server 1.31 or later');
      if (outcome === 'unknown') throw new Error(`the tool host ${host} was lost while it ran`);
      const opened = await openPayload(access.key, hostWorkPlace(id, 'result'), outcome.result).catch(
        () => null,
      );
      const result = hostResultSchema.parse(opened);
      if ('nothing' in result) return '';
      if (!result.ok) throw new Error(result.message);
      return result.text;
    },
  };
}
