/** Settings of a channel of type `webhook`: what proves its calls, and what each of them starts. */
import { z } from 'zod';
import { idSchema, type Kept, labelSchema, nameSchema, textSchema } from '#domain/schema/scalars.ts';

const headerName = z.string().regex(/^[A-Za-z0-9-]{1,100}$/, 'must be the name of an HTTP header');

export const inboundWebhookSchema = z
  .object({
    signature: z.enum(['github', 'stripe', 'standard', 'hmac']).default('standard'),
    /** For `hmac`, these four say where the signature of the raw body is, and its format. */
    header: headerName.default('x-signature'),
    algorithm: z.enum(['sha1', 'sha256', 'sha512']).default('sha256'),
    encoding: z.enum(['hex', 'base64']).default('hex'),
    prefix: z.string().max(50).default(''),
    /**
     * The field of the body that stays the same when a call is sent again. Without it, that of the service, or the
     * whole body.
     */
    idempotency: z.strictObject({ path: textSchema(200) }).optional(),
    action: z.enum(['message', 'task', 'schedule']).default('message'),
    /** The message, or the description of the task. */
    template: textSchema(4_000).default('A call came in:\n{{.}}'),
    /** Calls for which this returns the same text are one conversation; without it, all calls are one. */
    session: textSchema(500).optional(),
    /** The user for whom the work is done. */
    user: labelSchema.optional(),
    /** For `task`: on whose board, under which subject (also a template), for whom. */
    team: nameSchema.optional(),
    subject: textSchema(200).default('A call came in'),
    assignee: nameSchema.optional(),
    /** For `schedule`: its id. */
    schedule: idSchema.optional(),
  })
  .superRefine((input, context) => {
    const need = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (input.signature === 'hmac' && !input.idempotency)
      need('idempotency', 'is needed with hmac: {path} of what is the same when a call is sent again');
    if (input.action === 'task' && !input.team) need('team', 'is needed with the action task');
    if (input.action === 'schedule' && !input.schedule)
      need('schedule', 'is needed with the action schedule: its id');
  });

export type InboundWebhook = Kept<typeof inboundWebhookSchema>;
