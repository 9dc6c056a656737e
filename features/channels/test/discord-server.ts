/**
 * A server on this machine with the wire format of Discord's REST API, and the requests that Discord sends when people
 * use a bot there.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fieldsOf, type SentFile } from '#test/support/sent-file.ts';

export interface DiscordCall {
  /** A line such as `POST /channels/1/messages`. */
  readonly line: string;
  readonly body: any;
}

/** A message as its channel shows it now. */
export interface DiscordMessage {
  readonly id: string;
  readonly channel: string;
  readonly content: string;
  readonly buttons: readonly { readonly label: string; readonly custom_id: string }[];
  readonly edits: number;
  readonly file?: SentFile;
}

interface DiscordAnswer {
  readonly status: number;
  readonly body?: object;
}

export interface DiscordServer {
  readonly url: string;
  readonly calls: DiscordCall[];
  readonly messages: DiscordMessage[];
  /** What people have sent, by its path. */
  readonly files: Map<string, Buffer>;
  /** Answers the next calls in place of the service; undefined leaves the call to it. */
  answer: (call: DiscordCall) => DiscordAnswer | undefined;
}

const pair = generateKeyPairSync('ed25519');
const publicKey = Buffer.from(pair.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex');
export const DISCORD = { token: 'of-the-bot', public_key: publicKey } as const;

export async function startDiscord(t: { after(end: () => void): void }): Promise<DiscordServer> {
  const calls: DiscordCall[] = [];
  const messages: DiscordMessage[] = [];
  const files = new Map<string, Buffer>();

  function perform({ line, body = {} }: DiscordCall): DiscordAnswer {
    if (line.includes('/applications/'))
      return { status: 200, body: { id: '1', name: 'Our agent', verify_key: DISCORD.public_key } };
    const [, channel = '', rest = ''] = /^\w+ \/channels\/(\d+)\/(.*)$/.exec(line) ?? [];
    const { content = '', components = [] } = body;
    const buttons = components.flatMap((row: any) => row.components);
    if (content.length > 2_000) return { status: 400, body: { code: 50035, message: 'Invalid Form Body' } };
    switch (rest.split('/')[0]) {
      case 'messages':
        return line.startsWith('POST')
          ? post(channel, content, buttons, body['files[0]'])
          : change(rest, content, buttons);
      case 'threads':
        return { status: 201, body: { id: '77', name: body.name, type: body.type } };
      case 'typing':
        return { status: 204 };
      default:
        return { status: 404, body: { code: 0, message: '404: Not Found' } };
    }
  }

  function post(
    channel: string,
    content: string,
    buttons: DiscordMessage['buttons'],
    file?: SentFile,
  ): DiscordAnswer {
    const id = String(900 + messages.length);
    messages.push({ id, channel, content, buttons, edits: 0, ...(file && { file }) });
    return { status: 200, body: { id, channel_id: channel } };
  }

  function change(path: string, content: string, buttons: DiscordMessage['buttons']): DiscordAnswer {
    const at = messages.findIndex(({ id }) => path === `messages/${id}`);
    const old = messages[at];
    if (!old) return { status: 404, body: { code: 10008, message: 'Unknown Message' } };
    messages[at] = { ...old, content, buttons, edits: old.edits + 1 };
    return { status: 200, body: { id: old.id } };
  }

  const server = createServer(async (request, reply) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const kept = files.get(request.url ?? '');
    if (kept) return void reply.writeHead(200, { 'content-type': 'application/octet-stream' }).end(kept);
    const sent = Buffer.concat(chunks);
    const call = {
      line: `${request.method} ${request.url}`,
      body: await fieldsOf(request.headers['content-type'], sent),
    };
    calls.push(call);
    const isKnown =
      request.headers.authorization === `Bot ${DISCORD.token}` &&
      request.headers['user-agent']?.startsWith('DiscordBot (') === true;
    const answer = isKnown
      ? (discord.answer(call) ?? perform(call))
      : { status: 401, body: { message: '401: Unauthorized', code: 0 } };
    reply.writeHead(answer.status, { 'content-type': 'application/json' });
    reply.end(answer.body && JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const discord: DiscordServer = { url, calls, messages, files, answer: () => undefined };
  return discord;
}

/** The headers that Discord sends with a body. */
export function discordHeaders(body: string, at = Date.now()) {
  const time = String(Math.floor(at / 1000));
  const signature = sign(null, Buffer.from(time + body), pair.privateKey).toString('hex');
  return { 'x-signature-ed25519': signature, 'x-signature-timestamp': time };
}

let interactions = 0;

function interaction(more: object) {
  interactions += 1;
  return {
    id: String(1_100_000_000_000_000_000n + BigInt(interactions)),
    application_id: '1',
    token: `token-${interactions}`,
    version: 1,
    ...more,
  };
}

const member = (id: string) => ({ user: { id, username: 'ann', global_name: 'Ann Lee' }, roles: [] });

/** `/ask text:…` as Discord sends it. */
export function discordAsk(
  text: string,
  { user = '42', channel = { id: '5', type: 0 } as object, file = undefined as object | undefined } = {},
) {
  const options = [
    { name: 'text', type: 3, value: text },
    ...(file ? [{ name: 'file', type: 11, value: '88' }] : []),
  ];
  const resolved = file && { attachments: { '88': { id: '88', ...file } } };
  const data = { id: '9', name: 'ask', type: 1, options, resolved };
  return interaction({ type: 2, guild_id: '3', channel, member: member(user), data });
}

/** A pressed button of a message. */
export function discordPress(message: DiscordMessage, label: string, user = '42') {
  const button = message.buttons.find((one) => one.label === label);
  return interaction({
    type: 3,
    guild_id: '3',
    channel: { id: message.channel, type: 0 },
    member: member(user),
    message: { id: message.id },
    data: { component_type: 2, custom_id: button?.custom_id },
  });
}
