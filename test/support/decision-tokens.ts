/** Decision tokens as made by a system that knows the secret and reads the call's digest from the state. */
import { randomUUID } from 'node:crypto';
import type { ApprovalState, ApprovalVerb } from '#domain/approval/approval.ts';
import { decisionToken } from '#policy/decision-token.ts';
import type { LiveWorker } from './live-worker.ts';

export async function tokenOf(
  live: Pick<LiveWorker, 'client' | 'tenant' | 'until'>,
  secret: string,
  approval: string,
  decision: ApprovalVerb,
  by: string | null = null,
): Promise<string> {
  const handle = live.client.workflow.getHandle(`approval/${approval}`);
  // The turn names its approval a moment before the approval's workflow exists.
  const { digest } = await live.until('the approval', () =>
    handle.query<ApprovalState>('state').catch(() => undefined),
  );
  const claims = { tenant: live.tenant, approval_id: approval, decision, digest, by, nonce: randomUUID() };
  return decisionToken(secret, claims);
}
