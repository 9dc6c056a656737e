/** Implements `tempoclaw sessions`: it lists conversations, shows what was said and done in them, and stops one. */
import type { Command } from 'commander';
import { STOP_LEVELS } from '#domain/turn.ts';
import { addApiCommand, addList, PAGE_FLAGS, printNext } from '#cli/api-commands.ts';
import { type ApiOptions, createContext, pathOf, wholeNumber } from '#cli/command-context.ts';
import { connectionLine, createFeedView, createPlainSink } from '#cli/feed-view.ts';
import { followEvents } from '#cli/follow.ts';
import { indent, type Output, printFields, printJson, printText, statusStyle } from '#cli/output.ts';
import { agoWords, printable } from '#cli/text.ts';
import type { Message, Page, Session, StopReceipt, Turn } from '#cli/wire.ts';

/** The newest turns; `turns list` has all. */
const TURNS_SHOWN = 20;

interface EventsOptions extends ApiOptions {
  readonly follow?: boolean;
  readonly after: number;
}

export function register(sessions: Command): void {
  addList<Session>(sessions, {
    help: 'the sessions, newest first',
    path: '/v1/sessions',
    columns: [
      { title: 'session', cell: (session) => session.key, flexible: true },
      { title: 'agent', cell: (session) => session.agent },
      { title: 'status', cell: (session) => session.status },
      { title: 'turns', cell: (session) => session.turns },
      { title: 'last active', cell: (session) => session.updated_at, ago: true },
    ],
    nothing: 'No sessions yet. Begin one with: npx tempoclaw chat',
  });
  sessions
    .command('show <key>')
    .description('one session, and each of its turns with its run in Temporal')
    .action(show);
  addApiCommand(sessions, {
    word: 'messages',
    help: 'what was said',
    path: '/v1/sessions/:key/messages',
    flags: PAGE_FLAGS,
    print(context, page: Page<Message>) {
      for (const message of page.data) printMessage(context.out, message);
      printNext(context, page);
    },
  });
  sessions
    .command('events <key>')
    .description('what happened, as a person reads it; --json prints one event a line')
    .option('--follow', 'go on with what happens, until Ctrl-C')
    .option('--after <id>', 'events after this number', wholeNumber(0, Number.MAX_SAFE_INTEGER), 0)
    .action(events);
  addApiCommand(sessions, {
    word: 'stop',
    help: 'stop the turn that runs, or what a session without one has left running',
    method: 'POST',
    path: '/v1/sessions/:key/stop',
    flags: {
      level: {
        flags: '--level <level>',
        help: 'step: after this step; now: at once; all: at once, with what waits and all that the session has left running',
        choices: STOP_LEVELS,
        default: 'now',
      },
      turn_id: { flags: '--turn <id>', help: 'the turn that is meant (default: the running one)' },
      reason: { flags: '--reason <text>' },
    },
    print: ({ out }, { level, turn_id: turn }: StopReceipt) =>
      out.line(`stop (${level}) was sent to ${turn ?? 'what the session has left running'}`),
  });
}

async function show(key: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const session = await client.get<Session>(pathOf('sessions', key));
  if (json) return printJson(out, session);
  const { links: _, ...fields } = session;
  printFields(out, fields);
  const turns = await client.get<Page<Turn>>(pathOf('sessions', key, 'turns'), { limit: TURNS_SHOWN });
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
    const words = `${String(call['tool'] ?? '')} ${JSON.stringify(call['args'] ?? {})}`;
    out.line(out.paint('dim', indent(`→ ${printable(words)}`)));
  }
}

async function events(key: string, options: EventsOptions): Promise<void> {
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
