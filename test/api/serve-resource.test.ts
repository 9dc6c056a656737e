/** The routes of a resource's definition, without a database: a resource of the test's own. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fastify, { type LightMyRequestResponse } from 'fastify';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import pg from 'pg';
import { z } from 'zod';
import type { Caller } from '#api/server/auth.ts';
import type { Api } from '#api/deps.ts';
import { toProblem } from '#api/server/errors.ts';
import { describeApi } from '#api/server/openapi.ts';
import { type Handlers, serveResource } from '#api/serve-resource.ts';
import { isName } from '#domain/ids.ts';
import { defineResource } from '#domain/resource/define-resource.ts';

const note = z.object({ name: z.string(), text: z.string() });

const notes = defineResource(
  {
    path: '/v1/notes',
    tag: 'service',
    item: note,
    key: 'note',
    field: 'name',
    isKey: isName,
    missing: 'There is no note of this name',
  },
  ({ list, show, create, change, remove, action }) => ({
    listNotes: list({ scope: 'read', summary: 'List', query: { with: z.string().optional() } }),
    getNote: show({ scope: 'read', summary: 'Get' }),
    createNote: create({ scope: 'run', summary: 'Make', body: note, refuses: ['Conflict'] }),
    updateNote: change({ scope: 'run', summary: 'Change', body: z.object({ text: z.string() }) }),
    deleteNote: remove({ scope: 'admin', summary: 'Delete' }),
    sendNote: action('send')({
      scope: 'run',
      summary: 'Send',
      body: z.object({ to: z.string().min(1) }),
      answer: z.object({ sent: z.int() }),
    }),
    printNote: action('print')({
      scope: 'run',
      summary: 'Print',
      body: z.object({ copies: z.int().default(1) }),
      answer: z.object({ printed: z.int() }),
    }),
    shareNote: action('share')({
      scope: 'run',
      summary: 'Share',
      body: z.union([
        z.strictObject({ to: z.object({ name: z.string() }) }),
        z.strictObject({ hours: z.int() }),
      ]),
      answer: z.object({}),
    }),
  }),
);

function handlersOf(rows: Map<string, string>): Handlers<typeof notes.operations> {
  const shown = (name: string) => {
    const text = rows.get(name);
    return text === undefined ? undefined : { name, text };
  };
  return {
    listNotes: async ({ query }) => ({
      data: [...rows]
        .map(([name, text]) => ({ name, text }))
        .filter(({ text }) => text.includes(query.with ?? ''))
        .slice(0, query.limit),
      has_more: false,
      next_cursor: null,
    }),
    getNote: async ({ params }) => shown(params.note),
    async createNote({ body }) {
      rows.set(body.name, body.text);
      return body;
    },
    async updateNote({ params, body }) {
      rows.set(params.note, body.text);
      return shown(params.note);
    },
    deleteNote: async ({ params }) => rows.delete(params.note),
    sendNote: async ({ tenant, by, params, body }) => ({
      sent: `${tenant} ${by}: ${params.note} to ${body.to}`.length,
    }),
    printNote: async ({ body }) => ({ printed: body.copies }),
    shareNote: async () => ({}),
  };
}

describe('IN-1 the routes of a definition', () => {
  const rows = new Map([['first', 'one']]);
  /** Connects to nothing before its first query. */
  const pool = new pg.Pool();
  let app: Api;
  before(async () => {
    app = fastify().withTypeProvider<ZodTypeProvider>();
    app.setValidatorCompiler(validatorCompiler);
    app.setSerializerCompiler(serializerCompiler);
    app.setErrorHandler((error, request, reply) => {
      const { status, body } = toProblem(error, request);
      return reply
        .code(status)
        .serializer((payload) => JSON.stringify(payload))
        .send(body);
    });
    const caller: Caller = {
      tenant: 'default',
      keyId: 'key_1',
      keyName: 'test',
      user: null,
      confinedTo: null,
      scopes: new Set(['admin']),
      groups: [],
      frozenFor: null,
    };
    app.decorateRequest('caller', null);
    app.addHook('onRequest', async (request) => {
      request.caller = caller;
    });
    app.decorate('pool', pool);
    await describeApi(app);
    serveResource(app, notes, handlersOf(rows), async (_caller, name) => rows.get(name));
    await app.ready();
  });
  after(async () => {
    await app.close();
    await pool.end();
  });

  const ask = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) =>
    app.inject({ method, url, ...(payload && { payload }) });

  function isMissing(answer: LightMyRequestResponse): void {
    assert.equal(answer.statusCode, 404);
    assert.equal(answer.json().detail, 'There is no note of this name');
  }

  it('list, show, make, change and delete, with the statuses and the address that are usual', async () => {
    const made = await ask('POST', '/v1/notes', { name: 'second', text: 'two' });
    assert.deepEqual([made.statusCode, made.headers['location']], [201, '/v1/notes/second']);
    assert.deepEqual((await ask('GET', '/v1/notes?with=tw')).json().data, [{ name: 'second', text: 'two' }]);
    const changed = await ask('PATCH', '/v1/notes/second', { text: 'deux' });
    assert.deepEqual([changed.statusCode, changed.json().text], [200, 'deux']);
    const gone = await ask('DELETE', '/v1/notes/second');
    assert.deepEqual([gone.statusCode, gone.body], [204, '']);
    isMissing(await ask('DELETE', '/v1/notes/second'));
  });

  it('an action of its own is one more entry, and its handler knows tenant, signature, path and body', async () => {
    const sent = await ask('POST', '/v1/notes/first/send', { to: 'ann' });
    assert.deepEqual(
      [sent.statusCode, sent.json()],
      [200, { sent: 'default key:test: first to ann'.length }],
    );
  });

  it('an action may be asked for without a body; what it needs is named all the same', async () => {
    const printed = await ask('POST', '/v1/notes/first/print');
    assert.deepEqual([printed.statusCode, printed.json()], [200, { printed: 1 }]);
    const sent = await ask('POST', '/v1/notes/first/send');
    assert.deepEqual([sent.statusCode, sent.json().errors[0].pointer], [400, 'body/to']);
    assert.deepEqual((await ask('POST', '/v1/notes/first/send', { to: [] })).json().errors, [
      { pointer: 'body/to', message: 'Invalid input: expected string, received array' },
    ]);
  });

  it('of a body with several shapes, the field that is wrong in the meant one is named by its path', async () => {
    const share = async (body: object) =>
      (await ask('POST', '/v1/notes/first/share', body)).json().errors[0].pointer;
    assert.equal(await share({ hours: 'two' }), 'body/hours');
    assert.equal(await share({ to: { name: 5 } }), 'body/to/name');
  });

  it('what is not there and what cannot be a key get one 404, whatever is wrong with the body', async () => {
    for (const name of ['none', 'no%20name', '%00'])
      for (const answer of [
        await ask('GET', `/v1/notes/${name}`),
        await ask('PATCH', `/v1/notes/${name}`, { wrong: true }),
        await ask('POST', `/v1/notes/${name}/send`, {}),
      ])
        isMissing(answer);
    assert.equal((await ask('PATCH', '/v1/notes/first', { wrong: true })).statusCode, 400);
    assert.equal((await ask('GET', '/v1/notes?limit=0')).statusCode, 400);
  });

  it('stand in the OpenAPI document under the operation’s name, with scope and refusals', () => {
    const { paths = {} } = app.swagger() as {
      paths?: Record<string, Record<string, { [field: string]: any }>>;
    };
    assert.deepEqual(Object.keys(paths).toSorted(), [
      '/v1/notes',
      '/v1/notes/{note}',
      '/v1/notes/{note}/print',
      '/v1/notes/{note}/send',
      '/v1/notes/{note}/share',
    ]);
    const send = paths['/v1/notes/{note}/send']?.['post'];
    assert.equal(send?.['operationId'], 'sendNote');
    assert.match(send?.['description'], /Scope: `run`/);
    assert.match(send?.['responses'][404].description, /NotFound/);
    assert.match(paths['/v1/notes']?.['post']?.['responses'][409].description, /`Conflict`/);
  });

  it('a handler of another shape does not compile', () => {
    const good = handlersOf(rows);
    // @ts-expect-error: an operation without a handler
    const none: Handlers<typeof notes.operations> = { ...good, sendNote: undefined };
    // @ts-expect-error: an answer without a field
    const less: Handlers<typeof notes.operations> = { ...good, createNote: async () => ({ name: 'x' }) };
    const more: Handlers<typeof notes.operations> = {
      ...good,
      // @ts-expect-error: a field that the body has not
      updateNote: async ({ body }) => ({ name: body.title, text: '' }),
    };
    assert.ok(none && less && more);
  });
});
