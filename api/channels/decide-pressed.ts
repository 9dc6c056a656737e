/** A pressed button as a decision (AP-2): whoever pressed it is known by the service's identity alone, and decides as his user. */
import { createHash } from 'node:crypto';
import { deciderProblem } from '#domain/approval-decider.ts';
import { linkWords } from '#domain/channel/approval-post.ts';
import { type Inbound, readPress } from '#domain/channel.ts';
import { Failure } from '#domain/errors.ts';
import { makeOwnLink } from '#policy/own-link.ts';
import { channelLinkMaker } from '#store/approval-link-store.ts';
import { type ApprovalRow, findApproval } from '#store/approval-store.ts';
import { insertDirectPost, postsOf } from '#store/channel-post-store.ts';
import { type ChannelRow, type PersonRow } from '#store/channel-store.ts';
import { startDueDeliveries } from '#temporal/start-deliveries.ts';
import { sendDecision } from '../decide-as.ts';
import type { ApiDeps } from '../deps.ts';

/** Also in the instant between the service's taking of a post and our row of it. */
const UNKNOWN = 'This question is not known here; if it has just come, press again.';

/** As whom somebody speaks. */
export type Speaker = Pick<PersonRow, 'user_id' | 'may_decide'>;

/** What the presser is told. The post itself is edited when it is decided. */
export async function decidePressed(
  deps: ApiDeps,
  tenant: string,
  channel: ChannelRow,
  inbound: Inbound,
  person: Speaker | undefined,
): Promise<{ readonly words: string; readonly isRefusal: boolean }> {
  const { id } = inbound;
  const pressed = readPress(inbound.press?.data ?? '');
  if (!pressed) return refusal(UNKNOWN);
  if (!person?.may_decide)
    return refusal('You may not decide here: nobody has paired you as somebody who may.');
  const posts = await postsOf(deps.pool, tenant, pressed.delivery);
  const post = posts.find(
    ({ approval_id, channel_key }) => approval_id !== null && channel_key === channel.key,
  );
  const { user_id: user } = person;
  const scopes = ['read', 'run', 'approve'] as const;
  const approval = post?.approval_id && (await findApproval(deps.pool, tenant, post.approval_id));
  if (!approval) return refusal(UNKNOWN);
  const { decision } = pressed;
  if (decision === 'link') return giveLink(deps, tenant, channel, inbound, approval, user);
  // About the call as it is shown: one that was edited since is not decided by this.
  const body = { decision, digest: post.digest ?? undefined };
  const sender = {
    by: user,
    user,
    scopes,
    keyId: null,
    via: 'api',
    key: `channel/${channel.key}/${id}`,
  } as const;
  try {
    const { status } = await sendDecision(deps, tenant, approval, body, sender);
    const words = status === 'pending' ? 'Counted; others must agree too.' : `It is ${status}.`;
    return { words, isRefusal: false };
  } catch (error) {
    if (!(error instanceof Failure) || error.type === 'Unavailable') throw error;
    return refusal(error.message);
  }
}

/** Whoever has it decides as the user, so that it is told to nobody else: in the answer where only the presser sees that, else in a direct message. */
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
    const { pool, settings, tokenSecret } = deps;
    const wish = { webhook, approval, user, createdBy: channelLinkMaker(key) };
    const link = await makeOwnLink({ pool, tokenSecret, publicUrl: settings.publicUrl }, tenant, wish);
    return { words: linkWords(link), isRefusal: false };
  }
  const stem = createHash('sha256')
    .update(JSON.stringify([tenant, key, 'link', press]))
    .digest('hex')
    .slice(0, 32);
  const post = { place: { chat: person.id }, markdown: '', link: { approval: approval.id, user } };
  await insertDirectPost(deps.pool, tenant, webhook, {
    id: `msg_${stem}`,
    session: approval.session_key,
    post,
  });
  await startDueDeliveries(deps.pool, deps.temporal);
  return { words: 'I send you the link in a direct message.', isRefusal: false };
}

function refusal(words: string) {
  return { words, isRefusal: true };
}
