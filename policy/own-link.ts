/** The link by which one person decides one approval, for messages that reach nobody but that person: the same however often it is made. */
import { hashToken, mailLinkToken } from './decision-token.ts';
import { insertApprovalLink } from '#store/approval-link-store.ts';
import type { Pool } from '#store/pool.ts';

export interface OwnLinkDeps {
  readonly pool: Pool;
  /** Where people reach the API; without one there are no links. */
  readonly publicUrl?: string | undefined;
  readonly tokenSecret: string;
}

export interface LinkWish {
  /** By which the message goes. */
  readonly webhook: string;
  readonly approval: { readonly id: string; readonly digest: string };
  readonly user: string;
  readonly createdBy: string;
}

/** Of whoever reads it: the right to decide, and no other. */
const SCOPES = ['approve'] as const;

/** `createdBy` says whose end is the link's too. Undefined where there is no address for one, or no more may be made. */
export async function makeOwnLink(
  { pool, publicUrl, tokenSecret }: OwnLinkDeps,
  tenant: string,
  { webhook, approval, user, createdBy }: LinkWish,
): Promise<string | undefined> {
  if (publicUrl === undefined) return undefined;
  const token = mailLinkToken(tokenSecret, webhook, approval, user);
  const hash = hashToken(token);
  const ends = await insertApprovalLink(pool, tenant, {
    id: `lnk_${hash.toString('hex', 0, 9)}`,
    approvalId: approval.id,
    hash,
    user,
    scopes: SCOPES,
    decision: null,
    createdBy,
    seconds: null,
  });
  return ends && `${publicUrl.replace(/\/+$/, '')}/a/${token}`;
}
