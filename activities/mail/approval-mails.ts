/** Mails in place of webhook calls: what one delivery says of an approval, to one person, with a link to decide it. */
import { deciderProblem, personOf } from '#domain/approval-decider.ts';
import { askingMail, mailAddressOf, outcomeMail, planMail, testMail } from '#domain/approval-mail.ts';
import { NOTIFY_TEST } from '#domain/webhook.ts';
import { hashToken, mailLinkToken } from '#policy/decision-token.ts';
import { insertApprovalLink, webhookLinkMaker } from '#store/approval-link-store.ts';
import { type ApprovalRow, findApproval } from '#store/approval-store.ts';
import type { Pool } from '#store/pool.ts';
import type { ScrubberOf } from '#store/secrets/scrubber.ts';
import { type DeliveryBasis, findAskedBefore } from '#store/webhook-store.ts';
import type { Mail, MailOutcome, SendMail } from './send-mail.ts';

export interface ApprovalMailDeps {
  readonly pool: Pool;
  readonly scrubberOf: ScrubberOf;
  readonly send: SendMail;
  /** Where people reach the API; without one mails have no links. */
  readonly publicUrl: string | undefined;
  readonly tokenSecret: string;
}

export type MailDelivery = (
  tenant: string,
  delivery: DeliveryBasis,
  signal: AbortSignal,
) => Promise<MailOutcome & { readonly isSilent?: boolean }>;

/** Sends nothing where there is nothing to say, which `isSilent` tells, with the reason as `problem`. */
export function createMailDelivery(deps: ApprovalMailDeps): MailDelivery {
  return async (tenant, delivery, signal) => {
    const mail = await mailOf(deps, tenant, delivery);
    if ('silent' in mail) return { answered: null, problem: mail.silent, isSilent: true };
    const { answered, problem } = await deps.send(tenant, mail, signal);
    if (problem === null) return { answered, problem };
    // A server may say again what it was told.
    return { answered, problem: (await deps.scrubberOf(tenant)).preview(problem, 500) };
  };
}

async function mailOf(
  deps: ApprovalMailDeps,
  tenant: string,
  delivery: DeliveryBasis,
): Promise<Mail | { readonly silent: string }> {
  const { id, event, session_key: session, webhook, stored } = delivery;
  const to = mailAddressOf(webhook.url) ?? '';
  if (event === NOTIFY_TEST) return { id, to, ...testMail() };
  const approval = await findApproval(deps.pool, tenant, String(stored?.data['approval_id']));
  if (!approval) return { silent: 'not sent: the approval is no longer kept' };
  const user = webhook.user_id ?? to;
  const first = await findAskedBefore(deps.pool, tenant, delivery, approval.id);
  const decider = whyNot(approval, user);
  const plan = planMail(approval, {
    event,
    session,
    wanted: webhook,
    decider,
    wasAsked: first !== undefined,
  });
  if (typeof plan === 'object') return plan;
  const thread = { id, to, replyTo: first };
  if (plan === 'tell') return { ...thread, ...outcomeMail(approval) };
  const link = await linkTo(deps, tenant, webhook.id, approval, user);
  return { ...thread, ...askingMail(approval, { event, user, link, now: new Date() }) };
}

function whyNot(approval: ApprovalRow, user: string): string | undefined {
  const { terms, user_id: requester, escalated_at, agreed } = approval;
  if (agreed.some((by) => personOf(by) === personOf(user))) return 'has agreed already';
  const who = { by: user, user, scopes: SCOPES, proof: 'key' as const };
  return deciderProblem({ terms, requester, escalated: escalated_at !== null }, who);
}

/** Of whoever reads it: the right to decide, and no other. */
const SCOPES = ['approve'] as const;

/** Undefined where there is no address for one, or no more may be made. */
async function linkTo(
  { pool, publicUrl, tokenSecret }: ApprovalMailDeps,
  tenant: string,
  webhook: string,
  approval: ApprovalRow,
  user: string,
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
    createdBy: webhookLinkMaker(webhook),
    seconds: null,
  });
  return ends && `${publicUrl.replace(/\/+$/, '')}/a/${token}`;
}
