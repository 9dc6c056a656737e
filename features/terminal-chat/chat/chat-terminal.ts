/** A chat at a terminal: typed lines and Ctrl-C become messages, commands and stops. The input line shows when idle. */
import type { Chat, ChatPlace } from './chat.ts';
import { type ChatLine, readChatLine } from './chat-line.ts';
import { createChatScreen } from './chat-screen.ts';
import { CliError, EXIT, type ExitCode } from '#cli/cli-error.ts';
import { wrapSink } from '#cli/feed-view.ts';
import type { SessionWatch } from '#cli/session-watch.ts';

const HELP = [
  '/steer TEXT   say something to the turn that runs',
  '/stop         stop the turn that runs (as Ctrl-C)',
  '/quit         leave (as Ctrl-C twice, or Ctrl-D); the session stays',
  'A line that ends in \\ goes on in the next. What you type while a turn runs waits for its end.',
];

/** What the parts of one chat share. */
interface Talk {
  readonly chat: Chat;
  readonly place: ChatPlace;
  readonly left: PromiseWithResolvers<ExitCode>;
  readonly idle: () => void;
  watch: SessionWatch | undefined;
  /** Turns of ours that have not ended. */
  waiting: number;
  interrupts: number;
}

/** Runs until the person leaves the chat. */
export async function chatAtTerminal(chat: Chat, agent: string | undefined): Promise<ExitCode> {
  const { out } = chat.context;
  const knowing = chat.known();
  let unfinished = '';
  const screen = createChatScreen({
    input: process.stdin,
    output: process.stdout,
    promptText: out.paint('cyan', '› '),
    onLine(line) {
      talk.interrupts = 0;
      if (line.endsWith('\\')) {
        unfinished += `${line.slice(0, -1)}\n`;
        return screen.prompt();
      }
      const message = readChatLine(unfinished + line);
      unfinished = '';
      // Lines that are typed before the session is known wait for it.
      knowing.then(() => obey(talk, message)).catch(talk.place.onError);
    },
    onInterrupt: () => interrupt(talk),
    onEnd: () => talk.left.resolve(EXIT.ok),
  });
  const sink = wrapSink(screen, () => out.columns);
  const talk: Talk = {
    chat,
    place: {
      sink,
      mode: 'ask',
      alone: screen.alone,
      onInterrupt: () => interrupt(talk),
      onError: (error) => showError(talk, error),
    },
    left: Promise.withResolvers<ExitCode>(),
    idle: () => {
      if (talk.waiting === 0) screen.prompt();
    },
    watch: undefined,
    waiting: 0,
    interrupts: 0,
  };
  try {
    const known = await knowing;
    const who = known?.agent ?? agent ?? 'main';
    sink.line(
      out.paint(
        'dim',
        `session ${chat.sessionKey} · agent ${who} · /help · Ctrl-C stops the turn, twice leaves`,
      ),
    );
    if (known) talk.watch = chat.listen(known, talk.place);
    screen.prompt();
    return await talk.left.promise;
  } finally {
    talk.watch?.close();
    screen.close();
  }
}

/** Carries out a line. Throws a CliError if that is not possible now. */
async function obey(talk: Talk, line: ChatLine): Promise<void> {
  const { chat, place } = talk;
  const { paint } = chat.context.out;
  switch (line.kind) {
    case 'nothing':
      return talk.idle();
    case 'quit':
      return talk.left.resolve(EXIT.ok);
    case 'help':
      for (const text of HELP) place.sink.line(paint('dim', text));
      return talk.idle();
    case 'unknown':
      throw new CliError(`There is no command ${line.command}.`, {
        remedy: 'Type /help for those there are.',
      });
    case 'stop':
      return chat.stop(runningTurn(talk));
    case 'steer':
      await chat.steer(runningTurn(talk), line.text);
      return place.sink.line(paint('dim', '… the turn reads it at its next step'));
    case 'message':
      return say(talk, line.text);
  }
}

async function say(talk: Talk, text: string): Promise<void> {
  const receipt = await talk.chat.send(text);
  talk.watch ??= talk.chat.listen(undefined, talk.place);
  talk.waiting += 1;
  try {
    await talk.watch.end(receipt.turn_id);
    talk.interrupts = 0;
  } finally {
    talk.waiting -= 1;
  }
  talk.idle();
}

function runningTurn(talk: Talk): string {
  const turnId = talk.watch?.running()[0];
  if (turnId === undefined) throw new CliError('No turn runs.', { remedy: 'Just say it.' });
  return turnId;
}

function interrupt(talk: Talk): void {
  const { chat, place } = talk;
  const { paint } = chat.context.out;
  talk.interrupts += 1;
  const turnId = talk.watch?.running()[0];
  if (talk.interrupts > 1) return talk.left.resolve(EXIT.interrupted);
  if (turnId === undefined) {
    place.sink.line(paint('dim', 'Ctrl-C again leaves'));
    return talk.idle();
  }
  place.sink.line(paint('magenta', '■ stopping the turn; Ctrl-C again leaves'));
  chat.stop(turnId).catch(place.onError);
}

function showError(talk: Talk, error: unknown): void {
  if (!(error instanceof CliError)) return talk.left.reject(error);
  const { sink } = talk.place;
  sink.line(talk.chat.context.out.paint('red', `✘ ${error.message}`));
  if (error.remedy) sink.line(`  ${error.remedy}`);
  talk.idle();
}
