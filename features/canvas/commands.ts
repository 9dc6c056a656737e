/** Implements `tempoclaw sessions canvas`: a link to what an agent shows. */
import type { Command } from 'commander';
import type { z } from 'zod';
import { addApiCommand } from '#cli/api-commands.ts';
import type { canvasLinkSchema } from './schema.ts';

type CanvasLink = z.infer<typeof canvasLinkSchema>;

export function register(sessions: Command): void {
  addApiCommand(sessions, {
    word: 'canvas',
    help: 'make a link to what the agent shows beside the conversation; whoever has it sees it',
    method: 'POST',
    path: '/v1/sessions/:key/canvas/links',
    flags: {
      user: { flags: '--user <id>', help: 'whose words the messages of the page are' },
      seconds: { flags: '--seconds <n>', help: 'how long it works (a day)', bounds: [60, 86_400] },
    },
    print: ({ out }, { url, expires_at: until }: CanvasLink) => out.line(`${url}\n  until ${until}`),
  });
}
