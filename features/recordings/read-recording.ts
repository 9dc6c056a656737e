/** Makes the recording of a session from its rows. */
import { Failure, TOOL_ERROR_CODES, type ToolErrorCode } from '#domain/errors.ts';
import { schemaProblem } from '#domain/schema/problem-words.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { canonical } from '#activities/tool-call/call-digest.ts';
import {
  CONTEXT_FIELDS,
  type RecordedCall,
  type Recording,
  RECORDING_LIMITS,
  recordingSchema,
} from './schema.ts';
import { type CallToRecord, readSession, type TurnToRecord } from './store.ts';

/** Undefined when there is no such session. @throws Failure Unprocessable, TooLarge */
export async function readRecording(
  db: TenantDb,
  scrubber: Scrubber,
  key: string,
): Promise<Recording | undefined> {
  const session = await readSession(db, key, RECORDING_LIMITS.turns + 1);
  if (!session) return undefined;
  const { turns, calls, agent, summary } = session;
  if (turns.length > RECORDING_LIMITS.turns || calls > RECORDING_LIMITS.calls)
    throw new Failure(
      'TooLarge',
      `A recording has at most ${RECORDING_LIMITS.turns} turns and ${RECORDING_LIMITS.calls} calls, and this session has more`,
    );
  const [first] = turns;
  if (!first) throw new Failure('Unprocessable', 'The session has no turn yet');
  for (const [index, turn] of turns.entries()) refuseTurn(turn, index + 1);
  const context = Object.fromEntries(
    Object.entries(first.context).filter(([name, value]) => CONTEXT_FIELDS.includes(name) && value != null),
  );
  const recording = {
    recording: 1,
    agent,
    session: key,
    revision: first.revision,
    context,
    summary,
    turns: turns.map(({ id, used, message, status, text, error, steps }) => ({
      ...(id !== undefined && { id }),
      ...(used !== undefined && { used }),
      message,
      status,
      text,
      error,
      steps: steps.map((step) => ({ ...step, calls: step.calls.map(recordedCall) })),
    })),
    parts: {},
  };
  // Rows are scrubbed when they are written; a secret that was added since is hidden here.
  const read = recordingSchema.safeParse(scrubber.args(recording));
  if (read.success) return read.data;
  throw new Failure('Unprocessable', `It cannot be recorded: ${schemaProblem(read.error, 'the recording')}`);
}

function refuseTurn({ is_open, steered, message }: TurnToRecord, turn: number): void {
  if (is_open) throw new Failure('Unprocessable', `Turn ${turn} has not ended; wait for it or stop it`);
  if (steered)
    throw new Failure(
      'Unprocessable',
      `Turn ${turn} cannot be recorded: a message was steered into it while it ran`,
    );
  if (message === null) throw new Failure('Unprocessable', `Turn ${turn} has no message`);
}

function recordedCall(call: CallToRecord): RecordedCall {
  const { tool, called_as, args, verdict, hooked, approval, ran, ok, code, result } = call;
  const isEdited = approval?.status === 'approved' && canonical(ran) !== canonical(args);
  return {
    tool,
    called_as,
    args,
    verdict,
    ...(hooked && { hooked: true as const }),
    ...(approval && { approval: approval as RecordedCall['approval'] }),
    ...(isEdited && { edited: ran }),
    ok: ok ?? false,
    code:
      TOOL_ERROR_CODES.find((known): known is ToolErrorCode => known === code) ??
      (ok ? null : 'ExecutionFailed'),
    result: result ?? 'Cancelled: the call has no result.',
  };
}
