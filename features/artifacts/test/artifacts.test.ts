/** Files that people and models exchange: their types, their owners, and their downloads. */
import { ROWS } from '#test/support/rows.ts';
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ARTIFACT_BYTES } from '../contract.ts';
import { messageCreateSchema } from '#domain/schema/message.ts';
import { removeUnneededFiles } from '#store/files/file-store.ts';
import { pruneByRetention } from '#store/retention-store.ts';
import { DOCX, MP4, pdfOf, wavOf } from '#test/support/documents.ts';
import { pngOf } from '#test/support/image-bytes.ts';
import { startApi, type TestApi } from '#test/support/stack.ts';

interface Put {
  readonly type?: string;
  readonly query?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const PDF = pdfOf([['Otters']]);

describe('artifacts', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  async function put(
    bytes: Buffer | string,
    { type = '', query = '', key = api.key, headers = {} }: Put = {},
  ) {
    const response = await fetch(`${api.url}/v1/artifacts${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...(type && { 'content-type': type }), ...headers },
      body: new Blob([new Uint8Array(Buffer.from(bytes))]),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as any };
  }

  function get(id: string, headers: Readonly<Record<string, string>> = {}, key = api.key): Promise<Response> {
    return fetch(`${api.url}/v1/artifacts/${id}`, {
      headers: { authorization: `Bearer ${key}`, ...headers },
    });
  }

  it('IN-1 the same file under the same Idempotency-Key is put once, and another file under it is refused', async () => {
    const headers = { 'idempotency-key': 'k-file' };
    const first = await put('one', { type: 'text/plain', headers });
    assert.equal(first.status, 201, JSON.stringify(first.body));
    const again = await put('one', { type: 'text/plain', headers });
    assert.deepEqual([again.status, again.body], [201, first.body]);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    const other = await put('two', { type: 'text/plain', headers });
    assert.equal(other.body.code, 'IdempotencyMismatch');
  });

  it('IN-1 a message names it by its id, as it was given, or as artifact:ID', async () => {
    const { id } = (await put('named', { type: 'text/plain' })).body;
    const allows = (attachment: string) =>
      messageCreateSchema.safeParse({ text: 'Look.', attachments: [attachment] }).success;
    assert.deepEqual([id, `artifact:${id}`, `file:${id}`, `${id}0`].map(allows), [true, true, false, false]);
  });

  it('what is put comes back byte by byte, as an attachment of its own name', async () => {
    const { status, body, headers } = await put(PDF, {
      type: 'application/pdf',
      query: '?filename=On%20otters.pdf',
    });
    assert.equal(status, 201);
    assert.deepEqual(
      [body.type, body.bytes, body.filename],
      ['application/pdf', PDF.length, 'On otters.pdf'],
    );
    assert.match(body.sha256, /^[0-9a-f]{64}$/);
    assert.equal(headers.get('location'), `/v1/artifacts/${body.id}`);
    const received = await get(body.id);
    assert.deepEqual(Buffer.from(await received.arrayBuffer()), PDF);
    assert.equal(received.headers.get('content-type'), 'application/pdf');
    assert.equal(received.headers.get('content-disposition'), "attachment; filename*=UTF-8''On%20otters.pdf");
    assert.equal(received.headers.get('x-content-type-options'), 'nosniff');
  });

  it('the same file again is the same artifact, and its bytes are kept once for all who bring them', async () => {
    const ids = [];
    for (const query of ['?filename=a.pdf', '?filename=a.pdf', '?filename=b.pdf', '?filename=a.pdf&user=ann'])
      ids.push((await put(PDF, { query })).body.id);
    assert.equal(ids[0], ids[1]);
    const age = `update artifacts set created_at = created_at - interval '9 days', brought_at = brought_at - interval '9 days'
      where id = $1 returning created_at`;
    const [old] = (await api.pool.query(age, [ids[0]])).rows;
    const again = (await put(PDF, { query: '?filename=a.pdf' })).body;
    assert.equal(again.created_at, old.created_at.toISOString());
    await pruneByRetention(api.pool, ROWS, { artifacts_days: 8 });
    assert.equal((await get(again.id)).status, 200, 'it was brought just now');
    assert.equal(new Set(ids).size, 3);
    const { rowCount } = await api.pool.query('select from files where bytes = $1', [PDF]);
    assert.equal(rowCount, 1);
  });

  it('a text is called anew when it is brought as something else', async () => {
    const first = (await put('<h1>Otters</h1>')).body;
    const again = (await put('<h1>Otters</h1>', { type: 'text/html' })).body;
    assert.deepEqual([first.id, first.type, again.type], [again.id, 'text/plain', 'text/html']);
  });

  it('a range of it comes alone, and one past the end is refused', async () => {
    const large = Buffer.concat([PDF, Buffer.alloc(9_000_000, 'otter ')]);
    const { id } = (await put(large, { type: 'application/pdf' })).body;
    const ranges: Readonly<Record<string, [number, number]>> = {
      'bytes=0-0': [0, 1],
      'bytes=100-199': [100, 200],
      'bytes=4194300-4194310': [4_194_300, 4_194_311],
      [`bytes=${large.length - 5}-`]: [large.length - 5, large.length],
      'bytes=-7': [large.length - 7, large.length],
      'bytes=100-99999999999': [100, large.length],
    };
    for (const [range, [from, end]] of Object.entries(ranges)) {
      const received = await get(id, { range });
      assert.equal(received.status, 206, range);
      assert.equal(received.headers.get('content-range'), `bytes ${from}-${end - 1}/${large.length}`);
      assert.ok(Buffer.from(await received.arrayBuffer()).equals(large.subarray(from, end)), range);
    }
    const past = await get(id, { range: `bytes=${large.length}-` });
    assert.deepEqual([past.status, past.headers.get('content-range')], [416, `bytes */${large.length}`]);
    for (const range of ['bytes=9-3', 'bytes=a-b', 'lines=1-2', 'bytes=0-1,5-6'])
      assert.equal((await get(id, { range })).status, 200, range);
    assert.equal((await get(id, { range: 'bytes=0-0', 'if-range': '"another"' })).status, 200);
  });

  it('who has it already is told so by its ETag, and gets no bytes', async () => {
    const { id } = (await put('kelp', { type: 'text/plain' })).body;
    const etag = (await get(id)).headers.get('etag') ?? '';
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const received = await get(id, { 'if-none-match': known });
      assert.deepEqual(
        [received.status, await received.text(), received.headers.get('etag')],
        [304, '', etag],
        known,
      );
    }
    assert.equal((await get(id, { 'if-none-match': '"other"' })).status, 200);
  });

  it('what a browser might run is served as bytes, never as a page', async () => {
    for (const [type, text] of [
      ['text/html', '<!doctype html><script>alert(1)</script>'],
      ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
      ['application/xhtml+xml', '<html xmlns="http://www.w3.org/1999/xhtml"/>'],
      ['text/javascript', 'alert(1)'],
      ['', '<html><body>sniffed</body></html>'],
    ] as const) {
      const { status, body } = await put(text, { type });
      assert.equal(status, 201, JSON.stringify(body));
      const received = await get(body.id);
      assert.equal(received.headers.get('content-type'), 'application/octet-stream', type);
      assert.match(received.headers.get('content-disposition') ?? '', /^attachment/);
      assert.match(received.headers.get('content-security-policy') ?? '', /sandbox/);
    }
  });

  it('what its bytes are is what they show, and what contradicts its content type is refused', async () => {
    for (const [bytes, called, type] of [
      [DOCX, '', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
      [pngOf(3, 3), 'application/octet-stream', 'image/png'],
      [wavOf(), 'audio/x-wav', 'audio/wav'],
      [MP4, 'audio/mp4', 'video/mp4'],
      [Buffer.from('a;b'), 'text/csv; charset=utf-8', 'text/csv'],
      [Buffer.from('words'), '', 'text/plain'],
      [Buffer.from([0, 1, 2, 3]), 'application/x-own', 'application/octet-stream'],
    ] as const) {
      const { status, body } = await put(bytes, { type: called });
      assert.deepEqual([status, body.type], [201, type]);
    }
    for (const [bytes, called] of [
      [PDF, 'image/png'],
      [pngOf(3, 3), 'image/jpeg'],
      [Buffer.from('<script>alert(1)</script>'), 'image/gif'],
      [Buffer.concat([Buffer.from('GIF89a'), Buffer.from('<script>')]), 'text/html'],
      [Buffer.from([0, 1, 2, 3]), 'text/plain'],
      [Buffer.from([0, 1, 2, 3]), 'application/pdf'],
    ] as const) {
      const { status, body } = await put(bytes, { type: called });
      assert.deepEqual([status, body.code], [422, 'Unprocessable'], called);
      assert.match(body.detail, /is not what its content type says/);
    }
  });

  it('nothing, and too much, are refused', async () => {
    assert.equal((await put('')).status, 422);
    assert.equal((await put(Buffer.alloc(ARTIFACT_BYTES + 1, 'a'))).status, 413);
  });

  it('a name is a name: no path, no header and no line of its own', async () => {
    const named = async (headers: Readonly<Record<string, string>>) =>
      (await put('words', { headers })).body.filename;
    assert.equal(await named({ filename: '..%2F..%2Fetc%2Fpass%0d%0awd' }), 'passwd');
    assert.equal(await named({ filename: 'C:\\temp\\a"b].txt' }), 'ab.txt');
    assert.equal(await named({ filename: '%E2%80%AEgpj.exe' }), 'gpj.exe');
    assert.equal(await named({ filename: '..%2F' }), null);
  });

  it('R8 another tenant, another user and an id that never was get the same 404', async () => {
    const anns = (await put(PDF, { query: '?user=ann' })).body;
    assert.equal(anns.user, 'ann');
    const [ann, bob] = [
      await api.makeKey(['read', 'run'], { user: 'ann' }),
      await api.makeKey(['read', 'run'], { user: 'bob' }),
    ];
    assert.equal((await get(anns.id, {}, ann)).status, 200);
    const other = await api.makeTenant();
    for (const [id, key] of [
      [anns.id, bob],
      [anns.id, other.key],
      [`art_${'0'.repeat(32)}`, api.key],
      ['nothing', api.key],
    ] as const)
      assert.equal((await get(id, {}, key)).status, 404);
    assert.equal((await put('bobs', { key: bob })).body.user, 'bob');
    assert.equal((await put('not his', { key: bob, query: '?user=ann' })).status, 403);
    const tenants = (await put('of all')).body;
    assert.equal((await get(tenants.id, {}, bob)).status, 200);
  });

  it('old ones go by the tenant’s retention, and bytes that nothing names any more with the sweep', async () => {
    const { id } = (await put('old words')).body;
    const shared = (await put('shared words')).body;
    await put('shared words', { query: '?user=ann' });
    const kept = async (text: string): Promise<number | null> =>
      (await api.pool.query('select from files where bytes = $1', [Buffer.from(text)])).rowCount;
    await api.pool.query(`update artifacts set brought_at = now() - interval '9 days' where id = any ($1)`, [
      [id, shared.id],
    ]);
    await pruneByRetention(api.pool, ROWS, { artifacts_days: 10 });
    assert.equal((await get(id)).status, 200);
    await pruneByRetention(api.pool, ROWS, { artifacts_days: 8 });
    assert.deepEqual([(await get(id)).status, (await get(shared.id)).status], [404, 404]);
    await removeUnneededFiles(api.pool, ROWS);
    assert.equal(await kept('old words'), 1);
    await api.pool.query(`update files set needed_at = now() - interval '2 days'`);
    await removeUnneededFiles(api.pool, ROWS);
    assert.deepEqual([await kept('old words'), await kept('shared words')], [0, 1]);
  });
});
