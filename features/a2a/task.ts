/** A turn as a task: its state, what it waits for, its history and its answer. */
import {
  type Artifact,
  type Message,
  type Part,
  Role,
  type Task,
  TaskState,
  type TaskStatus,
} from '@a2a-js/sdk';
import { showHidden } from '#domain/text/hidden-text.ts';
import { formLines } from '#domain/form.ts';
import type { ApprovalRow } from '#store/approvals/approval-store.ts';
import type { TurnRow } from '#store/turns/turn-store.ts';

type Status = TurnRow['status'];

export type TaskTurn = Pick<
  TurnRow,
  | 'id'
  | 'session_key'
  | 'agent_key'
  | 'user'
  | 'status'
  | 'text'
  | 'error'
  | 'created_at'
  | 'started_at'
  | 'ended_at'
>;

const STATES: Readonly<Record<string, TaskState>> = {
  queued: TaskState.TASK_STATE_SUBMITTED,
  running: TaskState.TASK_STATE_WORKING,
  waiting_approval: TaskState.TASK_STATE_INPUT_REQUIRED,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  stopped: TaskState.TASK_STATE_CANCELED,
};

/** The status of turns in this state; undefined when no turn is ever in it. */
export function turnStatusOf(state: TaskState): Status | undefined {
  return Object.keys(STATES).find((status) => STATES[status] === state) as Status | undefined;
}

export interface SpokenMessage {
  readonly id: string;
  readonly turn_id: string;
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

export interface TaskParts {
  readonly waits: readonly ApprovalRow[];
  readonly history?: readonly SpokenMessage[];
  readonly hasArtifacts: boolean;
  /** Those that the answer links. */
  readonly files: readonly Part[];
}

export function taskOf(turn: TaskTurn, { waits, history = [], hasArtifacts, files }: TaskParts): Task {
  const { id, session_key: contextId } = turn;
  return {
    id,
    contextId,
    status: statusOf(turn, waits),
    artifacts: hasArtifacts && turn.text ? [answerOf(turn.text, files)] : [],
    history: history.map((one) =>
      messageOf(turn, one.id, one.role === 'user' ? Role.ROLE_USER : Role.ROLE_AGENT, [textPart(one.text)]),
    ),
    metadata: undefined,
  };
}

/** While approvals wait that the caller does not see, the task works: the caller has nothing to do. */
export function statusOf(turn: TaskTurn, waits: readonly ApprovalRow[]): TaskStatus {
  const { status, error, ended_at, started_at, created_at } = turn;
  const hasEnded = ended_at !== null;
  const waiting = hasEnded ? [] : waits;
  const state =
    waiting.length > 0
      ? TaskState.TASK_STATE_INPUT_REQUIRED
      : status === 'waiting_approval'
        ? TaskState.TASK_STATE_WORKING
        : (STATES[status] ?? TaskState.TASK_STATE_UNSPECIFIED);
  const words = error ? [textPart(`${error.code}: ${error.message}`)] : waiting.flatMap(requestOf);
  const name = error ? 'error' : (waiting[0]?.id ?? '');
  const latest = waiting[0]?.created_at ?? ended_at ?? started_at ?? created_at;
  return {
    state,
    message: words.length > 0 ? messageOf(turn, `${turn.id}.${name}`, Role.ROLE_AGENT, words) : undefined,
    timestamp: latest.toISOString(),
  };
}

export function isTerminal(state: TaskState | undefined): boolean {
  return (
    state === TaskState.TASK_STATE_COMPLETED ||
    state === TaskState.TASK_STATE_FAILED ||
    state === TaskState.TASK_STATE_CANCELED
  );
}

/** What a person or program must decide: words, and the same as data for the answer. */
function requestOf({ id, tool, args, summary, reason, form, terms }: ApprovalRow): Part[] {
  const what = terms.client_tool ? 'Waits for the result of' : form ? 'Asks' : 'Waits for an approval of';
  const words = form ? formLines(form).join('\n') : showHidden(summary);
  return [
    textPart(`${what}: ${words}`),
    {
      ...textPart(''),
      content: {
        $case: 'data',
        value: { approval: id, tool, arguments: args, ...(reason && { reason }), ...(form && { form }) },
      },
      mediaType: 'application/json',
    },
  ];
}

/** The name of the one artifact of a task. */
const ANSWER = 'answer';

export function answerOf(text: string, files: readonly Part[] = []): Artifact {
  return {
    artifactId: ANSWER,
    name: ANSWER,
    description: '',
    parts: [textPart(text), ...files],
    metadata: undefined,
    extensions: [],
  };
}

/** The task works, and its next call waits until somebody lifts what holds it. */
export function heldStatus(turn: TaskTurn, event: string, words: string): TaskStatus {
  const message = messageOf(turn, `${turn.id}.held.${event}`, Role.ROLE_AGENT, [textPart(words)]);
  return { ...statusOf({ ...turn, status: 'running' }, []), message };
}

function textPart(text: string): Part {
  return {
    content: { $case: 'text', value: text },
    metadata: undefined,
    filename: '',
    mediaType: 'text/plain',
  };
}

function messageOf(
  { id: taskId, session_key: contextId }: TaskTurn,
  messageId: string,
  role: Role,
  parts: Part[],
): Message {
  return {
    messageId,
    contextId,
    taskId,
    role,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}
