/**
 * Brings a message into a session; it is safe to crash at any point and to repeat. It writes the message's row, sends
 * the message to Temporal, and writes the turn's row, in this order. A repeat with the same id gets the same turn.
 */
import { invocationPlace } from '#store/turns/message-store.ts';
import { refuseSecretDefinition, refuseSecretIds } from './server/refuse-secrets.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';
import {
  deleteEmptySession,
  deleteRefusedMessage,
  type NewMessage,
  turnOfMessage,
  writeMessage,
  type WrittenMessage,
} from '#store/turns/message-store.ts';
import type { Sealer } from '#store/seal.ts';
import { tenantFrozen } from '#store/tenant-freeze.ts';
import { countTurnsBefore, insertQueuedTurn, type TurnRow } from '#store/turns/turn-store.ts';
import { Failure } from '#domain/errors.ts';
import { sessionWorkflowId, turnIdOf } from '#domain/ids.ts';
import {
  type EngineHints,
  INBOX_LIMITS,
  type Receipt,
  type SubmitInput,
  type SubmitMode,
} from '#domain/turn/turn.ts';
import { forTenant, type TenantDb } from '#store/postgres/tenant-db.ts';
import { NotTaken } from '#temporal/client.ts';
import type { ApiDeps } from './deps.ts';
import { noSession } from './found.ts';
import { MAIN_AGENT } from './tenant-defaults.ts';
import { hasEnded } from './turn-wait.ts';

export interface Submission extends NewMessage {
  /** The id is derived from an Idempotency-Key, so the same request may run twice, even at once. */
  readonly repeatable: boolean;
  /**
   * The sender reads the turn only when it has ended. A turn that starts immediately needs no row before that, and may
   * end before its receipt comes. Resolves with the turn then, or when the sender no longer waits.
   */
  readonly waitFor?: ((newTurn: string) => Promise<TurnRow | undefined>) | undefined;
}

export interface Accepted {
  readonly receipt: Receipt;
  /** Writes the turn's row if no worker has done so. */
  readonly keepTurn: () => Promise<void>;
  /** The result of `waitFor`, for a turn that belongs to the message. */
  readonly waited?: Promise<TurnRow | undefined> | undefined;
  readonly workflowId: string;
  readonly agent: string;
}

/** How the message is handed over; undefined when there is no turn to accept it. */
type Deliver = (
  input: SubmitInput,
  labels: { agent: string; user?: string | undefined; isVisible: boolean },
) => Promise<Receipt | undefined>;

type SubmitDeps = Pick<ApiDeps, 'pool' | 'temporal' | 'notifier' | 'metrics' | 'secrets' | 'admitMessage'> & {
  readonly settings: Pick<ApiDeps['settings'], 'fastPath'>;
};

/** A running worker accepts a message within milliseconds. Without one, the sender learns that after this time. */
const TAKEN_MS = 5_000;
/**
 * The modes whose receipt is known before a worker answers: a new turn. The others depend on what runs, so their
 * senders must retry.
 */
const LEAVABLE: ReadonlySet<SubmitMode> = new Set(['queue', 'interrupt']);
/**
 * Far below the maximum that a session accepts, because a message that was left with Temporal can no longer be refused.
 */
const MAX_LEFT = INBOX_LIMITS.turns / 2;

/**
 * Throws NotFound for an agent that does not exist, Conflict for a session with another agent, and the workflow's
 * refusals. Without a worker, the message stays with Temporal, which is as good: the next worker runs it once.
 */
export function submitMessage(deps: SubmitDeps, tenant: string, message: Submission): Promise<Accepted> {
  const mode = message.mode ?? 'queue';
  return submit(deps, tenant, message, async (input, { agent, user, isVisible }) => {
    const summary = `${agent}${user === undefined ? '' : ` for ${user}`}: session ${message.session}`;
    // The sender waits for the answer: where its model is quick, that and the receipt may come together.
    const isInline = message.waitFor && deps.settings.fastPath && !isVisible;
    const engine: EngineHints | undefined = isInline ? { inline_model: true } : undefined;
    const to = [tenant, message.session, input, { agent, user, summary, engine }] as const;
    if (!LEAVABLE.has(mode)) return deps.temporal.submit(...to);
    try {
      return await deps.temporal.submit(...to, TAKEN_MS);
    } catch (error) {
      if (!(error instanceof NotTaken)) throw error;
      const turnId = turnIdOf(message.id);
      const waiting = await countTurnsBefore(forTenant(deps.pool, tenant), message.session, turnId);
      if (waiting >= MAX_LEFT) throw error;
      await deps.temporal.leave(...to);
      const ahead = mode === 'interrupt' ? 0 : waiting;
      return { turn_id: turnId, message_id: message.id, mode, ahead };
    }
  });
}

/** Throws Conflict when no turn runs, StaleTurn when another one does. */
export function steerTurn(
  deps: SubmitDeps,
  tenant: string,
  message: Submission,
  turnId: string | undefined,
): Promise<Accepted> {
  return submit(deps, tenant, message, (input) =>
    deps.temporal.steer(tenant, message.session, {
      ...input,
      turn_id: turnId,
    }),
  );
}

async function submit(
  deps: SubmitDeps,
  tenant: string,
  submission: Submission,
  deliver: Deliver,
): Promise<Accepted> {
  const db = forTenant(deps.pool, tenant);
  const scrubber = await deps.secrets.vault.scrubberOf(tenant);
  const { session, context: input } = submission;
  const { user, channel, chat_id } = input;
  refuseSecretIds(scrubber, { session_key: session, user, channel, chat_id }, 'body');
  const context = await deps.admitMessage(tenant, submission);
  const message = hide(scrubber, deps.secrets.sealer, tenant, { ...submission, context });
  // The context marks what a stranger says through the API.
  const row = await writeNew(db, message);
  if (row.is_foreign) throw noSession();
  const agent = checkAgent(row.agent_key, message);
  if (!row.written) checkSame(row, message);
  const workflowId = sessionWorkflowId(tenant, message.session);
  if (!row.written && row.turn_id !== null) {
    deps.metrics.submitted('repeated');
    return { receipt: repeated(message, row.turn_id), workflowId, agent, keepTurn: nothing };
  }

  const preview = scrubber.preview(message.text, INBOX_LIMITS.preview);
  const own = turnIdOf(message.id);
  const waited = row.written ? message.waitFor?.(own) : undefined;
  const labels = { agent, preview, isVisible: row.is_visible };
  const offered = offer(deps, tenant, message, labels, deliver);
  const receipt = await (waited ? receiptOrEnd(message, offered, waited) : offered);
  // On a repeat, another run of the session may have accepted the message before; then its row has the turn.
  const taken = row.written ? undefined : await turnOfMessage(db, message.id);
  if (taken && taken !== receipt.turn_id) {
    deps.metrics.submitted('repeated');
    return { receipt: repeated(message, taken), workflowId, agent, keepTurn: nothing };
  }
  const isNew = receipt.turn_id === own;
  const keepTurn = (): Promise<void> => (isNew ? insertTurn(deps, tenant, message, receipt) : nothing());
  if (!message.waitFor || receipt.ahead > 0) await keepTurn();
  deps.metrics.submitted('accepted');
  return { receipt, workflowId, agent, keepTurn, waited: isNew ? waited : undefined };
}

/** Throws TenantFrozen, unless the message was accepted before. */
async function writeNew(db: TenantDb, message: Submission): Promise<WrittenMessage> {
  // The context marks what a stranger says through the API.
  const isOwn = message.context.read === undefined;
  const row = await writeMessage(db, { ...message, isOwn, isNewWork: true });
  if (row.frozen_for !== null && row.turn_id === null) throw tenantFrozen(db.tenant, row.frozen_for);
  return row;
}

/** A turn that ended before its receipt came started immediately. */
function receiptOrEnd(
  { id, mode }: Submission,
  offered: Promise<Receipt>,
  waited: Promise<TurnRow | undefined>,
): Promise<Receipt> {
  const ended = waited.then((turn): Receipt | Promise<Receipt> =>
    turn && hasEnded(turn) ? { turn_id: turn.id, message_id: id, mode: mode ?? 'queue', ahead: 0 } : offered,
  );
  return Promise.race([offered, ended]);
}

async function nothing(): Promise<void> {}

async function insertTurn(
  deps: SubmitDeps,
  tenant: string,
  { session, context, id: messageId }: Submission,
  { turn_id: id, ahead }: Receipt,
): Promise<void> {
  const grown = await insertQueuedTurn(forTenant(deps.pool, tenant), {
    id,
    session,
    context,
    ahead,
    messageId,
  });
  if (grown) deps.notifier.notify(tenant, session);
}

/**
 * SC-3: secrets in what users send are hidden before it is written, as everywhere; the real arguments of a call are
 * sealed.
 */
function hide(scrubber: Scrubber, sealer: Sealer, tenant: string, message: Submission): Submission {
  const text = scrubber.text(message.text);
  refuseSecretDefinition(scrubber, { allowed_tools: message.context.allowed_tools }, 'body');
  // A definition cannot be hidden in part, because the model calls by it.
  for (const tool of message.context.client_tools ?? [])
    refuseSecretDefinition(scrubber, tool, `body/client_tools/${tool.name}`);
  if (!message.calls) return { ...message, text };
  const place = invocationPlace(tenant, turnIdOf(message.id));
  const calls = message.calls.map(({ tool, args }) => {
    const [shown, real] = [scrubber.args(args), JSON.stringify(args)];
    return JSON.stringify(shown) === real
      ? { tool, args }
      : { tool, args: shown, sealed: sealer.seal(real, place) };
  });
  return { ...message, text, calls };
}

async function offer(
  deps: SubmitDeps,
  tenant: string,
  message: Submission,
  { preview, ...labels }: { readonly agent: string; readonly preview: string; readonly isVisible: boolean },
  deliver: Deliver,
): Promise<Receipt> {
  const db = forTenant(deps.pool, tenant);
  try {
    // The row has them, and a value from Temporal would not be trusted.
    const { roles: _roles, key: _key, client_tools: _tools, trace: _trace, ...context } = message.context;
    const input = {
      id: message.id,
      mode: message.mode ?? undefined,
      ...context,
      preview,
    };
    const receipt = await deliver(input, { ...labels, user: message.context.user });
    if (receipt) return receipt;
    throw new Failure('Conflict', `No turn runs in session ${message.session}; send a message instead`);
  } catch (error) {
    const away = !(error instanceof Failure) || error.type === 'Unavailable';
    deps.metrics.submitted(away ? 'unavailable' : 'refused');
    // A refused message leaves no row. A repeatable one stays, because the same request may be running a second time.
    if (!away && !message.repeatable) {
      await deleteRefusedMessage(db, message.id);
      await deleteEmptySession(db, message.session);
    }
    throw error;
  }
}

function checkAgent(actual: string | null, { session, context }: Submission): string {
  const required = context.agent ?? MAIN_AGENT;
  if (actual === null)
    throw new Failure('NotFound', `There is no agent ${required}`, {
      errors: [{ pointer: 'body/agent', message: 'no such agent' }],
    });
  if (context.agent !== undefined && actual !== context.agent)
    throw new Failure(
      'Conflict',
      `Session ${session} belongs to the agent ${actual}; use another session for ${required}`,
      {
        agent: actual,
      },
    );
  return actual;
}

/** The id is derived from the key, so another text under it means another request with an old key. */
function checkSame(
  row: { readonly session_key: string | null; readonly text: string | null },
  message: Submission,
): void {
  if (row.session_key !== message.session || row.text !== message.text)
    throw new Failure(
      'IdempotencyMismatch',
      'This Idempotency-Key was used with another message; use a new one',
    );
}

function repeated(message: Submission, turnId: string): Receipt {
  return {
    turn_id: turnId,
    message_id: message.id,
    mode: message.mode ?? 'queue',
    ahead: 0,
    duplicate: true,
  };
}
