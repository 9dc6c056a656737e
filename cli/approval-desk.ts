/** Takes the approvals of a watched session one after another: asks in place, approves all, or says how to decide. */
import type { StoredEvent } from '#domain/event.ts';
import { askApproval, decide, decideCommands, isRefusedDecision, lateWords } from './ask-approval.ts';
import type { Client } from './client.ts';
import { orMissing, pathOf } from './command-context.ts';
import { textOf } from './feed-view.ts';
import type { Output } from './output.ts';
import { oneLine } from './text.ts';
import type { Approval } from './wire.ts';

export type DeskMode = 'ask' | 'approve-all' | 'tell';

export interface ApprovalDesk {
  /** Give it every event; it takes those about approvals. */
  take(event: StoredEvent): void;
  /** One that was asked for before the feed was followed. */
  ask(approvalId: string, turnId: string): void;
  /** Ends a question that is being asked. */
  close(): void;
}

export interface ApprovalDeskOptions {
  readonly client: Client;
  readonly mode: DeskMode;
  /** Where questions are asked. */
  readonly output: Output;
  /** A line that is no question: how to decide, or that a decision came too late. */
  readonly say: (line: string) => void;
  /** Holds everything else back from the terminal while a question is on it. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
  readonly onInterrupt: () => void;
  readonly onError: (error: unknown) => void;
}

/** A turn that has ended withdraws what it asked. */
const TURN_ENDS = new Set<string>(['turn.completed', 'turn.failed', 'turn.stopped']);

export function createApprovalDesk(options: ApprovalDeskOptions): ApprovalDesk {
  const { client, mode, output, say } = options;
  const open = new Map<string, { readonly turnId: string | undefined; readonly gone: AbortController }>();
  let line: Promise<void> = Promise.resolve();

  async function handle(id: string, gone: AbortSignal): Promise<void> {
    if (gone.aborted) return;
    // Old events are replayed when a session is opened again: only what is still pending is asked.
    const approval = await orMissing(client.get<Approval>(pathOf('approvals', id)));
    if (approval?.status !== 'pending' || gone.aborted) return;
    if (mode === 'tell') return say(`  to decide: ${decideCommands(id)}`);
    if (mode === 'approve-all') return send(id, { decision: 'approve' });
    for (;;) {
      const asked = await options.alone(() => askApproval(approval, output, gone));
      if (asked === 'gone') return;
      if (asked === 'interrupted') return options.onInterrupt();
      if (asked === 'later') return say(`  left open; to decide: ${decideCommands(id)}`);
      try {
        return await send(id, asked);
      } catch (error) {
        if (!isRefusedDecision(error)) throw error;
        say(output.paint('red', `  ${error.message}`));
      }
    }
  }

  async function send(id: string, body: Parameters<typeof decide>[2]): Promise<void> {
    try {
      await decide(client, id, body);
    } catch (error) {
      const late = lateWords(error);
      if (late === undefined) throw error;
      say(output.paint('yellow', `  too late: ${oneLine(late, 200)}`));
    }
  }

  function close(which: (turnId: string | undefined) => boolean): void {
    for (const [id, { turnId, gone }] of open) {
      if (!which(turnId)) continue;
      gone.abort();
      open.delete(id);
    }
  }

  function ask(id: string, turnId: string | undefined): void {
    const gone = new AbortController();
    open.set(id, { turnId, gone });
    line = line.then(() => handle(id, gone.signal)).catch(options.onError);
  }

  return {
    ask,
    take(event) {
      const id = textOf(event.data['approval_id']);
      if (event.type === 'approval.requested' && id !== '') {
        ask(id, event.turn_id);
      } else if (event.type === 'approval.decided') {
        open.get(id)?.gone.abort();
        open.delete(id);
      } else if (TURN_ENDS.has(event.type)) {
        close((turnId) => turnId === event.turn_id);
      }
    },
    close: () => close(() => true),
  };
}
