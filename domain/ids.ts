/** Names that other systems may rely on: workflow ids, and how the ids of a turn's parts derive from its message. */

/** Characters of a workflow's id that Temporal's SQL stores take; more are refused when the workflow starts. */
export const MAX_WORKFLOW_ID = 255;

/** Characters of a tenant's id, so that the ids of all its workflows fit. */
export const MAX_TENANT = 40;

/** `[+]` part of docs/temporal-contract.md. */
export function sessionWorkflowId(tenant: string, sessionKey: string): string {
  return `session/${tenant}/${sessionKey}`;
}

export function approvalWorkflowId(approvalId: string): string {
  return `approval/${approvalId}`;
}

const ASSIGNMENT_WORKFLOWS = {
  subagent: 'subagent',
  delegation: 'delegation',
  evaluation: 'evaluate',
} as const;

export type AssignmentKind = keyof typeof ASSIGNMENT_WORKFLOWS;

export function assignmentWorkflowId(kind: AssignmentKind, id: string): string {
  return `${ASSIGNMENT_WORKFLOWS[kind]}/${id}`;
}

/** The workflow of delegated work, whose id says its kind. */
export function workflowOfWork(id: string): string {
  return assignmentWorkflowId(id.startsWith('evl-') ? 'evaluation' : 'delegation', id);
}

/** Key of the session that works on it; for an evaluation, the prefix of the keys of its rounds' sessions. */
export function assignmentSession(kind: AssignmentKind, id: string): string {
  return `${{ subagent: 'subagent', delegation: 'delegate', evaluation: 'evaluate' }[kind]}:${id}`;
}

/** Id of the message that starts the work in its session. */
export function assignmentMessageId(id: string): string {
  return `msg_${id}`;
}

/**
 * Ids of the session and message of one run of a gate by an evaluating agent, and of the message that then requests a
 * revision.
 */
export function gateRunIds(
  ownerId: string,
  gate: number,
  attempt: number,
): { readonly session: string; readonly message: string; readonly revision: string } {
  const run = `${ownerId}.g${gate}.${attempt}`;
  return { session: `gate:${run}`, message: `msg_gate-${run}`, revision: `msg_${stem(run)}` };
}

/** Ids of the session and message of one round of an evaluation. */
export function roundIds(
  evaluationId: string,
  round: number,
  role: 'generator' | 'evaluator',
): { readonly session: string; readonly message: string } {
  const run = `${evaluationId}.${round}.${role}`;
  return { session: `evaluate:${run}`, message: `msg_${run}` };
}

/** Id of the message that announces results; `claim` identifies them. */
export function announcementIdOf(claim: string): string {
  return `${ANNOUNCEMENT}${claim}`;
}

/** Prefix of the ids of such messages. */
export const ANNOUNCEMENT = 'msg_result-';

/** A turn is named after the message that starts it, so a repeated message names the same turn. */
export function turnIdOf(messageId: string): string {
  return `turn_${stem(messageId)}`;
}

/** Id of the n-th call (from 0) that the model requested in a step; every retry of that step has the same. */
export function callIdOf(turnId: string, step: number, index: number): string {
  return `call_${stem(turnId)}.${step}.${index}`;
}

/** Ids of messages may contain dots, so the prefix of a call's id alone proves nothing. */
export function isCallOf(turnId: string, callId: string): boolean {
  return callId.replace(/\.\d+\.\d+$/, '') === `call_${stem(turnId)}`;
}

/** The id contains the tenant, because `approval/{id}` must identify one workflow across all tenants. */
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

/** 1–200 characters; no slash, so that it is one segment of a path and of a workflow id. */
export function isSessionKey(value: unknown): value is string {
  return typeof value === 'string' && SESSION_KEY.test(value);
}

export function isMessageId(value: unknown): value is string {
  return typeof value === 'string' && MESSAGE_ID.test(value);
}

/** Name of a tenant, agent, tool or rehearsal script: one plain path segment. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value);
}
