/**
 * A server on this machine with the wire format of Slack's Web API, and what Slack sends when people write or press
 * there.
 */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fieldsOf } from './sent-file.ts';

export interface SlackCall {
  readonly method: string;
  readonly body: any;
}

/** A message as its channel shows it now. */
export interface SlackMessage {
  readonly ts: string;
  readonly channel: string;
  readonly thread: string | undefined;
  readonly text: string;
  readonly buttons: readonly { readonly text: { readonly text: string }; readonly value: string }[];
  readonly edits: number;
}

interface SlackAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}

export interface SlackServer {
  readonly url: string;
  readonly calls: SlackCall[];
  readonly messages: SlackMessage[];
  /** Uploads by their id; people's files by their name. */
  readonly files: Map<string, Buffer>;
  /** Scopes of the app, as the service reports them. */
  scopes: string;
  /** Answers the next calls in place of the service; undefined leaves the call to it. */
  answer: (call: SlackCall) => SlackAnswer | undefined;
}

export const SLACK = {
  token: 'xoxb-of-the-bot',
  signing_secret: '8f742231b10e8888abcd99yyyzzz85a5',
} as const;
const BOT = 'U0BOT';

export async function startSlack(t: { after(end: () => void): void }): Promise<SlackServer> {
  const calls: SlackCall[] = [];
  const messages: SlackMessage[] = [];
  const files = new Map<string, Buffer>();

  function perform({ method, body }: SlackCall): SlackAnswer {
    const ok = (more: object = {}): SlackAnswer => ({ status: 200, body: { ok: true, ...more } });
    const buttons = (body.blocks ?? []).flatMap((block: any) =>
      block.type === 'actions' ? block.elements : [],
    );
    const sections = (body.blocks ?? []).filter((block: any) => block.type === 'section');
    if (sections.some((block: any) => block.text.text.length > 3_000)) return slackRefusal('invalid_blocks');
    if (method === 'chat.postMessage') {
      const ts = `1700000000.${String(messages.length + 1).padStart(6, '0')}`;
      const { channel, thread_ts: thread, text } = body;
      messages.push({ ts, channel, thread, text, buttons, edits: 0 });
      return ok({ channel, ts, message: { type: 'message', text, ts } });
    }
    if (method === 'auth.test')
      return { ...ok({ user: 'agent', team: 'Ours' }), headers: { 'x-oauth-scopes': slack.scopes } };
    if (method === 'files.getUploadURLExternal') {
      const id = `F${files.size + 1}`;
      return ok({ upload_url: `${slack.url.replace('/api', '')}/upload/${id}`, file_id: id });
    }
    if (method === 'files.completeUploadExternal') {
      const [{ id, title }] = body.files;
      if (!files.has(id)) return slackRefusal('file_not_found');
      const { channel_id: channel, thread_ts: thread } = body;
      messages.push({ ts: id, channel, thread, text: `file ${title}`, buttons: [], edits: 0 });
      return ok({ files: [{ id, title }] });
    }
    if (method === 'chat.update') {
      if (body.text.length > 4_000) return slackRefusal('msg_too_long');
      const at = messages.findIndex(({ ts, channel }) => ts === body.ts && channel === body.channel);
      const old = messages[at];
      if (!old) return slackRefusal('message_not_found');
      messages[at] = { ...old, text: body.text, buttons, edits: old.edits + 1 };
      return ok({ channel: old.channel, ts: old.ts, text: body.text });
    }
    return slackRefusal('unknown_method');
  }

  const server = createServer(async (request, reply) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const isKnown = request.headers.authorization === `Bearer ${SLACK.token}`;
    const [, way, name = ''] = /^\/(upload|files)\/(.+)$/.exec(request.url ?? '') ?? [];
    if (way === 'upload') {
      const refused = slack.answer({ method: way, body: bytes });
      if (refused) return void reply.writeHead(refused.status, refused.headers).end();
      files.set(name, bytes);
      return void reply.end(`OK - ${bytes.length}`);
    }
    // This is a page to sign in, as for an app without the scope.
    const type = files.has(name) && isKnown ? 'application/octet-stream' : 'text/html; charset=utf-8';
    if (way === 'files')
      return void reply.writeHead(200, { 'content-type': type }).end(files.get(name) ?? '<html>');
    const method = (request.url ?? '').replace('/api/', '');
    const call = { method, body: await fieldsOf(request.headers['content-type'], bytes) };
    calls.push(call);
    const { status, headers, body } = isKnown
      ? (slack.answer(call) ?? perform(call))
      : slackRefusal('invalid_auth');
    reply.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
  const slack: SlackServer = { url, calls, messages, files, scopes: '', answer: () => undefined };
  return slack;
}

export function slackRefusal(error: string): SlackAnswer {
  return { status: 200, body: { ok: false, error } };
}

/** The headers that Slack sends with a body. */
export function slackHeaders(body: string, at = Date.now(), secret: string = SLACK.signing_secret) {
  const time = String(Math.floor(at / 1000));
  const signature = createHmac('sha256', secret).update(`v0:${time}:${body}`).digest('hex');
  return { 'x-slack-request-timestamp': time, 'x-slack-signature': `v0=${signature}` };
}

let events = 0;

/** An event as the Events API sends it when somebody writes. */
export function slackMessage(text: string, event: object = {}) {
  events += 1;
  return {
    token: 'verification-token',
    team_id: 'T1',
    api_app_id: 'A1',
    type: 'event_callback',
    event_id: `Ev${events}`,
    event_time: 1_700_000_000,
    authorizations: [{ enterprise_id: null, team_id: 'T1', user_id: BOT, is_bot: true }],
    event: {
      type: 'message',
      user: 'U42',
      text,
      ts: `1700000100.${String(events).padStart(6, '0')}`,
      channel: 'D1',
      channel_type: 'im',
      ...event,
    },
  };
}

/** The form that Slack sends when somebody presses a button of a message. */
export function slackPress(message: SlackMessage, label: string, user = 'U42'): string {
  events += 1;
  const { ts, channel, thread } = message;
  const button = message.buttons.find(({ text }) => text.text === label);
  const payload = {
    type: 'block_actions',
    user: { id: user, username: 'ann', name: 'ann', team_id: 'T1' },
    api_app_id: 'A1',
    container: { type: 'message', message_ts: ts, channel_id: channel, is_ephemeral: false },
    trigger_id: '12321423423.333649436676.d8c1bb837935619ccad0f624c448ffb3',
    channel: { id: channel, name: 'general' },
    message: { type: 'message', bot_id: 'B1', user: BOT, ts, thread_ts: thread },
    response_url: 'https://hooks.slack.com/actions/T1/1/x',
    actions: [
      {
        type: 'button',
        action_id: 'b0',
        block_id: '=qXel',
        value: button?.value,
        action_ts: `1700000200.${events}`,
      },
    ],
  };
  return `payload=${encodeURIComponent(JSON.stringify(payload))}`;
}
