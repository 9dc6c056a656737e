/**
 * Selects the histories that are worth keeping: those that together reach each place of the workflows' code that any
 * reaches, and have each end that any has. Further histories show nothing more when they replay.
 */
import { Session } from 'node:inspector/promises';
import { Worker } from '@temporalio/worker';
import type { KeptHistory } from '#test/support/histories.ts';
import { quietRuntime } from '#test/support/quiet-runtime.ts';
import { bundleWorkflows } from '#workers/bundle.ts';
import { FEATURES } from '#features';

/** replay.test.ts replays these with a changed bundle. */
const ASKED_FOR = /^approval-approve(\.approval)?$/;

/** The modules of workflows in the bundle; the decisions of `domain/` that they call have tests of their own. */
const OURS = /^\/\*{3}\/ "\.\/(?:workflows\/|features\/[^/]+\/workflow)[^]*?^\/\*{3}\/ \}/gm;

/** Where something begins that may be skipped: a line, a branch, an operand, a function's body. */
const PLACES = /(?:^[ \t]*|\?\?|&&|\|\||\?|:|=>)\s*(?=\S)/gm;

/** Names of all that are kept already, and of the fewest others that reach the rest. */
export async function covering(
  histories: readonly KeptHistory[],
  kept: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const { code } = await bundleWorkflows(FEATURES);
  const reached = await replayWatched(code, histories);
  const chosen = new Set<string>();
  const open = new Set([...reached.values()].flatMap((places) => [...places]));
  const choose = (name: string): void => {
    chosen.add(name);
    for (const place of reached.get(name) ?? []) open.delete(place);
  };
  for (const { name } of histories) if (kept.has(name) || ASKED_FOR.test(name)) choose(name);
  while (open.size > 0) {
    const gains = histories.map(({ name }) => {
      const places = [...(reached.get(name) ?? [])].filter((place) => open.has(place));
      return { name, gain: places.length };
    });
    const best = gains.reduce((max, one) => (one.gain > max.gain ? one : max));
    console.log(`${best.name} reaches ${best.gain} places more`);
    choose(best.name);
  }
  return chosen;
}

/** The places of the bundle that each history reaches, and how it ends, by its name. */
async function replayWatched(
  code: string,
  histories: readonly KeptHistory[],
): Promise<ReadonlyMap<string, ReadonlySet<number | string>>> {
  quietRuntime();
  const places = placesOf(code);
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const named = histories.map(({ name, history }) => ({ workflowId: name, history }));
  const reached = new Map<string, ReadonlySet<number | string>>();
  const ends = new Map(histories.map(({ name, history }) => [name, endOf(history)]));
  const replays = Worker.runReplayHistories({ workflowBundle: { code } }, named);
  for await (const { workflowId, error } of replays) {
    if (error) throw new Error(`${workflowId} does not replay`, { cause: error });
    // Counts start again each time.
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const bundle = result.find(({ url }) => url.includes('workflow-bundle'));
    const ran = new Uint8Array(code.length);
    for (const { ranges } of bundle?.functions ?? [])
      for (const { startOffset, endOffset, count } of ranges)
        ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
    const inIt = places.filter((place) => ran[place] === 1);
    reached.set(workflowId, new Set([...inIt, ends.get(workflowId) ?? '']));
  }
  session.disconnect();
  return reached;
}

function endOf(history: unknown): string {
  const { events } = history as { events: readonly { eventType: string }[] };
  return events.at(-1)?.eventType ?? '';
}

function placesOf(code: string): readonly number[] {
  return [...code.matchAll(OURS)].flatMap(({ index, 0: text }) =>
    [...text.matchAll(PLACES)].map((place) => index + place.index + place[0].length),
  );
}
