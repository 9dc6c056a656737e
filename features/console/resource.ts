/** Links that log a browser in to the console, once. */
import { z } from 'zod';
import { defineResource, operation } from '#domain/resource/define-resource.ts';
import { timeSchema } from '#domain/schema/scalars.ts';

/** `url` is null in a repeated answer (Idempotency-Key), because it is not stored. */
const linkSchema = z.object({ url: z.string().nullable(), expires_at: timeSchema });

export const consoleLinks = defineResource(
  {
    path: '/v1/console/links',
    tag: 'keys',
    item: linkSchema,
    key: 'url',
    missing: 'There is no such link',
  },
  () => ({
    createConsoleLink: operation({
      method: 'POST',
      path: '/v1/console/links',
      scope: 'read',
      status: 201,
      summary: 'Make a link that logs a browser in to the console',
      description:
        'The browser gets the rights of the key that makes the link. It works once, within ten minutes. A browser’s session cannot make one.',
      answer: linkSchema,
      shownOnce: ['url'],
      refuses: ['Conflict', 'Unprocessable'],
      command: { by: 'open' },
    }),
  }),
);
