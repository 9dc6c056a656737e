/**
 * Reads signed calls of any system. The signature that the settings name proves them, and their template makes the
 * message for an agent.
 */
import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { fieldAt, fillTemplate } from './fill-template.ts';
import { Failure } from '#domain/errors.ts';
import { markOutside } from '#domain/text/outside-text.ts';
import { isRecord } from '#domain/outside-value.ts';
import { type InboundWebhook, inboundWebhookSchema } from './schema.ts';
import type { ChannelReader } from '#features/channels/index.ts';
import { GITHUB_FORM, isHmacSigned, isStandardSigned, isStripeSigned } from './signatures.ts';

export const webhookReader: ChannelReader = {
  verify(request, { secret }, now, settings) {
    const form = inboundWebhookSchema.safeParse(settings).data;
    if (!secret || !form) return false;
    switch (form.signature) {
      case 'github':
        return isHmacSigned(request, secret, GITHUB_FORM);
      case 'stripe':
        return isStripeSigned(request, secret, now);
      case 'standard':
        return isStandardSigned(request, secret, now);
      case 'hmac':
        return isHmacSigned(request, secret, form);
    }
  },
  read(body, { key, settings }, { headers, credentials: { secret = '' } }) {
    const form = inboundWebhookSchema.parse(settings);
    // GitHub tests a new address this way.
    if (form.signature === 'github' && headers['x-github-event'] === 'ping') return { inbound: [] };
    if (!isRecord(body) && !Array.isArray(body))
      throw new Failure('InvalidInput', 'The body must be JSON: an object or a list');
    const id = idOf(form, body, headers);
    // A repeat has the same text, and the author of a call cannot know the id of its markers.
    const marked = (text: string, place: number): string => {
      const marker = createHmac('sha256', secret)
        .update(`${key}\n${id}\n${place}`)
        .digest('hex')
        .slice(0, 32);
      return markOutside({ id: marker, source: key, text });
    };
    return {
      inbound: [
        {
          kind: 'message',
          isCall: true,
          id,
          chat: key,
          isGroup: false,
          person: { id: form.user ?? `${key}:call`, name: key },
          text: fillTemplate(form.template, body, marked),
          mentionsBot: false,
          repliesToBot: false,
          files: [],
          session: form.session && sessionOf(key, fillTemplate(form.session, body, nameOr(shortDigest))),
          subject: fillTemplate(
            form.subject,
            body,
            nameOr(() => '…'),
          )
            .replaceAll(/\s+/g, ' ')
            .trim()
            .slice(0, 200)
            .toWellFormed(),
        },
      ],
    };
  },
};

/**
 * One word, such as a login or a repository. These two values appear unmarked, and a sentence there would be a
 * stranger's (SC-4).
 */
const NAME = /^[\p{L}\p{N}._@+#:/-]{1,64}$/u;

function nameOr(other: (words: string) => string): (words: string) => string {
  return (words) => (NAME.test(words) ? words : other(words));
}

function shortDigest(words: string): string {
  return words === '' ? '' : digest(words).slice(0, 12);
}

/**
 * Derives the id only from what is signed, because anyone who recorded a call could send it again with another header.
 * @throws Failure InvalidInput for a call that cannot be told from its repeat
 */
function idOf(
  { signature, idempotency }: InboundWebhook,
  body: unknown,
  headers: IncomingHttpHeaders,
): string {
  const path = idempotency?.path ?? (signature === 'stripe' ? 'id' : undefined);
  if (path !== undefined) {
    const value = fieldAt(body, path);
    if ((typeof value === 'string' && value !== '') || typeof value === 'number')
      return digest(String(value));
    throw new Failure(
      'InvalidInput',
      `The field ${path} is missing: by it a call is known when it is sent again`,
    );
  }
  return digest(signature === 'standard' ? String(headers['webhook-id']) : JSON.stringify(body));
}

function digest(words: string): string {
  return createHash('sha256').update(words).digest('hex').slice(0, 32);
}

/** Begins with the channel's key, so that a call only reaches sessions of its channel. */
function sessionOf(key: string, words: string): string | undefined {
  const name = words.replaceAll(/[^A-Za-z0-9._@+-]+/g, '-').slice(0, 100);
  if (name === '') return undefined;
  // A changed name may look like another that was not changed.
  const more = name === words ? '' : `.${shortDigest(words)}`;
  return `${key}:${name}${more}`;
}
