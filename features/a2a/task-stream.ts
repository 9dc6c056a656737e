/** A task as a stream: the task first, then pieces of its answer and each change of its status. */
import {
  type Artifact,
  type Part,
  type StreamResponse,
  type Task,
  TaskState,
  type TaskStatus,
} from '@a2a-js/sdk';
import type { StoredEvent } from '#domain/event.ts';
import type { TurnNews } from '#api/turn-follower.ts';
import { heldWords } from '#domain/turn/held-turn.ts';
import { answerOf, heldStatus, isTerminal, statusOf, type TaskTurn } from './task.ts';

export interface TaskStream {
  /** `files`: those that the answer links, when the turn has ended. */
  take(
    news: TurnNews,
    files: readonly Part[],
  ): {
    readonly responses: readonly StreamResponse[];
    /** The task has ended, or waits for somebody. */
    readonly pause?: 'ended' | 'waits' | undefined;
  };
}

/** `task` is the first item: the turn as it was when the stream began. */
export function createTaskStream(turn: TaskTurn, task: Task): TaskStream {
  const ids = { taskId: task.id, contextId: task.contextId, metadata: undefined };
  let status = task.status;
  let isFirst = true;
  let place = '';
  const update = (artifact: Artifact, append: boolean, lastChunk: boolean): StreamResponse => ({
    payload: { $case: 'artifactUpdate', value: { ...ids, artifact, append, lastChunk } },
  });
  /** What is written anew, in another step or attempt, replaces what was written before. */
  const piece = ({ type, data }: StoredEvent): StreamResponse[] => {
    const { step, attempt, text } = data;
    if (type !== 'message.delta' || typeof text !== 'string' || text === '') return [];
    const isSame = place === `${String(step)}/${String(attempt)}`;
    place = `${String(step)}/${String(attempt)}`;
    return [update(answerOf(text), isSame, false)];
  };
  const changeTo = (next: TaskStatus): StreamResponse[] => {
    if (next.state === status?.state && next.message?.messageId === status.message?.messageId) return [];
    status = next;
    return [{ payload: { $case: 'statusUpdate', value: { ...ids, status: next } } }];
  };
  const heldOf = (events: readonly StoredEvent[]): StreamResponse[] =>
    events
      .filter(({ type }) => type === 'turn.held')
      .flatMap(({ id, data }) => changeTo(heldStatus(turn, String(id), heldWords(data))));
  /** The task itself says how it was before; what it does after that shows that it works. */
  const statusAfter = ({ events, waits, ended }: TurnNews): StreamResponse[] => {
    if (ended) return changeTo(statusOf(ended, []));
    const held = heldOf(events);
    if (held.length > 0 && waits.length === 0) return held;
    const works = !isFirst && events.some(({ type }) => type !== 'turn.queued');
    return waits.length > 0 || works ? changeTo(statusOf({ ...turn, status: 'running' }, waits)) : [];
  };
  return {
    take(news, files) {
      const first: StreamResponse[] = isFirst ? [{ payload: { $case: 'task', value: task } }] : [];
      if (isTerminal(status?.state)) return { responses: first, pause: 'ended' };
      const { events, ended } = news;
      const pieces = ended ? [] : events.flatMap(piece);
      // The whole answer, because pieces have their secrets hidden one by one.
      const answer = ended?.text ? [update(answerOf(ended.text, files), false, true)] : [];
      const changes = statusAfter(news);
      isFirst = false;
      const waits = status?.state === TaskState.TASK_STATE_INPUT_REQUIRED ? 'waits' : undefined;
      return { responses: [...first, ...pieces, ...answer, ...changes], pause: ended ? 'ended' : waits };
    },
  };
}
