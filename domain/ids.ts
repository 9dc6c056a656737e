/** Names that other systems may rely on: workflow ids, and how the ids of a turn's parts follow from its message. */

import type { AssignmentKind } from './assignment.ts';

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
} as const satisfies Record<AssignmentKind, string>;

export function assignmentWorkflowId(kind: AssignmentKind, id: string): string {
  return `${ASSIGNMENT_WORKFLOWS[kind]}/${id}`;
}

/** The session that works on it; of an evaluation, what the keys of its rounds' sessions begin with. */
export function assignmentSession(kind: AssignmentKind, id: string): string {
  return `${{ subagent: 'subagent', delegation: 'delegate', evaluation: 'evaluate' }[kind]}:${id}`;
}

/** The message that sets its session to work. */
export function assignmentMessageId(id: string): string {
  return `msg_${id}`;
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

/** The message that announces results; `claim` says which. */
export function announcementIdOf(claim: string): string {
  return `${ANNOUNCEMENT}${claim}`;
}

/** What the ids of such messages begin with. */
export const ANNOUNCEMENT = 'msg_result-';

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
