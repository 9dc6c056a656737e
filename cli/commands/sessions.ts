/** `tempoclaw sessions`: what conversations there are, what was said and done in them, and stopping one. */
import { type Command, Option } from 'commander';
import type { StoredEvent } from '#domain/event.ts';
import { STOP_LEVELS } from '#domain/turn.ts';
import { usageError } from '#cli/cli-error.ts';
import {
  type ApiOptions,
  createContext,
  pageQuery,
  type PageOptions,
  pathOf,
  printPage,
  withApiOptions,
  withPageOptions,
} from '#cli/command-context.ts';
import { createFeedView, createPlainSink } from '#cli/feed-view.ts';
import { followEvents } from '#cli/follow.ts';
import { indent, printFields, printJson, printText, statusStyle } from '#cli/output.ts';
import { agoWords, printable } from '#cli/text.ts';
import type { Message, Page, Session, StopReceipt, Turn } from '#cli/wire.ts';

/** The newest; `turns list` has all. */
const TURNS_SHOWN = 20;

interface EventsOptions extends ApiOptions {
  readonly follow?: boolean;
  readonly after: number;
}

interface StopOptions extends ApiOptions {
  readonly level: string;
  readonly turn?: string;
  readonly reason?: string;
}

export function register(sessions: Command): void {
  withPageOptions(
    sessions.command('list', { isDefault: true }).description('the sessions, newest first'),
  ).action(list);
  withApiOptions(
    sessions
      .command('show')
      .description('one session, and each of its turns with its run in Temporal')
      .argument('<key>'),
  ).action(show);
  withPageOptions(sessions.command('messages').description('what was said').argument('<key>')).action(
    messages,
  );
  withApiOptions(
    sessions
      .command('events')
      .description('what happened, as a person reads it; --json prints one event a line')
      .argument('<key>')
      .option('--follow', 'go on with what happens, until Ctrl-C')
      .option('--after <id>', 'events after this number', readEventId, 0),
  ).action(events);
  withApiOptions(
    sessions
      .command('stop')
      .description('stop the turn that runs, or what a session without one has left running')
      .argument('<key>')
      .addOption(
        new Option(
          '--level <level>',
          'step: after this step; now: at once; all: at once, with what waits and all that the session has left running',
        )
          .choices(STOP_LEVELS)
          .default('now'),
      )
      .option('--turn <id>', 'the turn that is meant (default: the running one)')
      .option('--reason <text>'),
  ).action(stop);
}

async function list(options: PageOptions): Promise<void> {
  const now = Date.now();
  await printPage<Session>(
    createContext(options),
    pathOf('sessions'),
    pageQuery(options),
    [
      { title: 'session', cell: (s) => s.key, flexible: true },
      { title: 'agent', cell: (s) => s.agent },
      { title: 'status', cell: (s) => s.status, style: (s) => statusStyle(s.status) },
      { title: 'turns', cell: (s) => s.turns },
      { title: 'last active', cell: (s) => agoWords(s.updated_at, now) },
    ],
    'No sessions yet. Begin one with: npx tempoclaw chat',
  );
}

async function show(key: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const session = await client.get<Session>(pathOf('sessions', key));
  if (json) return printJson(out, session);
  const { links: _, ...fields } = session;
  printFields(out, fields);
  const turns = await client.get<Page<Turn>>(pathOf('sessions', key, 'turns'), { limit: TURNS_SHOWN });
  const now = Date.now();
  // Each turn is a run of its own: without a run Temporal shows the newest, which is of another turn or of none.
  for (const { id, status, created_at: at, steps, links } of turns.data) {
    const words = `${id}  ${out.paint(statusStyle(status) ?? 'bold', status)}  ${agoWords(at, now)}, ${steps} steps`;
    out.line(`\n${words}${links.temporal === null ? '' : `\n  ${links.temporal}`}`);
  }
  if (turns.has_more) out.line(`\n${out.paint('dim', `all of them: npx tempoclaw turns list ${key}`)}`);
}

async function messages(key: string, options: PageOptions): Promise<void> {
  const { client, out, err, json } = createContext(options);
  const page = await client.get<Page<Message>>(pathOf('sessions', key, 'messages'), pageQuery(options));
  if (json) return printJson(out, page);
  for (const message of page.data) {
    const who = message.role === 'user' ? out.paint('cyan', 'user') : out.paint('green', 'assistant');
    out.line(`${who} ${out.paint('dim', message.created_at)}`);
    if (message.text) printText(out, indent(printable(message.text)));
    for (const call of message.calls ?? [])
      out.line(
        out.paint(
          'dim',
          indent(
            `→ ${printable(String(call['tool'] ?? ''))} ${printable(JSON.stringify(call['args'] ?? {}))}`,
          ),
        ),
      );
  }
  if (page.has_more) err.line(err.paint('dim', `more: --after ${page.next_cursor ?? ''}`));
}

async function events(key: string, options: EventsOptions): Promise<void> {
  const { client, out, err, json } = createContext(options);
  const { last_event_id: last } = await client.get<Session>(pathOf('sessions', key));
  if (!options.follow && options.after >= last) return;
  const view = createFeedView({
    sink: createPlainSink(out),
    output: out,
    answer: true,
    received: () => true,
  });
  const done = new AbortController();
  const show = (event: StoredEvent): void => (json ? out.line(JSON.stringify(event)) : view.show(event));
  const onConnection = (reason: string | undefined): void =>
    err.line(err.paint('yellow', reason === undefined ? '… connected again' : `… ${reason} Trying again.`));
  for await (const event of followEvents({
    client,
    sessionKey: key,
    after: options.after,
    signal: done.signal,
    onConnection,
  })) {
    show(event);
    if (!options.follow && event.id >= last) return;
  }
}

async function stop(key: string, options: StopOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const receipt = await client.post<StopReceipt>(pathOf('sessions', key, 'stop'), {
    level: options.level,
    turn_id: options.turn || undefined,
    reason: options.reason || undefined,
  });
  if (json) return printJson(out, receipt);
  out.line(`stop (${receipt.level}) was sent to ${receipt.turn_id ?? 'what the session has left running'}`);
}

function readEventId(value: string): number {
  const id = Number(value);
  if (!Number.isSafeInteger(id) || id < 0)
    throw usageError(`--after must be the number of an event, not ${value}`);
  return id;
}
