/** What an agent shows beside the conversation, and a link to it. */
import { isSessionKey } from '#domain/ids.ts';
import { sessionKeySchema } from '#domain/schema/scalars.ts';
import { canvasLinkCreateSchema, canvasLinkSchema, canvasSchema } from './schema.ts';
import { z } from 'zod';
import { defineResource, operation } from '#domain/resource/define-resource.ts';

export const canvasLinks = defineResource(
  {
    path: '/v1/sessions',
    tag: 'sessions',
    item: canvasLinkSchema,
    key: 'key',
    keySchema: sessionKeySchema,
    isKey: isSessionKey,
    missing: 'There is no session with this key',
  },
  ({ action }) => ({
    getCanvas: operation({
      method: 'GET',
      path: '/v1/sessions/:key/canvas',
      params: z.object({ key: sessionKeySchema }),
      findsFirst: true,
      scope: 'read',
      summary: 'Get the canvas of a session',
      description:
        'The steps that make the page, in their order. They are the agent’s words: show them only in a frame without an origin, such as `/canvas/frame`.',
      answer: canvasSchema,
      command: {
        word: 'canvas-steps',
        help: 'the steps that make what the agent shows, as JSON',
        says: (canvas) => JSON.stringify(canvas, null, 2),
      },
    }),
    createCanvasLink: action('canvas/links')({
      scope: 'run',
      summary: 'Make a link to the canvas of a session',
      description:
        'For a browser, which needs no key: the page shows what the agent shows, and what it sends are messages of the user. Whoever has the link can do this until it ends, or the key that made it is revoked or expires.',
      body: canvasLinkCreateSchema,
      command: {
        word: 'canvas',
        help: 'make a link to what the agent shows beside the conversation; whoever has it sees it',
        flags: {
          user: ['--user <id>', 'whose words the messages of the page are'],
          seconds: ['--seconds <n>', 'how long it works (a day)', { bounds: [60, 86_400] }],
        },
        says: ({ url, expires_at: until }) => `${url}\n  until ${until}`,
      },
    }),
  }),
);
