/** The work of the tool `sessions_send`: one message per call, with no more rights than the caller's turn has. */
import { createHash } from 'node:crypto';
import type { Receipt } from '#domain/turn/turn.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { SendSystemMessage } from './send-system-message.ts';

/** Sends a message to another session, once per call. */
export type SendToSession = (
  call: Pick<RunningCall, 'tenant' | 'user' | 'sessionKey' | 'turnId' | 'callId' | 'offeredTools'>,
  session: string,
  text: string,
) => Promise<Receipt>;

export function createSendToSession(wake: SendSystemMessage): SendToSession {
  return async (call, session, text) =>
    wake({
      tenant: call.tenant,
      session,
      messageId: `msg_sent-${createHash('sha256').update(`${call.tenant}\n${call.callId}`).digest('hex').slice(0, 24)}`,
      text,
      mode: 'queue',
      from: { session: call.sessionKey, turn: call.turnId },
      context: { user: call.user ?? undefined, allowed_tools: await call.offeredTools() },
    });
}
