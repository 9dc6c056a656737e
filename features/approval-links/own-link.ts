/**
 * The link by which one person decides one approval, for messages that reach only that person. Repeated calls create
 * the same link.
 */
import { createHash, createHmac } from 'node:crypto';
import { insertApprovalLink } from './store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

interface LinkDeps {
  readonly pool: Pool;
  /** Where people reach the API; without it there are no links. */
  readonly publicUrl?: string | undefined;
  readonly tokenSecret: string;
}

export interface LinkWish {
  /** The webhook that sends the message. */
  readonly webhook: string;
  readonly approval: { readonly id: string; readonly digest: string };
  readonly user: string;
  readonly createdBy: string;
}

/** Scopes of the reader: only the right to decide. */
const SCOPES = ['approve'] as const;

/**
 * `createdBy` identifies the creator, with whose end the link ends. Undefined when there is no public address, or no
 * more links may be created.
 */
export async function makeOwnLink(
  { pool, publicUrl, tokenSecret }: LinkDeps,
  tenant: string,
  { webhook, approval, user, createdBy }: LinkWish,
): Promise<string | undefined> {
  if (publicUrl === undefined) return undefined;
  const token = mailLinkToken(tokenSecret, webhook, approval, user);
  const hash = hashToken(token);
  const ends = await insertApprovalLink(forTenant(pool, tenant), {
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

/**
 * Token of a link in a webhook's mails, for one user and the shown version of the call: the same in each mail, and
 * another one after an edit. The line break distinguishes it from decision tokens.
 */
function mailLinkToken(
  secret: string,
  webhook: string,
  { id, digest }: { readonly id: string; readonly digest: string },
  user: string,
): string {
  return createHmac('sha256', secret)
    .update(`mail link\n${webhook}/${id}/${digest}/${user}`)
    .digest('base64url');
}

/** The part of a link's token that is stored. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
