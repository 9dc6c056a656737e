/**
 * Turns a pressed button into a decision (AP-2). Only the service's identity identifies the presser, who decides as
 * their user.
 */
import { announceDeliveries } from '#features/webhooks-out/index.ts';
import { createHash, randomBytes } from 'node:crypto';
import type { Decision } from '#domain/approval/approval.ts';
import type { DecisionReceipt } from '#domain/schema/approval.ts';
import { deciderProblem } from '#domain/approval/approval-decider.ts';
import { linkWords } from '../rules/approval-post.ts';
import { type Inbound, readPress } from '../contract.ts';
import { withTimeout } from '#domain/async/with-timeout.ts';
import { Failure } from '#domain/errors.ts';
import { decisionToken } from '#policy/decision-token.ts';
import { channelLinkMaker } from '../rows.ts';
import { type ApprovalRow, findApproval } from '#store/approvals/approval-store.ts';
import { insertDirectPost, postsOf } from '../store/channel-post-store.ts';
import { type ChannelRow, type PersonRow } from '../store/channel-store.ts';
import { sendDecision } from '#api/approvals/decide-as.ts';
import type { ApiDeps } from '#api/deps.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

/** Also sent in the instant between the service's receipt of a post and our row of it. */
const UNKNOWN = 'This question is not known here; if it has just come, press again.';

/** After three seconds without an answer, a service shows the presser that the press has failed. */
const PATIENCE_MS = 2_000;

/** The user that somebody acts as. */
export type Speaker = Pick<PersonRow, 'user_id' | 'may_decide'>;

/** Returns the answer to the presser. The post itself is edited when the approval is decided. */
export async function decidePressed(
  deps: ApiDeps,
  tenant: string,
  channel: ChannelRow,
  inbound: Inbound,
  person: Speaker | undefined,
): Promise<{ readonly words: string; readonly isRefusal: boolean }> {
  const db = forTenant(deps.pool, tenant);
  const { id } = inbound;
  const pressed = readPress(inbound.press?.data ?? '');
  if (!pressed) return refusal(UNKNOWN);
  const posts = await postsOf(db, pressed.delivery);
  const post = posts.find(
    ({ approval_id, channel_key }) => approval_id !== null && channel_key === channel.key,
  );
  const approval = post?.approval_id && (await findApproval(db, post.approval_id));
  if (!mayPress(person, approval || undefined))
    return refusal('You may not decide here: nobody has paired you as somebody who may.');
  if (!approval) return refusal(UNKNOWN);
  const { decision } = pressed;
  if (decision === 'link') return giveLink(deps, tenant, channel, inbound, approval, person.user_id);
  try {
    const receipt = await decideAsUser(deps, tenant, {
      approval,
      decision,
      digest: post.digest,
      user: person.user_id,
      press: `${channel.key}/${id}`,
    });
    if (!receipt) return { words: 'It is on its way.', isRefusal: false };
    const words =
      receipt.status === 'pending' ? 'Counted; others must agree too.' : `It is ${receipt.status}.`;
    return { words, isRefusal: false };
  } catch (error) {
    if (!(error instanceof Failure) || error.type === 'Unavailable') throw error;
    return refusal(error.message);
  }
}

/** A login is its user's own, who need not be somebody who decides about calls. */
function mayPress(person: Speaker | undefined, approval: ApprovalRow | undefined): person is Speaker {
  return person !== undefined && (person.may_decide || approval?.form?.login !== undefined);
}

interface PressedWish {
  readonly approval: ApprovalRow;
  readonly decision: Decision;
  /** Digest of the call as the question shows it. A call that was edited since is not decided. */
  readonly digest: string | null;
  readonly user: string;
  /** Identifies the press. */
  readonly press: string;
}

function decideAsUser(
  deps: ApiDeps,
  tenant: string,
  { approval, decision, digest, user, press }: PressedWish,
): Promise<DecisionReceipt | undefined> {
  const sender = {
    by: user,
    user,
    scopes: ['read', 'run', 'approve'],
    keyId: null,
    via: 'api',
    key: `channel/${press}`,
  } as const;
  const decided = sendDecision(deps, tenant, approval, { decision, digest: digest ?? undefined }, sender);
  return withinPatience(decided, () =>
    leaveDecision(deps, tenant, approval.id, { decision, digest: digest ?? approval.digest, by: user }),
  );
}

/** Returns undefined when it takes longer and is left to Temporal, which keeps it even if our process ends. */
async function withinPatience<Result>(
  decided: Promise<Result>,
  leave: () => Promise<boolean>,
): Promise<Result | undefined> {
  // The message itself shows the outcome of a late one.
  decided.catch(() => undefined);
  const first = await withTimeout(PATIENCE_MS, decided);
  return first !== undefined || !(await leave()) ? decided : undefined;
}

/**
 * Sends the decision with a token, because a signal has no other proof. One person's decision counts once, however
 * often it comes.
 */
function leaveDecision(
  { temporal, tokenSecret }: ApiDeps,
  tenant: string,
  approval: string,
  request: { readonly decision: Decision; readonly digest: string; readonly by: string },
): Promise<boolean> {
  const nonce = randomBytes(16).toString('base64url');
  const token = decisionToken(tokenSecret, { tenant, approval_id: approval, ...request, nonce });
  return temporal.leaveDecision(approval, { ...request, token });
}

/**
 * Anyone with the link decides as the user, so only the user gets it: in the answer if only the presser sees that, else
 * in a direct message.
 */
async function giveLink(
  deps: ApiDeps,
  tenant: string,
  { key, type, webhook_id: webhook }: ChannelRow,
  { id: press, person }: Inbound,
  approval: ApprovalRow,
  user: string,
): Promise<{ readonly words: string; readonly isRefusal: boolean }> {
  const { terms, user_id: requester, escalated_at } = approval;
  const who = { by: user, user, scopes: ['approve'], proof: 'key' } as const;
  const problem = deciderProblem({ terms, requester, escalated: escalated_at !== null }, who);
  if (problem !== undefined) return refusal(`You may not decide this: ${problem}`);
  if (type === 'discord') {
    const wish = { webhook, approval, user, createdBy: channelLinkMaker(key) };
    const { publicUrl } = deps.settings;
    const link = await deps.makeOwnLink?.({ ...deps, publicUrl }, tenant, wish);
    return { words: linkWords(link), isRefusal: false };
  }
  const stem = createHash('sha256')
    .update(JSON.stringify([tenant, key, 'link', press]))
    .digest('hex')
    .slice(0, 32);
  const post = { place: { chat: person.id }, markdown: '', link: { approval: approval.id, user } };
  await insertDirectPost(forTenant(deps.pool, tenant), webhook, {
    id: `msg_${stem}`,
    session: approval.session_key,
    post,
  });
  await announceDeliveries(deps.pool);
  return { words: 'I send you the link in a direct message.', isRefusal: false };
}

function refusal(words: string) {
  return { words, isRefusal: true };
}
