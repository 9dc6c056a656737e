/** Pages for people who come with a link and without a key: a form, and words for what cannot be. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FAILURES, Failure } from '#domain/errors.ts';
import { noticePage, PAGE_POLICY } from './approval-page.ts';
import type { Api } from './deps.ts';

/** A reason, some fields, or the arguments of a call, percent-encoded at worst. */
const FORM_BYTES = 65_536;

/** A form as it was sent: its fields in their order, a name as often as it was chosen. */
export type FormFields = readonly (readonly [name: string, text: string])[];

/** The page; `again` sends the browser there instead, so that reloading repeats nothing; `status`: it says what is wrong with what was sent. */
export type Answered =
  | string
  | { readonly again: string }
  | { readonly status: number; readonly page: string };

export interface FormPage {
  readonly path: string;
  show(request: FastifyRequest): Promise<Answered>;
  /** Of the form on it; the body is its FormFields. */
  submit(request: FastifyRequest): Promise<Answered>;
}

/** Within a scope of its own: no other route takes forms. */
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
    // With none at all a browser does not say whose page sends the form, which check-origins.ts asks for.
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
