/** Implements `tempoclaw sessions`: it lists conversations, shows what was said and done in them, and stops one. */
import type { Command } from 'commander';
import { sessions as resource } from '#domain/resource/sessions.ts';
import { addCommands, printNext } from '#cli/api-commands.ts';
import { call } from '#cli/call.ts';
import {
  type ApiOptions,
  type CommandContext,
  createContext,
  pathOf,
  wholeNumber,
} from '#cli/command-context.ts';
import { connectionLine, createFeedView, createPlainSink } from '#cli/feed-view.ts';
import { followEvents } from '#cli/follow.ts';
import { indent } from '#domain/resource/command.ts';
import { type Output, printFields, printText, statusStyle } from '#cli/output.ts';
import { agoWords, printable } from '#cli/text.ts';
import type { Message, Session } from '#cli/wire.ts';

/** The newest turns; `turns list` has all. */
const TURNS_SHOWN = 20;

export function register(sessions: Command): void {
  addCommands(sessions, resource, {
    listMessages: {
      print(context, page) {
        for (const message of page.data) printMessage(context.out, message);
        printNext(context, page);
      },
    },
    getSession: { print: showSession },
  });
  sessions
    .command('events <key>')
    .description('what happened, as a person reads it; --json prints one event a line')
    .option('--follow', 'go on with what happens, until Ctrl-C')
    .option('--after <id>', 'events after this number', wholeNumber(0, Number.MAX_SAFE_INTEGER), 0)
    .action(events);
}

async function showSession(
  { client, out }: CommandContext,
  { links: _links, ...session }: Session,
): Promise<void> {
  printFields(out, session);
  const { key } = session;
  const turns = await call(client, resource.operations.listSessionTurns, {
    params: { key },
    query: { limit: TURNS_SHOWN },
  });
  const now = Date.now();
  // Each turn is a run of its own. Without a run, Temporal shows the newest, which belongs to another turn or to none.
  for (const { id, status, created_at: at, steps, links } of turns.data) {
    const words = `${id}  ${out.paint(statusStyle(status) ?? 'bold', status)}  ${agoWords(at, now)}, ${steps} steps`;
    out.line(`\n${words}${links.temporal === null ? '' : `\n  ${links.temporal}`}`);
  }
  if (turns.has_more) out.line(`\n${out.paint('dim', `all of them: npx tempoclaw turns list ${key}`)}`);
}

function printMessage(out: Output, { role, text, calls, created_at: at }: Message): void {
  const who = role === 'user' ? out.paint('cyan', 'user') : out.paint('green', 'assistant');
  out.line(`${who} ${out.paint('dim', at)}`);
  if (text) printText(out, indent(printable(text)));
  for (const call of calls ?? []) {
    const words = `${call.tool} ${JSON.stringify(call.args)}`;
    out.line(out.paint('dim', indent(`→ ${printable(words)}`)));
  }
}

async function events(
  key: string,
  options: ApiOptions & { readonly follow?: boolean; readonly after: number },
): Promise<void> {
  const { client, out, err, json } = createContext(options);
  const { last_event_id: last } = await client.get<Session>(pathOf('sessions', key));
  if (!options.follow && options.after >= last) return;
  const show = createFeedView({
    sink: createPlainSink(out),
    output: out,
    answer: true,
    received: () => true,
  });
  const done = new AbortController();
  for await (const event of followEvents({
    client,
    sessionKey: key,
    after: options.after,
    signal: done.signal,
    onConnection: (reason) => err.line(connectionLine(err, reason)),
  })) {
    if (json) out.line(JSON.stringify(event));
    else show(event);
    if (!options.follow && event.id >= last) return;
  }
}
