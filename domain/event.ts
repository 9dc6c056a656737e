/** The event feed of a session (IN-2): ids rise by one per session. Events are stored, then sent to readers. */

export const EVENT_TYPES = [
  'session.forked',
  'turn.queued',
  'turn.started',
  'turn.held',
  'turn.completed',
  'turn.failed',
  'turn.stopped',
  'message.received',
  'message.thinking',
  'message.delta',
  'message.reset',
  'message.completed',
  'hook.decided',
  'tool.started',
  'tool.output',
  'tool.completed',
  'approval.requested',
  'approval.voted',
  'approval.escalated',
  'approval.reminded',
  'approval.refused',
  'approval.decided',
  'subagent.started',
  'subagent.completed',
  'delegation.started',
  'delegation.completed',
  'gate.checked',
  'evaluation.started',
  'evaluation.completed',
  'handoff',
  'canvas.changed',
  'context.compacted',
  'memory.recorded',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

export interface NewEvent {
  readonly type: EventType;
  readonly turn_id?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface StoredEvent extends NewEvent {
  /** Rises by one per session, from 1. */
  readonly id: number;
  readonly session_key: string;
  /** ISO 8601. */
  readonly at: string;
}
