/** A link to what an agent shows beside the conversation. */
import { isSessionKey } from '#domain/ids.ts';
import { sessionKeySchema } from '#domain/schema/scalars.ts';
import { canvasLinkCreateSchema, canvasLinkSchema } from './schema.ts';
import { defineResource } from '#domain/resource/define-resource.ts';

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
