/** Replays one recorded session under a change, to its end, and says what became of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '#cli/call.ts';
import type { Client } from '#cli/client.ts';
import { pathOf } from '#cli/command-context.ts';
import { replays } from '../resource.ts';
import { endDifference, sendMessage } from '../run-replay.ts';
import type { Difference, Recording, WhatIf } from '../schema.ts';
import { type Figures, figuresOf } from './figures.ts';

/** Two turns that stand for each other. */
export interface TurnPair {
  readonly turn: string;
  readonly other: string;
}

export interface Replayed {
  /** The session that was recorded, and the one that replays it. */
  readonly session: string;
  readonly replay: string;
  readonly before: Figures;
  readonly after: Figures;
  /** The first one of calls, verdicts and ends; words of answers do not count. */
  readonly difference: Difference | null;
  /** Turns that have completed both times, with other words. */
  readonly answers: number;
  /** Where the first difference is, else the first turn; null when the recording does not name its turns. */
  readonly compare: TurnPair | null;
}

/** What runs while sessions are replayed. */
export interface Spending {
  /** True when no further turn may start. */
  isOver(): boolean;
  /** `usd` is null when the price is not known. */
  add(usd: number | null): void;
  /** Sessions with a turn that runs. */
  readonly running: Set<string>;
}

type Body = Parameters<typeof call<typeof replays.operations.createReplay>>[2]['body'];

/** Undefined when it was ended before its last turn. @throws CliError when it cannot be replayed */
export async function replaySession(
  client: Client,
  recording: Recording,
  change: WhatIf,
  spending: Spending,
): Promise<Replayed | undefined> {
  const { createReplay, getReplay, getRecording } = replays.operations;
  const body = { mode: 'what-if', recording, change } as unknown as Body;
  const { id, session_key: replay } = await call(client, createReplay, { body });
  let ended: Difference | null = null;
  for (const [index, turn] of recording.turns.entries()) {
    if (spending.isOver()) return undefined;
    const now = await sendOne(client, replay, turn.message, spending, change.models);
    if (spending.isOver() && now.status === 'stopped') return undefined;
    ended ??= endDifference(now, turn, index + 1, 'live');
  }
  const { difference: noted } = await call(client, getReplay, { params: { id } });
  const after = (await call(client, getRecording, { params: { key: replay } })) as Recording;
  const difference = earlier(noted, ended);
  return {
    session: recording.session,
    replay,
    before: figuresOf(recording),
    after: figuresOf(after),
    difference,
    answers: recording.turns.filter(
      ({ status, text }, at) =>
        status === 'completed' && after.turns[at]?.status === 'completed' && after.turns[at]?.text !== text,
    ).length,
    compare: pairOf(recording, after, (difference?.turn ?? 1) - 1),
  };
}

/** A turn that this command no longer waits for is stopped, so that it costs no more. */
async function sendOne(
  client: Client,
  replay: string,
  message: string,
  spending: Spending,
  models: WhatIf['models'],
) {
  spending.running.add(replay);
  try {
    const ended = await sendMessage(client, replay, message);
    if (models === 'recorded') return ended;
    const { usage } = await client.get<Used>(pathOf('turns', ended.turn_id));
    spending.add(usage.unpriced_calls > 0 ? null : (usage.cost_usd ?? 0));
    return ended;
  } catch (error) {
    await stopTurn(client, replay);
    throw error;
  } finally {
    spending.running.delete(replay);
  }
}

interface Used {
  readonly usage: { readonly cost_usd: number | null; readonly unpriced_calls: number };
}

const TRIES = 5;
const PAUSE_MS = 200;

/** Tries again while the turn is just about to start. What still fails is left: the turn's own limits end it. */
export async function stopTurn(client: Client, session: string): Promise<void> {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    try {
      await client.post(pathOf('sessions', session, 'stop'), { level: 'now' });
      return;
    } catch {
      // There is no turn to stop, or nobody who could stop it.
      await sleep(PAUSE_MS);
    }
  }
}

function earlier(one: Difference | null, other: Difference | null): Difference | null {
  if (!one || !other) return one ?? other;
  return one.turn <= other.turn ? one : other;
}

function pairOf(before: Recording, after: Recording, at: number): TurnPair | null {
  const [turn, other] = [before.turns[at]?.id, after.turns[at]?.id];
  return turn === undefined || other === undefined ? null : { turn, other };
}
