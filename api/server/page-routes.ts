/** Pages for people who come with a link and without a key: a form, and texts for what is not possible. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FAILURES, Failure } from '#domain/errors.ts';
import { noticePage, PAGE_POLICY } from './html-page.ts';
import type { Api } from '../deps.ts';

/** Enough for a reason, some fields, or the arguments of a call, all percent-encoded at worst. */
const FORM_BYTES = 65_536;

/** A form as it was sent: its fields are in order, and a name appears as often as it was chosen. */
export type FormFields = readonly (readonly [name: string, text: string])[];

/**
 * The page to show. `again` redirects the browser instead, so that reloading repeats nothing. With `status`, the page
 * says what is wrong with the input.
 */
export type Answered =
  | string
  | { readonly again: string }
  | { readonly status: number; readonly page: string };

export interface FormPage {
  readonly path: string;
  show(request: FastifyRequest): Promise<Answered>;
  /** Handles the form on the page; the body is its FormFields. */
  submit(request: FastifyRequest): Promise<Answered>;
}

/** Adds the page in a scope of its own, so that no other route accepts forms. */
export function addPage(app: Api, { path, show, submit }: FormPage): void {
  app.register(async (pages: Api) => {
    pages.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: FORM_BYTES },
      (_request, body, done) => done(null, [...new URLSearchParams(String(body))] satisfies FormFields),
    );
    const options = { config: { scope: 'public' as const }, schema: { hide: true } };
    pages.get(path, options, (request, reply) => answerPage(reply, () => show(request)));
    pages.post(path, options, (request, reply) => answerPage(reply, () => submit(request)));
  });
}

async function answerPage(reply: FastifyReply, make: () => Promise<Answered>): Promise<FastifyReply> {
  reply
    .serializer((payload) => String(payload))
    .header('content-security-policy', PAGE_POLICY)
    // Without any policy, a browser does not say which page sends the form, and check-origins.ts requires that.
    .header('referrer-policy', 'same-origin');
  try {
    const made = await make();
    if (typeof made === 'object' && 'again' in made)
      return await reply.code(303).header('location', made.again).send('');
    const { status, page } = typeof made === 'string' ? { status: 200, page: made } : made;
    return await reply.code(status).type('text/html; charset=utf-8').send(page);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { status, title } = FAILURES[error.type];
    return reply.code(status).type('text/html; charset=utf-8').send(noticePage(title, error.message));
  }
}
