/** Approvals of a session: the editor runs calls of its files, and asks the person about all others. */
import { type AgentContext, type Diff, methods, type PermissionOption } from '@agentclientprotocol/sdk';
import { decide, type DecisionBody } from '#cli/approvals/approval-words.ts';
import { ApiError, type Client } from '#cli/client.ts';
import { orMissing, pathOf } from '#cli/command-context.ts';
import type { Approval } from '#cli/wire.ts';
import type { StoredEvent } from '#domain/event.ts';
import { formLines } from '#domain/form.ts';
import { showHidden } from '#domain/text/hidden-text.ts';
import { type EditorPlace, runEditorTool } from './editor-files.ts';
import { callOf, textContent } from './session-updates.ts';

export interface SessionApprovals {
  /** Must get every event. */
  take(event: StoredEvent): void;
  /** For one that was requested before the feed is followed. */
  handle(id: string, turn: string | undefined): void;
  close(): void;
}

/** Where a session is open. */
export interface SessionContext {
  readonly client: Client;
  readonly editor: AgentContext;
  readonly place: EditorPlace;
  readonly warn: (line: string) => void;
}

const LATE: ReadonlySet<string> = new Set(['AlreadyDecided', 'ApprovalExpired', 'ApprovalWithdrawn']);
/** The end of a turn withdraws its approvals. */
const TURN_ENDS = new Set<string>(['turn.completed', 'turn.failed', 'turn.stopped']);

/** Changes of the editor's files, by the calls that made them. */
export type Edits = Map<string, Diff>;

export function createSessionApprovals(options: SessionContext, edits: Edits): SessionApprovals {
  const { client, editor, place, warn } = options;
  const open = new Map<string, { readonly turn: string | undefined; readonly gone: AbortController }>();

  async function settle(id: string, gone: AbortSignal): Promise<void> {
    // Only what is still pending is handled: old events come again when a session is opened.
    const approval = await orMissing(client.get<Approval>(pathOf('approvals', id)));
    if (approval?.status !== 'pending' || gone.aborted) return;
    const body = approval.terms.client_tool
      ? await runFor(approval, gone)
      : await askPerson(editor, place.sessionId, approval, gone);
    if (!body || gone.aborted) return;
    try {
      await decide(client, id, { ...body, digest: approval.digest });
    } catch (error) {
      if (!(error instanceof ApiError) || LATE.has(error.code)) return;
      await showRefusal(approval, error.message);
    }
  }

  async function runFor(
    { tool, args, call_id }: Approval,
    gone: AbortSignal,
  ): Promise<DecisionBody | undefined> {
    const result = await runEditorTool(editor, place, tool, args, gone);
    if (result?.edit) edits.set(call_id, result.edit);
    return result && { decision: 'respond', text: result.text };
  }

  /** The call waits on, for somebody who may decide it. */
  async function showRefusal({ call_id }: Approval, words: string): Promise<void> {
    await editor.notify(methods.client.session.update, {
      sessionId: place.sessionId,
      update: { sessionUpdate: 'tool_call_update', toolCallId: call_id, content: textContent(words) },
    });
  }

  function handle(id: string, turn: string | undefined): void {
    if (open.has(id)) return;
    const gone = new AbortController();
    open.set(id, { turn, gone });
    settle(id, gone.signal).catch((error: unknown) => {
      // The approval stays open, and can be decided elsewhere.
      if (!gone.signal.aborted)
        warn(`approval ${id}: ${error instanceof Error ? error.message : String(error)}`);
    });
  }

  function end(isOver: (id: string, turn: string | undefined) => boolean): void {
    for (const [id, { turn, gone }] of open) {
      if (!isOver(id, turn)) continue;
      gone.abort();
      open.delete(id);
    }
  }

  return {
    handle,
    take({ type, turn_id: turn, data }) {
      const approval = data['approval_id'];
      if (type === 'approval.requested' && typeof approval === 'string') handle(approval, turn);
      else if (type === 'approval.decided') end((id) => id === approval);
      else if (TURN_ENDS.has(type)) {
        edits.clear();
        end((_, its) => its === turn);
      }
    },
    close: () => end(() => true),
  };
}

/** Undefined when the person did not decide: the turn was stopped, or it was decided elsewhere meanwhile. */
async function askPerson(
  editor: AgentContext,
  sessionId: string,
  approval: Approval,
  gone: AbortSignal,
): Promise<DecisionBody | undefined> {
  const { call_id, args, summary, reason, form } = approval;
  const words = form ? formLines(form).join('\n') : [summary, reason].filter(Boolean).join('\n');
  const { outcome } = await editor.request(
    methods.client.session.requestPermission,
    {
      sessionId,
      options: optionsFor(approval),
      toolCall: {
        ...callOf(call_id, approval),
        status: 'pending',
        rawInput: args,
        content: textContent(showHidden(words)),
      },
    },
    // The promise is settled also when the editor does not know how to end a request.
    { cancellationSignal: gone, stopWaitingOnCancel: true },
  );
  return outcome.outcome === 'selected' ? DECISIONS.get(outcome.optionId) : undefined;
}

const DECISIONS: ReadonlyMap<string, DecisionBody> = new Map(
  ['approve', 'approve_always', 'reject'].map((decision) => [decision, { decision }]),
);

function optionsFor({ always }: Approval): PermissionOption[] {
  const allows = always.allows;
  return [
    { optionId: 'approve', kind: 'allow_once', name: 'Allow once' },
    ...(allows === null
      ? []
      : [
          {
            optionId: 'approve_always',
            kind: 'allow_always',
            name: `Always allow ${showHidden(allows)}`,
          } as const,
        ]),
    { optionId: 'reject', kind: 'reject_once', name: 'Reject' },
  ];
}
