/**
 * Runs a chat without a terminal: one message a line, each answered before the next is sent, and without questions to a
 * person.
 */
import { createInterface } from 'node:readline';
import type { Chat } from './chat.ts';
import { readChatLine } from './chat-line.ts';
import { CliError, EXIT, type ExitCode } from '#cli/cli-error.ts';
import { createPlainSink } from '#cli/feed-view.ts';
import type { SessionWatch } from '#cli/session-watch.ts';

/** Runs until the input ends; the exit code is `failed` when a turn did not complete. */
export async function chatFromPipe(chat: Chat, input: NodeJS.ReadStream): Promise<ExitCode> {
  const known = await chat.known();
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => undefined);
  let watch: SessionWatch | undefined;
  let exit: ExitCode = EXIT.ok;
  try {
    for await (const line of createInterface({ input, terminal: false })) {
      const message = readChatLine(line);
      if (message.kind === 'quit') break;
      if (message.kind === 'nothing') continue;
      if (message.kind !== 'message')
        throw new CliError(`${line.trim()} is for a terminal; here each line is a message.`);
      const receipt = await chat.send(message.text);
      watch ??= chat.listen(known, {
        sink: createPlainSink(chat.context.out),
        mode: 'tell',
        alone: (work) => work(),
        onInterrupt: () => undefined,
        onError: broken.reject,
      });
      const end = await Promise.race([watch.end(receipt.turn_id), broken.promise]);
      if (end !== 'completed') exit = EXIT.failed;
    }
    return exit;
  } finally {
    watch?.close();
  }
}
