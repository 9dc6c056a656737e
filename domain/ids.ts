/** Names that other systems may rely on: workflow ids, and how the ids of a turn's parts follow from its message. */

/** `[+]` part of docs/temporal-contract.md. */
export function sessionWorkflowId(tenant: string, sessionKey: string): string {
  return `session/${tenant}/${sessionKey}`;
}

export function approvalWorkflowId(approvalId: string): string {
  return `approval/${approvalId}`;
}

export function subagentWorkflowId(subagentId: string): string {
  return `subagent/${subagentId}`;
}

/** Of the subagent that works in the session; undefined for any other session. */
export function subagentOfSession(sessionKey: string): string | undefined {
  return sessionKey.startsWith(SUBAGENT_SESSION) ? sessionKey.slice(SUBAGENT_SESSION.length) : undefined;
}

const SUBAGENT_SESSION = 'subagent:';

export function delegationWorkflowId(delegationId: string): string {
  return `delegation/${delegationId}`;
}

export function evaluationWorkflowId(evaluationId: string): string {
  return `evaluate/${evaluationId}`;
}

/** The message that sets a delegation's target to work. */
export function delegationMessageId(delegationId: string): string {
  return `msg_${delegationId}`;
}

/** Session and message of one run of a gate by an evaluating agent, and the message that asks for a revision after it. */
export function gateRunIds(
  ownerId: string,
  gate: number,
  attempt: number,
): { readonly session: string; readonly message: string; readonly revision: string } {
  const run = `${ownerId}.g${gate}.${attempt}`;
  return { session: `gate:${run}`, message: `msg_gate-${run}`, revision: `msg_${stem(run)}` };
}

/** Session and message of one round of an evaluation. */
export function roundIds(
  evaluationId: string,
  round: number,
  role: 'generator' | 'evaluator',
): { readonly session: string; readonly message: string } {
  const run = `${evaluationId}.${round}.${role}`;
  return { session: `evaluate:${run}`, message: `msg_${run}` };
}

/** The message that sets a subagent to work. */
export function subagentMessageId(subagentId: string): string {
  return `msg_${subagentId}`;
}

/** The message that tells a parent of results; `by` is the subagent whose end it told first. */
export function announcementIdOf(by: string): string {
  return `msg_told-${by}`;
}

/** A turn is named after the message that starts it, so a message submitted twice names the same turn. */
export function turnIdOf(messageId: string): string {
  return `turn_${stem(messageId)}`;
}

/** The n-th call (from 0) that the model asked for at a step; the same for every retry of that step. */
export function callIdOf(turnId: string, step: number, index: number): string {
  return `call_${stem(turnId)}.${step}.${index}`;
}

/** Ids of messages may hold dots, so that the beginning of a call's id alone says nothing. */
export function isCallOf(turnId: string, callId: string): boolean {
  return callId.replace(/\.\d+\.\d+$/, '') === `call_${stem(turnId)}`;
}

/** With the tenant in it, since `approval/{id}` names one workflow over all tenants. */
export function approvalIdOf(tenant: string, callId: string): string {
  return `apr_${tenant}.${stem(callId)}`;
}

/** The id of the assistant's message of a step. */
export function answerIdOf(turnId: string, step: number): string {
  return `msg_${stem(turnId)}.${step}`;
}

function stem(id: string): string {
  const cut = id.indexOf('_');
  return cut < 0 ? id : id.slice(cut + 1);
}

const SESSION_KEY = /^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,199}$/;
const MESSAGE_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** 1–200 characters; no slash, so that it is one part of a path and of a workflow id. */
export function isSessionKey(value: unknown): value is string {
  return typeof value === 'string' && SESSION_KEY.test(value);
}

export function isMessageId(value: unknown): value is string {
  return typeof value === 'string' && MESSAGE_ID.test(value);
}

/** Tenants, agents, tools, rehearsal scripts: one plain path segment (SECURITY §2). */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value);
}
