/** What a remote agent answers, as the result of a call. */
import { randomUUID } from 'node:crypto';
import { type Message, type Part, type Task, TaskState } from '@a2a-js/sdk';
import { markOutside } from '#domain/text/outside-text.ts';
import { toolError, type ToolResult } from '#domain/tool.ts';
import { fileLine, type FileLines } from './remote-files.ts';

const OVER: ReadonlySet<TaskState> = new Set([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
]);

export function isOver({ status }: Task): boolean {
  return status !== undefined && OVER.has(status.state);
}

/** Distinguishes what a task asks now from what it asked before. */
export function statusId({ status }: Task): string {
  return JSON.stringify([status?.state, status?.message?.messageId, status?.timestamp]).slice(0, 2_000);
}

/** Characters of a result. */
const MAX_TEXT = 1_000_000;

export function partsOf(answer: Task | Message): readonly Part[] {
  if (!('status' in answer)) return answer.parts;
  return [...answer.artifacts.flatMap(({ parts }) => parts), ...(answer.status?.message?.parts ?? [])];
}

export interface RemoteAnswer {
  readonly name: string;
  /** The call whose task it is. */
  readonly call: string;
  readonly answer: Task | Message;
  readonly files: FileLines;
}

export function resultOf({ name, call, answer, files }: RemoteAnswer): ToolResult {
  const text = fromOutside(name, textOf(partsOf(answer), files));
  if (!('status' in answer)) return { ok: true, text };
  switch (answer.status?.state) {
    case TaskState.TASK_STATE_COMPLETED:
      return { ok: true, text };
    case TaskState.TASK_STATE_INPUT_REQUIRED:
      return {
        ok: true,
        text: `${name} waits for an answer: call it again with your answer and task_id ${call}\n${text}`,
      };
    case TaskState.TASK_STATE_AUTH_REQUIRED:
      return toolError('PermissionDenied', `${name} needs a login for the task:\n${text}`);
    default:
      return toolError('ExecutionFailed', `The task at ${name} has ended without a result:\n${text}`);
  }
}

/** What others wrote, between markers. */
export function fromOutside(name: string, text: string): string {
  return markOutside({ id: randomUUID(), source: name, text: text || '(nothing)' });
}

function textOf(parts: readonly Part[], files: FileLines): string {
  return parts
    .map((part) => files.get(part) ?? partText(part))
    .filter(Boolean)
    .join('\n')
    .slice(0, MAX_TEXT);
}

function partText(part: Part): string {
  const { content } = part;
  switch (content?.$case) {
    case 'text':
      return content.value;
    case 'data':
      return JSON.stringify(content.value) ?? '';
    default:
      return fileLine(part);
  }
}
