/**
 * Links to a session's canvas. Like a key, a link names its tenant, but it only allows viewing the canvas and sending
 * its events. It ends with the key that made it.
 */
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { Failure } from '#domain/errors.ts';
import { isToken } from '#policy/decision-token.ts';
import type { Caller } from '#api/server/auth.ts';

const linkSchema = z.object({
  tenant: z.string(),
  session: z.string(),
  /** The id of the key that made the link. */
  key: z.string(),
  user: z.string().nullable(),
  /** Milliseconds since 1970. */
  until: z.number(),
});
export type CanvasLink = z.infer<typeof linkSchema>;

export function canvasToken(secret: string, link: CanvasLink): string {
  const words = Buffer.from(JSON.stringify(link)).toString('base64url');
  return `${words}.${signed(secret, words)}`;
}

/** @throws Failure NotFound for a token that was not made here or has expired */
export function openCanvasToken(secret: string, token: string, now: number): CanvasLink {
  const [words = '', signature] = token.split('.');
  if (!isToken(signature, signed(secret, words))) throw noLink();
  const link = linkSchema.parse(JSON.parse(Buffer.from(words, 'base64url').toString('utf8')));
  if (link.until <= now) throw noLink();
  return link;
}

/** A caller whose key id no key has. */
export function callerByLink({ tenant, user }: CanvasLink, token: string): Caller {
  const keyId = `canvas:${token.slice(-43)}`;
  return {
    tenant,
    keyId,
    keyName: 'canvas',
    user,
    confinedTo: user,
    scopes: new Set(),
    groups: [],
    frozenFor: null,
  };
}

function signed(secret: string, words: string): string {
  return createHmac('sha256', secret).update(`canvas link ${words}`).digest('base64url');
}

export function noLink(): Failure {
  return new Failure('NotFound', 'This link does not exist or has expired; ask for another');
}
