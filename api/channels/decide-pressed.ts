/** A pressed button as a decision (AP-2): whoever pressed it is known by the service's identity alone, and decides as his user. */
import { type Inbound, readPress } from '#domain/channel.ts';
import { Failure } from '#domain/errors.ts';
import { type ChannelRow, type PersonRow, postsOf } from '#store/channel-store.ts';
import { findApproval } from '#store/approval-store.ts';
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
  { id, press }: Inbound,
  person: Speaker | undefined,
): Promise<{ readonly words: string; readonly isRefusal: boolean }> {
  const pressed = readPress(press?.data ?? '');
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

function refusal(words: string) {
  return { words, isRefusal: true };
}
