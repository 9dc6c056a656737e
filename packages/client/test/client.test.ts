/** Requests to a server that answers as the API, and to one that is hostile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, type TempoClawError } from '@tempoclaw/client';
import { serve } from './server.ts';

const BUSY = { code: 'RateLimited', title: 'Too many requests' };

/** Asserts on the error of a promise. */
async function failure(promise: Promise<unknown>): Promise<TempoClawError> {
  try {
    await promise;
  } catch (error) {
    return error as TempoClawError;
  }
  throw new Error('it has not failed');
}

test('a request has the address, the key and the parts, and its answer is parsed', async (t) => {
  const { url, requests } = await serve(t, (_, reply) => reply.json({ key: 'a/b' }));
  const client = createClient({ url: `${url}/below/a/path`, apiKey: () => 'tc_one' });
  const answer = await client.request('GET /v1/agents/{key}', { params: { key: 'a/b ü' } });
  assert.equal(answer.key, 'a/b');
  await client.approvals.list({ status: 'pending', limit: 2 });
  assert.deepEqual(
    requests.map(({ line, headers }) => [line, headers.authorization]),
    [
      ['GET /below/a/path/v1/agents/a%2Fb%20%C3%BC', 'Bearer tc_one'],
      ['GET /below/a/path/v1/approvals?status=pending&limit=2', 'Bearer tc_one'],
    ],
  );
});

test('a message is sent again after 429, not before the server says, with the same key', async (t) => {
  const { url, requests } = await serve(t, (n, reply) =>
    n < 2 ? reply.json(BUSY, 429, { 'retry-after': '1' }) : reply.json({ turn_id: 'turn-1' }, 202),
  );
  const began = performance.now();
  const { turn_id } = await createClient({ url }).session('s').send('Hello', { agent: 'main', wait: 3 });
  assert.equal(turn_id, 'turn-1');
  assert.ok(performance.now() - began >= 1_990);
  assert.equal(requests.length, 3);
  assert.equal(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size, 1);
  assert.equal(requests[0]?.line, 'POST /v1/sessions/s/messages?wait=3');
  assert.equal(requests[0]?.body, '{"agent":"main","text":"Hello"}');
});

test('an answer that is lost on its way is asked for again, but a PATCH is not', async (t) => {
  const { url, requests } = await serve(t, (n, reply) => {
    if (n === 1 || n === 3) return reply.cut();
    return reply.json({});
  });
  const client = createClient({ url });
  await client.request('GET /v1/me');
  await client.request('GET /v1/me');
  const patched = client.request('PATCH /v1/agents/{key}', { params: { key: 'main' }, body: {} });
  assert.equal((await failure(patched)).code, 'Unreachable');
  assert.equal(requests.length, 4);
});

test('patience that is shorter than Retry-After gives the error at once', async (t) => {
  const { url, requests } = await serve(t, (_, reply) => reply.json(BUSY, 429, { 'retry-after': '60' }));
  const error = await failure(createClient({ url }).request('GET /v1/me'));
  assert.deepEqual([error.code, error.status, error.retryAfterMs], ['RateLimited', 429, 60_000]);
  assert.equal(requests.length, 1);
});

test('a refusal is an error with code, message, remedy and everything that the API said', async (t) => {
  const errors = [{ pointer: '/limit', message: 'it is too large' }];
  const problem = { code: 'InvalidInput', title: 'Bad', detail: 'Wrong fields', request_id: 'req-1', errors };
  const { url } = await serve(t, (_, reply) => reply.json(problem, 400));
  const error = await failure(createClient({ url }).request('GET /v1/me'));
  assert.equal(error.name, 'TempoClawError');
  assert.equal(error.message, 'Wrong fields · /limit: it is too large');
  assert.equal(error.remedy, 'Correct the fields that `errors` names.');
  assert.equal(error.problem.request_id, 'req-1');
});

test('a server that does not answer in time is an error, and an abort is the reason of its signal', async (t) => {
  const { url } = await serve(t, () => undefined);
  const client = createClient({ url });
  const error = await failure(client.request('GET /v1/me', {}, { timeoutMs: 50 }));
  assert.equal(error.code, 'TimedOut');
  const controller = new AbortController();
  const aborted = client.request('GET /v1/me', {}, { signal: controller.signal });
  controller.abort(new Error('the page was left'));
  assert.equal((await failure(aborted)).message, 'the page was left');
  assert.equal(
    (await failure(client.request('GET /v1/me', {}, { signal: controller.signal }))).message,
    'the page was left',
  );
});

test('an address that never answered is asked once', async () => {
  let requests = 0;
  const away = (): Promise<Response> => {
    requests += 1;
    return Promise.reject(new TypeError('fetch failed'));
  };
  const client = createClient({ url: 'http://agents.example.com', fetch: away });
  const error = await failure(client.request('GET /v1/me'));
  assert.equal(error.code, 'Unreachable');
  assert.match(error.remedy, /Check the address/);
  assert.equal(requests, 1);
});

for (const [name, head, body, code] of [
  ['JSON that is none', { 'content-type': 'application/json' }, '{"a":', 'InvalidAnswer'],
  ['a page of HTML', { 'content-type': 'text/html; charset=utf-8' }, '<h1>Log in</h1>', 'InvalidAnswer'],
  ['an answer without an end', { 'content-type': 'application/json' }, '['.repeat(5_000), 'TooLargeAnswer'],
] as const)
  test(`${name} is an error`, async (t) => {
    const { url } = await serve(t, (_, reply) => reply.raw(200, head, body));
    const error = await failure(createClient({ url, maxBytes: 1_000 }).request('GET /v1/me'));
    assert.equal(error.code, code);
  });

for (const [type, body] of [
  ['text/plain', 'a note'],
  ['application/json', '{"a":1}'],
  ['application/json', '{"cut'],
] as const)
  test(`a file of ${type} is a Blob with its bytes: ${body}`, async (t) => {
    const head = { 'content-type': type, 'content-disposition': 'attachment' };
    const { url } = await serve(t, (_, reply) => reply.raw(200, head, body));
    const file = await createClient({ url }).request('GET /v1/artifacts/{id}', { params: { id: 'a' } });
    assert.ok(file instanceof Blob);
    assert.deepEqual([file.type, await file.text()], [type, body]);
  });

for (const [name, body, code, message] of [
  ['a page', '<h1>Bad gateway</h1>', 'Http404', 'The request was answered with HTTP 404'],
  ['null', 'null', 'Http404', 'The request was answered with HTTP 404'],
  [
    'fields of other types',
    '{"code":7,"detail":{},"errors":"x"}',
    'Http404',
    'The request was answered with HTTP 404',
  ],
  [
    'errors that are none',
    '{"code":"NotFound","detail":"No","errors":[null,7,{"message":{}}]}',
    'NotFound',
    'No',
  ],
  [
    'a very long text',
    JSON.stringify({ code: 'NotFound', detail: 'x'.repeat(9_000) }),
    'NotFound',
    'x'.repeat(2_000),
  ],
] as const)
  test(`a refusal that is ${name} is an error too`, async (t) => {
    const { url } = await serve(t, (_, reply) => reply.raw(404, {}, body));
    const error = await failure(createClient({ url }).request('GET /v1/me'));
    assert.deepEqual([error.code, error.message], [code, message]);
  });

test('no redirect is followed with the key', async (t) => {
  const other = await serve(t, (_, reply) => reply.json({}));
  const { url } = await serve(t, (_, reply) => reply.raw(307, { location: other.url }, ''));
  const error = await failure(createClient({ url, apiKey: 'tc_secret' }).request('GET /v1/me'));
  assert.equal(error.code, 'Http307');
  assert.equal(other.requests.length, 0);
});

test('options and parts that cannot be sent are refused before anything is sent, without the key', async (t) => {
  for (const url of ['agents.example.com', 'file:///etc', 'http://ann:secret@127.0.0.1/'])
    assert.throws(() => createClient({ url }), { code: 'InvalidRequest' });
  const { url, requests } = await serve(t, (_, reply) => reply.json({}));
  const refused = [
    createClient({ url, apiKey: 'tc_secret\nx: y' }).request('GET /v1/me'),
    createClient({ url, apiKey: '' }).request('GET /v1/me'),
    createClient({ url }).request('GET /v1/agents/{key}', { params: { key: '..' } }),
    createClient({ url }).session('').send('Hello'),
    createClient({ url }).session('s').send('Hello', {}, { idempotencyKey: 'ü' }),
  ];
  for (const one of refused) {
    const error = await failure(one);
    assert.equal(error.code, 'InvalidRequest');
    assert.doesNotMatch(error.message, /tc_secret/);
  }
  assert.equal(requests.length, 0);
});
