/** Subagents that run until a test ends them. */
import type { LiveWorker } from './live-worker.ts';

/** Starts two in a session of their own, each in a tool that holds; returns their ids. */
export async function twoSubagents(
  live: LiveWorker,
  name: string,
): Promise<{ readonly stopped: string; readonly steered: string }> {
  const notes = [`${name}-stopped`, `${name}-steered`];
  const calls = notes.map(
    (note) => `spawn ${JSON.stringify({ task: `hold {"note":"${note}"}\nthen\nHeld.`, label: note })}`,
  );
  const { turn_id } = await live.say(`${name}-subagents`, `${calls.join('\n')}\nthen\nOn it.`);
  await live.ended(turn_id);
  for (const note of notes) await live.probes.untilHeld(note);
  const { rows } = await live.pool.query<{ id: string }>(
    'select id from subagents where tenant_id = $1 and parent_session = $2 order by label desc',
    [live.tenant, `${name}-subagents`],
  );
  const [stopped, steered] = rows;
  if (!stopped || !steered) throw new Error('two subagents should run');
  return { stopped: stopped.id, steered: steered.id };
}
