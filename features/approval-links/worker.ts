/** Provides links in a worker to messages of other features. */
import type { WorkerPart } from '#domain/feature.ts';
import { tokenSecrets } from '#policy/decision-token.ts';
import type { WorkerCore } from '#workers/worker-core.ts';
import { makeOwnLink } from './own-link.ts';

export function createWorkerPart({ pool, config, masterKeys }: WorkerCore): WorkerPart {
  const { publicUrl } = config.api;
  const [tokenSecret = ''] = tokenSecrets(config.approvals.decisionToken.secret, masterKeys);
  const deps = { pool, publicUrl, tokenSecret };
  if (publicUrl === undefined) return {};
  return { extends: { ownLink: (tenant, wish) => makeOwnLink(deps, tenant, wish) } };
}
