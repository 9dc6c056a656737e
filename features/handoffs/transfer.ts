/** The work of the tool `handoff` (DE-5): it checks the links, sets the route, and starts the new agent. */
import { createHash } from 'node:crypto';
import { LINK_WORDS } from '#domain/assignment/agent-link.ts';
import { turnIdOf } from '#domain/ids.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { AgentLinks } from '#activities/assignments/agent-links.ts';
import type { SessionQueries } from '#domain/turn/session-queries.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { ActivityDeps } from '#activities/activity-deps.ts';
import type { SendSystemMessage } from '#activities/turn/send-system-message.ts';
import { HANDOFF_WORDS, handoffLoop } from './contract.ts';
import { clearHandoff, findHandoff, isHandedOver, setHandoff } from './store.ts';

export interface HandoffRequest {
  readonly channel: string | null;
  readonly chatId: string | null;
  readonly to: string;
  readonly reason: string;
  readonly withContext: boolean;
}

export interface Handoffs {
  /** Undefined when it is done; otherwise the reason, for the model. Safe to repeat. */
  transfer(
    call: RunningCall,
    request: HandoffRequest,
  ): Promise<
    { readonly code: 'NotFound' | 'PermissionDenied' | 'InvalidArgs'; readonly message: string } | undefined
  >;
  /** Safe to repeat: it leaves what was handed on since the call began. */
  clear(call: Pick<RunningCall, 'tenant' | 'callId'>, channel: string, chatId: string): Promise<void>;
}

export interface HandoffDeps extends Pick<ActivityDeps, 'pool' | 'scrubberOf'> {
  readonly sessions: Pick<SessionQueries, 'history'>;
  readonly links: Pick<AgentLinks, 'wayTo'>;
  readonly wake: SendSystemMessage;
}

/** Number of messages of the conversation that are passed on. */
const LAST_WORDS = 20;

export function createHandoffs(deps: HandoffDeps): Handoffs {
  return {
    async transfer(call, request) {
      const { tenant } = call;
      const { channel, chatId, to } = request;
      const way = await deps.links.wayTo(call, to);
      if (way.kind === 'refused') return { code: way.code, message: handoffWords(way.message, to) };
      if (channel === null || chatId === null)
        return { code: 'InvalidArgs', message: HANDOFF_WORDS.noChannel };
      const stem = createHash('sha256').update(`${tenant}\n${call.callId}`).digest('hex').slice(0, 16);
      const message = `msg_${HANDED_ON}${stem}`;
      const session = `handoff:${stem}`;
      const db = forTenant(deps.pool, tenant);
      const text = await firstMessage(deps, call, request);
      if (!(await isHandedOver(db, message))) {
        const route = await findHandoff(db, channel, chatId);
        // A handoff itself started this turn: nobody has written since.
        const isHandedOn = call.turnId.startsWith(turnIdOf(`msg_${HANDED_ON}`));
        const before = isHandedOn && route?.to === call.agent ? route.path : [];
        const loop = handoffLoop(before, call.agent, to);
        if (loop !== undefined) return { code: 'PermissionDenied', message: loop };
        await setHandoff(db, {
          channel,
          chat_id: chatId,
          from: call.agent,
          to,
          session,
          reason: (await deps.scrubberOf(tenant)).text(request.reason),
          path: [...before, call.agent],
          call: call.callId,
          old_session: call.sessionKey,
          turn: call.turnId,
          context: contextOf(call),
          user: call.user,
          message,
          text,
        });
      }
      await deps.wake({ tenant, session, messageId: message, text, mode: 'queue', context: contextOf(call) });
      return undefined;
    },

    clear: async ({ tenant, callId }, channel, chatId) =>
      void (await clearHandoff(forTenant(deps.pool, tenant), channel, chatId, { call: callId })),
  };
}

const HANDED_ON = 'handoff-';

function contextOf({ user, channel, chatId, roles, key }: RunningCall) {
  return {
    user: user ?? undefined,
    channel: channel ?? undefined,
    chat_id: chatId ?? undefined,
    roles,
    key,
  };
}

async function firstMessage(
  deps: HandoffDeps,
  call: RunningCall,
  { reason, withContext }: HandoffRequest,
): Promise<string> {
  const { tenant, agent, sessionKey } = call;
  const options = { limit: LAST_WORDS, includeTools: false };
  const lines = withContext ? await deps.sessions.history(call, sessionKey, options) : undefined;
  const summary = lines?.map(({ role, text }) => `${role}: ${text}`).join('\n');
  return (await deps.scrubberOf(tenant)).text(HANDOFF_WORDS.first(agent, reason, summary));
}

/** A missing link has its own text here. */
function handoffWords(message: string, to: string): string {
  return message === LINK_WORDS.noLink(to) ? HANDOFF_WORDS.noLink(to) : message;
}
