/** Sends mails in place of webhook calls: one delivery about an approval, to one person, with a link to decide it. */
import { mailAddressOf, NOTIFY_TEST } from '#features/webhooks-out/contract.ts';
import { deciderProblem } from '#domain/approval/approval-decider.ts';
import { personOf } from '#domain/person.ts';
import { askingMail, outcomeMail, planMail, testMail } from '../rules.ts';
import type { OwnLinkDeps } from '#features/approval-links/index.ts';
import { type DeliveryBasis, findEarlierRequest, webhookLinkMaker } from '#features/webhooks-out/index.ts';
import { type ApprovalRow, findApproval } from '#store/approvals/approval-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { ScrubberOf } from '#store/secrets/scrubber.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { Mail, MailOutcome, SendMail } from './send-mail.ts';

export interface ApprovalMailDeps extends OwnLinkDeps {
  readonly pool: Pool;
  readonly scrubberOf: ScrubberOf;
  readonly send: SendMail;
}

export type MailDelivery = (
  tenant: string,
  delivery: DeliveryBasis,
  signal: AbortSignal,
) => Promise<MailOutcome & { readonly isSilent?: boolean }>;

/** Sends nothing if there is nothing to say, which `isSilent` reports, with the reason as `problem`. */
export function createMailDelivery(deps: ApprovalMailDeps): MailDelivery {
  return async (tenant, delivery, signal) => {
    const mail = await mailOf(deps, tenant, delivery);
    if ('silent' in mail) return { answered: null, problem: mail.silent, isSilent: true };
    const { answered, problem } = await deps.send(tenant, mail, signal);
    if (problem === null) return { answered, problem };
    // A server's answer may contain what it received.
    return { answered, problem: (await deps.scrubberOf(tenant)).preview(problem, 500) };
  };
}

async function mailOf(
  deps: ApprovalMailDeps,
  tenant: string,
  delivery: DeliveryBasis,
): Promise<Mail | { readonly silent: string }> {
  const db = forTenant(deps.pool, tenant);
  const { id, event, session_key: session, webhook, stored } = delivery;
  const to = mailAddressOf(webhook.url) ?? '';
  if (event === NOTIFY_TEST) return { id, to, ...testMail() };
  const approval = await findApproval(db, String(stored?.data['approval_id']));
  if (!approval) return { silent: 'not sent: the approval is no longer kept' };
  const user = webhook.user_id ?? to;
  const first = await findEarlierRequest(db, delivery, approval.id);
  const decider = whyNot(approval, user);
  const plan = planMail(approval, {
    event,
    session,
    scope: webhook,
    decider,
    wasRequested: first !== undefined,
  });
  if (typeof plan === 'object') return plan;
  const thread = { id, to, replyTo: first };
  if (plan === 'tell') return { ...thread, ...outcomeMail(approval) };
  const createdBy = webhookLinkMaker(webhook.id);
  const link = await deps.ownLink()?.(tenant, { webhook: webhook.id, approval, user, createdBy });
  return { ...thread, ...askingMail(approval, { event, user, link, now: new Date() }) };
}

function whyNot(approval: ApprovalRow, user: string): string | undefined {
  const { terms, user_id: requester, escalated_at, agreed } = approval;
  if (agreed.some((by) => personOf(by) === personOf(user))) return 'has agreed already';
  const who = { by: user, user, scopes: SCOPES, proof: 'key' as const };
  return deciderProblem({ terms, requester, escalated: escalated_at !== null }, who);
}

/** The scopes of the link. */
const SCOPES = ['approve'] as const;
