/** How long one run of a workflow may be that others send messages. */
import { workflowInfo } from '@temporalio/workflow';
import type { Refusal } from '#domain/turn/turn.ts';
import { isQuiet } from './is-quiet.ts';

/**
 * Where a long turn continues in a new run, after a step. It is early enough that replaying a run after a crash takes
 * well under a second, and far from the server's limits (2,000 updates, 10,000 signals, 51,200 events a run).
 */
const RUN_LIMITS = { events: 3_000, bytes: 4_000_000, messages: 1_000 };

/**
 * Where a run that cannot continue in a new one, because something runs in it, refuses what can be sent again later. The
 * rest, up to the server's limits (2,000 updates, 51,200 events, 50 MB), is for what ends it, and for its own steps.
 */
const FULL = { updates: 1_500, events: 25_000, bytes: 25_000_000 };

/** `received`: the number of messages that the run has accepted. */
export function shouldGoOnInNewRun(received: number): boolean {
  const info = workflowInfo();
  return (
    info.continueAsNewSuggested ||
    info.historyLength > RUN_LIMITS.events ||
    info.historySize > RUN_LIMITS.bytes ||
    received > RUN_LIMITS.messages
  );
}

/** Whether it should, and may now. */
export async function mayGoOnInNewRun(received: () => number): Promise<boolean> {
  return shouldGoOnInNewRun(received()) && isQuiet(received);
}

/** Undefined if the run accepts such an update; `updates` is the number that it has accepted. */
export function refusalOfFullRun(updates: number): Refusal | undefined {
  const { historyLength, historySize } = workflowInfo();
  if (updates < FULL.updates && historyLength < FULL.events && historySize < FULL.bytes) return undefined;
  return {
    type: 'QueueFull',
    message:
      'this run has had nearly as many messages as Temporal takes for one; send it again when what runs now is over',
  };
}
