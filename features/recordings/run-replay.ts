/** Replays a recording against an installation, turn by turn, up to the first difference. */
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '#cli/call.ts';
import type { Client } from '#cli/client.ts';
import { CliError } from '#cli/cli-error.ts';
import { pathOf } from '#cli/command-context.ts';
import { replays } from './resource.ts';
import type {
  Difference,
  PromptDigest,
  RecordedCall,
  RecordedTurn,
  Recording,
  ReplayMode,
} from './schema.ts';

/** How a turn of a session ended. */
export interface EndedTurn {
  readonly turn_id: string;
  readonly status: string;
  readonly text: string | null;
  readonly error?: { readonly code: string; readonly message: string } | null | undefined;
}

export interface Replayed {
  readonly session: string;
  readonly difference: Difference | null;
  /** The recording with what the models are asked and the rules say now; only of a replay that records. */
  readonly recording: Recording;
}

const WAIT_SECONDS = 60;
const LOOK_MS = 500;
const MAX_MS = 600_000;
const ENDED = ['completed', 'failed', 'stopped'];

/** @throws ApiError when the installation refuses the recording */
export async function runReplay(
  client: Client,
  recording: Recording,
  mode: Exclude<ReplayMode, 'script'>,
): Promise<Replayed> {
  const { createReplay, getReplay } = replays.operations;
  const body = { mode, recording } as Parameters<typeof call<typeof createReplay>>[2]['body'];
  const { id, session_key: session } = await call(client, createReplay, { body });
  let ended: Difference | null = null;
  for (const [index, turn] of recording.turns.entries()) {
    const now = await sendMessage(client, session, turn.message);
    ended = endDifference(now, turn, index + 1, mode);
    if (ended) break;
  }
  const { difference, parts } = await call(client, getReplay, { params: { id } });
  return { session, difference: difference ?? ended, recording: withParts(recording, parts) };
}

/** Resolves when the turn of the message has ended. */
export async function sendMessage(client: Client, session: string, text: string): Promise<EndedTurn> {
  const path = pathOf('sessions', session, 'messages');
  const sent = await client.post<EndedTurn>(path, { text }, { wait: WAIT_SECONDS });
  let turn = sent;
  for (const until = Date.now() + MAX_MS; !ENDED.includes(turn.status); await sleep(LOOK_MS)) {
    if (Date.now() > until)
      throw new CliError(`The turn ${sent.turn_id} has not ended in ten minutes.`, { code: 'Timeout' });
    turn = { ...(await client.get<EndedTurn>(pathOf('turns', sent.turn_id))), turn_id: sent.turn_id };
  }
  return turn;
}

/** A turn that failed as recorded says so in its message (stand-ins.ts). */
export function endDifference(
  now: EndedTurn,
  before: RecordedTurn,
  turn: number,
  mode: ReplayMode,
): Difference | null {
  const step = before.steps.length;
  const differs = (message: string): Difference => ({ turn, step, part: 'end', message });
  const failed = now.error ? `: ${now.error.code}: ${now.error.message}` : '';
  if (before.status === 'completed') {
    if (now.status !== 'completed') return differs(`the turn had completed and is ${now.status}${failed}`);
    // A model that answers itself says it in other words.
    return mode === 'live' || now.text === before.text
      ? null
      : { ...differs('the final answer differs'), part: 'answer' };
  }
  if (now.status === 'failed' && (isAsRecorded(now) || now.error?.code === before.error?.code)) return null;
  return differs(`the turn was ${before.status} and is ${now.status}${failed}`);
}

function isAsRecorded({ error }: EndedTurn): boolean {
  return error?.message.startsWith('as recorded: ') ?? false;
}

const OF_STEP = /^\d+\.\d+/;

function withParts(recording: Recording, parts: Readonly<Record<string, unknown>>): Recording {
  if (Object.keys(parts).length === 0) return recording;
  return {
    ...recording,
    turns: recording.turns.map((turn, at) => ({
      ...turn,
      steps: turn.steps.map((step, index) => {
        const place = `${at + 1}.${index + 1}`;
        const prompt = parts[place] as PromptDigest | undefined;
        const verdicts = parts[`${place}.verdicts`] as readonly RecordedCall['verdict'][] | undefined;
        const calls = step.calls.map((one, nth) => ({
          ...one,
          verdict: one.hooked ? one.verdict : (verdicts?.[nth] ?? one.verdict),
        }));
        return prompt === undefined ? step : { ...step, calls, prompt };
      }),
    })),
    parts: Object.fromEntries(Object.entries(parts).filter(([name]) => !OF_STEP.test(name))),
  };
}
