/** A server on this machine with the wire format of Telegram's Bot API, and people who write to a bot there. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fieldsOf, type SentFile } from './sent-file.ts';

export interface TelegramCall {
  readonly method: string;
  readonly body: any;
}

/** A message as its chat shows it now. */
export interface TelegramMessage {
  readonly id: number;
  readonly chat: string;
  readonly thread: number | undefined;
  readonly text: string;
  readonly buttons: readonly { readonly text: string; readonly callback_data: string }[];
  readonly edits: number;
  /** How it was sent, and the file itself. */
  readonly photo?: SentFile;
  readonly document?: SentFile;
}

interface TelegramAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}

export interface TelegramServer {
  readonly url: string;
  readonly place: string;
  readonly calls: TelegramCall[];
  readonly messages: TelegramMessage[];
  /** People's files, by their file_id. */
  readonly files: Map<string, Buffer>;
  /** Answers the next calls in place of the service; undefined leaves the call to it. */
  answer: (call: TelegramCall) => TelegramAnswer | undefined;
  /** True if it does the call, and is cut off before it answers. */
  loses: (call: TelegramCall) => boolean;
}

export const TOKEN = '4711:secret-of-the-bot';

/** Answers that are the same each time. */
const SIMPLE: Readonly<Record<string, any>> = {
  createForumTopic: { message_thread_id: 7, icon_color: 7322096 },
  getMe: { id: 4711, is_bot: true, username: 'OurBot', can_read_all_group_messages: false },
  sendChatAction: true,
  setWebhook: true,
};

export async function startTelegram(t: { after(end: () => void): void }): Promise<TelegramServer> {
  const calls: TelegramCall[] = [];
  const messages: TelegramMessage[] = [];
  const files = new Map<string, Buffer>();
  let ids = 100;

  function perform({ method, body }: TelegramCall): TelegramAnswer {
    const ok = (result: unknown) => ({ status: 200, body: { ok: true, result } });
    const buttons = (body.reply_markup?.inline_keyboard ?? []).flat();
    if (method === 'sendMessage') {
      if (String(body.text).length > 4096) return refusal(400, 'Bad Request: message is too long');
      ids += 1;
      const { chat_id, message_thread_id: thread, text } = body;
      messages.push({ id: ids, chat: String(chat_id), thread, text, buttons, edits: 0 });
      return ok({ message_id: ids });
    }
    if (method === 'sendPhoto' || method === 'sendDocument') {
      ids += 1;
      const { chat_id, message_thread_id, photo, document } = body;
      const thread = message_thread_id === undefined ? undefined : Number(message_thread_id);
      messages.push({ id: ids, chat: chat_id, thread, text: '', buttons, edits: 0, photo, document });
      return ok({ message_id: ids });
    }
    if (method === 'getFile') {
      const size = files.get(body.file_id)?.length;
      if (size === undefined) return refusal(400, 'Bad Request: invalid file_id');
      return ok({ file_id: body.file_id, file_size: size, file_path: `documents/${body.file_id}` });
    }
    if (method === 'editMessageText') {
      const at = messages.findIndex(({ id }) => id === body.message_id);
      const old = messages[at];
      if (!old) return refusal(400, 'Bad Request: message to edit not found');
      messages[at] = { ...old, text: body.text, buttons, edits: old.edits + 1 };
      return ok({ message_id: old.id });
    }
    if (method === 'createForumTopic') return ok({ ...SIMPLE[method], name: body.name });
    if (method in SIMPLE) return ok(SIMPLE[method]);
    return refusal(404, 'Not Found');
  }

  const server = createServer(async (request, reply) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [, token, method = ''] = /^\/(?:file\/)?bot([^/]+)\/([\w/-]+)$/.exec(request.url ?? '') ?? [];
    const fields = await fieldsOf(request.headers['content-type'], Buffer.concat(chunks));
    const call = { method, body: fields ?? {} };
    calls.push(call);
    const file = files.get(method.replace('documents/', ''));
    if (request.method === 'GET' && token === TOKEN && file && !telegram.answer(call))
      return void reply.writeHead(200, { 'content-type': 'application/octet-stream' }).end(file);
    const { status, headers, body } =
      token === TOKEN ? (telegram.answer(call) ?? perform(call)) : refusal(401, 'Unauthorized');
    if (telegram.loses(call)) return void request.socket.destroy();
    reply.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const telegram: TelegramServer = {
    url: `http://${place}`,
    place,
    calls,
    messages,
    files,
    answer: () => undefined,
    loses: () => false,
  };
  return telegram;
}

export function refusal(status: number, description: string, parameters?: object): TelegramAnswer {
  return { status, body: { ok: false, error_code: status, description, ...(parameters && { parameters }) } };
}

let updates = 1000;

interface Said {
  readonly from?: number;
  readonly chat?: number;
  readonly group?: boolean;
  readonly topic?: number;
  readonly update?: number;
  readonly more?: object;
}

/** An update as Telegram sends it when somebody writes. */
export function textUpdate(text: string, message: Said = {}) {
  const { from = 42, chat = from, group = false, topic, update = (updates += 1), more } = message;
  return {
    update_id: update,
    message: {
      message_id: update + 5000,
      from: { id: from, is_bot: false, first_name: 'Ann', last_name: 'Lee', username: `user${from}` },
      chat: group
        ? { id: chat, type: 'supergroup', title: 'Work', is_forum: true }
        : { id: chat, type: 'private' },
      date: 1_700_000_000,
      text,
      ...(topic !== undefined && { message_thread_id: topic, is_topic_message: true }),
      ...more,
    },
  };
}

/** An update as Telegram sends it when somebody presses a button. */
export function pressUpdate(message: TelegramMessage, label: string, from = 42) {
  const button = message.buttons.find(({ text }) => text === label);
  return {
    update_id: (updates += 1),
    callback_query: {
      id: `query-${updates}`,
      from: { id: from, is_bot: false, first_name: 'Ann' },
      message: {
        message_id: message.id,
        chat: { id: Number(message.chat), type: 'private' },
        date: 1_700_000_000,
      },
      chat_instance: '1',
      data: button?.callback_data,
    },
  };
}
