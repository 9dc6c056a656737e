/** Kills a side while a batch of its turns is at one point, and says how each of them ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createGate, type Gate } from './gate.ts';
import { type PointId, pointOf } from './points.ts';
import { messageOf, type Reported } from './script.ts';
import type { RunningSide, Side } from './side.ts';
import type { Seen, World } from './world.ts';

/**
 * `right`: the payment happened once and the model knows. `unknown`: it happened at most once, and the model was told that
 * nobody knows. `failed`: it happened at most once, and the caller got an error in place of an answer. `late`: it happened
 * at most once, and the turn did not end in two minutes. `doubled`: it happened more than once. `lost`: the turn ended
 * while the payment had not happened, or the model does not know that it has, and nobody was told that this may be so.
 */
export const OUTCOMES = ['right', 'unknown', 'failed', 'late', 'doubled', 'lost'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Trial {
  readonly turn: string;
  readonly outcome: Outcome;
  readonly effects: number;
  readonly reported: Reported;
  /** The result that the model read, or the error that the caller got. */
  readonly words: string;
  readonly answers: number;
  /** From the start of what was killed to the first answer; undefined without one. */
  readonly seconds: number | undefined;
  /** Of these, those until what was killed took requests again. */
  readonly startSeconds: number;
}

export interface Batch {
  readonly point: PointId;
  readonly size: number;
  readonly tool: string;
  /** Begins the ids of its turns; letters, digits and `-`. */
  readonly name: string;
  /** Milliseconds between response and kill at `record`. */
  readonly recordMs: number;
}

/** From the restart on, a turn has so long to end. */
const PATIENCE_MS = 120_000;
/** A program that has ended by itself is started again after so long, as a supervisor does. */
const SUPERVISOR_MS = 1_000;

/** Runs a batch. Turns that were not at the point when the kill came are left out. */
export async function runBatch(
  side: Side,
  running: RunningSide,
  world: World,
  batch: Batch,
): Promise<readonly Trial[]> {
  const { victim } = pointOf(batch.point);
  const turns = Array.from({ length: batch.size }, (_, n) => `${batch.name}-${n}`);
  for (const turn of turns) world.expect(turn);
  const text = (turn: string): string => messageOf(turn, 1, batch.tool);
  let restarted: Promise<void> | undefined;
  const gate: Gate = createGate({
    point: batch.point,
    turns,
    recordMs: batch.recordMs,
    kill() {
      if (victim !== 'worker') {
        restarted = running.services[victim]?.killAndRestart();
        return;
      }
      running.killWorker();
    },
  });
  world.arm(gate);
  const started = Promise.all(turns.map((turn) => running.begin(turn, text(turn))));
  // The kill may come before a request is answered, which is then sent again until the restart.
  const held = await Promise.race([gate.fired, started.then(() => gate.fired)]);
  world.arm(undefined);
  const began = performance.now();
  await (victim === 'worker' ? running.restartWorker() : restarted);
  const startSeconds = (performance.now() - began) / 1_000;
  await started;
  const resume = async (): Promise<void> => {
    const wake = `${batch.name}-wake`;
    if (side.resume === 'traffic') await running.begin(wake, text(wake));
    if (side.resume === 'caller') await Promise.all(held.map((turn) => running.begin(turn, text(turn))));
  };
  if (victim === 'worker') await resume();
  await untilEnded(running, world, held, resume);
  return held.map((turn) => judge(turn, world.seen(turn), began, startSeconds));
}

/** Waits for the turns, and starts a program again that ends meanwhile. */
async function untilEnded(
  running: RunningSide,
  world: World,
  turns: readonly string[],
  resume: () => Promise<void>,
): Promise<void> {
  const ends = Promise.all(turns.map((turn) => world.answered(turn, PATIENCE_MS))).then(() => true);
  while (!(await Promise.race([ends, sleep(500)])))
    if (running.hasEnded()) {
      await sleep(SUPERVISOR_MS);
      await running.restartWorker();
      await resume();
    }
  // What comes late, such as a second payment or answer of a run that goes on, counts too.
  await sleep(500);
}

export function judge(turn: string, seen: Seen, began: number, startSeconds: number): Trial {
  const effects = [...seen.effects.values()].reduce((sum, count) => sum + count, 0);
  const first = seen.answers[0];
  return {
    turn,
    outcome: outcomeOf(effects, seen.reported, first),
    effects,
    reported: seen.reported,
    words: first?.ok === false ? first.text : seen.words,
    answers: seen.answers.length,
    seconds: seen.answeredAt === undefined ? undefined : Math.max(0, seen.answeredAt - began) / 1_000,
    startSeconds,
  };
}

function outcomeOf(
  effects: number,
  reported: Reported,
  answer: { readonly ok: boolean } | undefined,
): Outcome {
  if (effects > 1) return 'doubled';
  if (!answer) return 'late';
  if (!answer.ok) return 'failed';
  if (reported === 'unknown') return 'unknown';
  return effects === 1 && reported === 'paid' ? 'right' : 'lost';
}
