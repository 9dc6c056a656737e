/**
 * Handles the approvals of a watched session one after another: it asks in place, approves all, or says how to decide.
 */
import type { StoredEvent } from '#domain/event.ts';
import { decideCommands } from '#cli/approvals/approval-words.ts';
import { decideInTime, settleApproval, type Settling } from './ask-approval.ts';
import { orMissing, pathOf } from '#cli/command-context.ts';
import { textOf } from '#cli/feed-view.ts';
import type { Approval } from '#cli/wire.ts';

export type ApprovalMode = 'ask' | 'approve-all' | 'tell';

export interface ApprovalPrompter {
  /** Must get every event; it handles those about approvals. */
  take(event: StoredEvent): void;
  /** Asks about an approval that was requested before the feed was followed. */
  ask(approvalId: string, turnId: string): void;
  /** Ends a question that is on the screen. */
  close(): void;
}

/** These options also cover printing how to decide an approval that is left open. */
export interface ApprovalPrompterOptions extends Settling {
  readonly mode: ApprovalMode;
  readonly onInterrupt: () => void;
  readonly onError: (error: unknown) => void;
}

/** The end of a turn withdraws the approvals that it requested. */
const TURN_ENDS = new Set<string>(['turn.completed', 'turn.failed', 'turn.stopped']);

export function createApprovalPrompter(options: ApprovalPrompterOptions): ApprovalPrompter {
  const { client, mode, say } = options;
  const open = new Map<string, { readonly turnId: string | undefined; readonly gone: AbortController }>();
  let line: Promise<void> = Promise.resolve();

  async function handle(id: string, gone: AbortSignal): Promise<void> {
    if (gone.aborted) return;
    // Old events are replayed when a session is opened again, so only what is still pending is asked.
    const approval = await orMissing(client.get<Approval>(pathOf('approvals', id)));
    if (approval?.status !== 'pending' || gone.aborted) return;
    if (mode === 'tell') return say(`  to decide: ${decideCommands(id)}`);
    if (mode === 'approve-all') return void (await decideInTime(options, id, { decision: 'approve' }));
    const end = await settleApproval(options, approval, gone);
    if (end === 'interrupted') return options.onInterrupt();
    if (end === 'later') say(`  left open; to decide: ${decideCommands(id)}`);
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
