/** AP-2, AP-4: a link lets one person decide one approval, once, and viewing it decides nothing. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

interface Shown {
  readonly status: number;
  readonly html: string;
  readonly headers: Headers;
}

describe('AP-2 links that decide an approval', () => {
  let stack: Stack;
  let ann: string;
  before(async () => {
    const asking = (terms: object) => ({ ask: [{ tool: 'poke', ...terms }] });
    const call = { tool: 'poke', args: { note: `ghp_${'k1'.repeat(18)}` } };
    stack = await startStack({
      scripts: { leaky: JSON.stringify({ rules: [{ reply: { calls: [call] } }] }) },
      agents: [
        { key: 'leaky', model: 'rehearsal/leaky', tools: asking({}) },
        { key: 'two', tools: asking({ quorum: 2 }) },
        { key: 'holder', tools: { ask: [{ tool: 'once_hold' }] } },
        { key: 'named', tools: asking({ approvers: { users: ['ann'] } }) },
      ],
    });
    ann = await stack.makeKey(['read', 'approve'], { user: 'ann' });
  });
  after(() => stack.stop());

  async function askFor(note: string, agent = 'main', args: object = { note }) {
    const { body } = await stack.ask('POST', `/v1/sessions/${note}/messages`, {
      body: { text: `poke ${JSON.stringify(args)}`, agent },
    });
    return { turn: body.turn_id as string, id: await stack.worker.approvalOf(note) };
  }
  const make = (id: string, body: object, key = stack.key) =>
    stack.ask('POST', `/v1/approvals/${id}/links`, { body, key });
  const linkFor = async (id: string, user: string, more: object = {}): Promise<string> =>
    (await make(id, { for: user, ...more })).body.url;
  async function open(url: string, form?: Record<string, string>): Promise<Shown> {
    const answer = await fetch(url, {
      redirect: 'manual',
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    return { status: answer.status, html: await answer.text(), headers: answer.headers };
  }
  const digestIn = (html: string): string => /name="digest" value="([0-9a-f]{64})"/.exec(html)?.[1] ?? '';
  async function send(url: string, decision: string, more: Record<string, string> = {}): Promise<Shown> {
    return open(url, { decision, digest: digestIn((await open(url)).html), ...more });
  }
  const pokes = (note: string) => stack.worker.probes.effects.filter((effect) => effect.note === note).length;
  const show = async (id: string) => (await stack.ask('GET', `/v1/approvals/${id}`)).body;

  it('show what will run to whoever opens them, as often as they like, and decide by the button', async () => {
    const { turn, id } = await askFor('link-1');
    const made = await make(id, { for: 'ann' });
    assert.equal(made.status, 201);
    assert.match(made.body.url, new RegExp(`^${stack.url}/a/[\\w-]{43}$`));
    assert.equal(made.body.expires_at, (await show(id)).expires_at);
    for (const method of ['GET', 'HEAD', 'GET'])
      assert.equal((await fetch(made.body.url, { method })).status, 200);
    assert.equal((await show(id)).status, 'pending');
    const page = await open(made.body.url);
    assert.match(page.html, /poke: link-1/);
    assert.match(page.html, /You decide as <strong>ann<\/strong>/);
    const sent = await send(made.body.url, 'approve');
    assert.equal(sent.status, 303);
    await stack.worker.ended(turn);
    assert.equal(pokes('link-1'), 1);
    const decided = await show(id);
    assert.deepEqual([decided.status, decided.decided_by], ['approved', 'ann']);
    assert.deepEqual(
      decided.decisions.map((one: any) => [one.by, one.via, one.proven]),
      [['ann', 'link', true]],
    );
    assert.match(
      (await open(made.body.url)).html,
      /You decided: approve\. It was approved by ann at [^ ]+\. It ran, and ended well at [^ ]+\.</,
    );
  });

  it('say afterwards what was decided, by whom, and how far the call has come', async () => {
    const note = 'link-after';
    const answer = await stack.ask('POST', `/v1/sessions/${note}/messages`, {
      body: { text: `once_hold {"note":"${note}"}`, agent: 'holder' },
    });
    const id = await stack.worker.approvalOf(note);
    const [used, other] = [await linkFor(id, 'ann'), await linkFor(id, 'bea')];
    await send(used, 'approve');
    await stack.worker.probes.untilHeld(note);
    for (const url of [used, other])
      assert.match((await open(url)).html, /approved by ann at [^ ]+\. It runs now; open this link again/);
    stack.worker.probes.release(note);
    await stack.worker.ended(answer.body.turn_id);
    for (const url of [used, other])
      assert.match((await open(url)).html, /approved by ann at [^ ]+\. It ran, and ended well at /);
  });

  it('work once: a second use changes nothing, by then or at the same time', async () => {
    const { turn, id } = await askFor('link-2', 'two');
    const url = await linkFor(id, 'ann');
    const digest = digestIn((await open(url)).html);
    const both = await Promise.all([1, 2, 3].map(() => open(url, { decision: 'approve', digest })));
    assert.deepEqual(both.map(({ status }) => status).sort(), [303, 409, 409]);
    assert.equal((await open(url, { decision: 'reject', digest })).status, 409);
    assert.equal((await show(id)).tally, '1 of 2');
    assert.equal((await send(await linkFor(id, 'bea'), 'approve')).status, 303);
    await stack.worker.ended(turn);
    assert.equal(pokes('link-2'), 1);
    assert.equal((await show(id)).decided_by, 'ann, bea');
  });

  it('reject with a reason that the model reads', async () => {
    const { turn, id } = await askFor('link-3');
    const other = await linkFor(id, 'bea');
    await send(await linkFor(id, 'ann'), 'reject', { reason: ' not on a Friday ' });
    await stack.worker.ended(turn);
    const [call] = await stack.worker.calls(turn);
    assert.match(call?.result ?? '', /ann denied the call: not on a Friday/);
    const { html } = await open(other);
    assert.match(html, /It was denied by ann at [^ ]+\. Reason: not on a Friday</);
  });

  it('can be for one decision only', async () => {
    const { id } = await askFor('link-4');
    const url = await linkFor(id, 'ann', { decision: 'reject' });
    const { html } = await open(url);
    assert.doesNotMatch(html, /class="approve"/);
    assert.equal((await open(url, { decision: 'approve', digest: digestIn(html) })).status, 403);
    assert.equal((await show(id)).status, 'pending');
    assert.equal((await send(url, 'reject')).status, 303);
  });

  it('are bound to what was shown: an edited call must be looked at again', async () => {
    const { turn, id } = await askFor('link-5', 'two');
    const url = await linkFor(id, 'ann');
    const digest = digestIn((await open(url)).html);
    const bea = await stack.makeKey(['approve'], { user: 'bea' });
    const edit = { decision: 'edit', args: { note: 'link-5-edited' } };
    await stack.ask('POST', `/v1/approvals/${id}/decision`, { key: bea, body: edit });
    const stale = await open(url, { decision: 'approve', digest });
    assert.equal(stale.status, 409);
    assert.match(stale.html, /edited since you saw it/);
    assert.match((await open(url)).html, /link-5-edited/);
    assert.equal((await send(url, 'approve')).status, 303);
    await stack.worker.ended(turn);
    assert.equal(pokes('link-5-edited'), 1);
  });

  it('change the arguments, which are checked again, and run what the page said', async () => {
    const { turn, id } = await askFor('link-edit');
    const url = await linkFor(id, 'ann');
    const { html } = await open(url);
    assert.match(
      html,
      /<textarea id="args"[^>]*>\n\{\n {2}&quot;note&quot;: &quot;link-edit&quot;\n\}<\/textarea>/,
    );
    const wrong = await send(url, 'edit', { args: '{"note": ' });
    assert.equal(wrong.status, 400);
    assert.match(
      wrong.html,
      /role="alert">Nothing was decided: the arguments are not an object in JSON: [^]*&quot;note&quot;: <\/textarea>/,
    );
    const unfit = await send(url, 'edit', { args: '{"note": 7}' });
    assert.equal(unfit.status, 422);
    assert.match(unfit.html, /role="alert">[^<]*note/);
    assert.equal((await show(id)).status, 'pending');
    assert.equal((await send(url, 'edit', { args: '{"note":\r\n"link-changed"}' })).status, 303);
    await stack.worker.ended(turn);
    assert.deepEqual([pokes('link-edit'), pokes('link-changed')], [0, 1]);
    assert.match((await open(url)).html, /You decided: edit/);
  });

  it('change nothing where a secret is masked, nor by a link that may only approve', async () => {
    await stack.ask('POST', '/v1/sessions/link-secret/messages', { body: { text: 'go', agent: 'leaky' } });
    const { html } = await open(await linkFor(await stack.worker.approvalOf('link-secret'), 'ann'));
    assert.match(html, /poke: \[REDACTED\]/);
    assert.doesNotMatch(html, /<textarea id="args"/);
    assert.match(html, /tempoclaw approve .* --args/);
    const other = await askFor('link-plain');
    const url = await linkFor(other.id, 'ann', { decision: 'approve' });
    assert.doesNotMatch((await open(url)).html, /<textarea id="args"/);
    assert.equal((await send(url, 'edit', { args: '{"note":"x"}' })).status, 403);
    assert.equal((await show(other.id)).status, 'pending');
  });

  it('end with their time, when they are revoked, and with the approval', async () => {
    const { turn, id } = await askFor('link-6');
    const brief = await make(id, { for: 'ann', expires_seconds: 1 });
    await stack.pool.query(`update approval_links set expires_at = now() where id = $1`, [brief.body.id]);
    assert.equal((await open(brief.body.url)).status, 404);
    const digest = (await show(id)).digest;
    assert.equal((await open(brief.body.url, { decision: 'approve', digest })).status, 404);
    const revoked = await make(id, { for: 'ann' });
    assert.equal((await stack.ask('DELETE', `/v1/approvals/${id}/links/${revoked.body.id}`)).status, 204);
    assert.equal((await open(revoked.body.url, { decision: 'approve', digest })).status, 404);
    const late = await make(id, { for: 'ann' });
    await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision: 'reject' } });
    await stack.worker.ended(turn);
    assert.match((await open(late.body.url)).html, /It is decided/);
    assert.equal((await open(late.body.url, { decision: 'approve', digest })).status, 409);
    assert.equal((await make(id, { for: 'ann' })).status, 409);
    assert.equal(pokes('link-6'), 0);
  });

  it('R3 are made for oneself, or for others by an admin, and only for those who may decide', async () => {
    const { id } = await askFor('link-7', 'named');
    assert.equal((await make(id, { for: 'ann' }, ann)).status, 201);
    assert.equal((await make(id, { for: 'bea' }, ann)).status, 403);
    const service = await stack.makeKey(['approve']);
    assert.equal((await make(id, { for: 'ann' }, service)).status, 403);
    assert.equal((await make(id, { for: 'bea' })).status, 422);
    assert.equal((await make(id, { for: 'ann' }, await stack.makeKey(['read', 'run']))).status, 403);
    const { key } = await stack.makeTenant();
    assert.equal((await make(id, { for: 'ann' }, key)).status, 404);
    for (const body of [{}, { for: '' }, { for: 'ann', decision: 'respond' }, { for: 'ann', by: 'x' }])
      assert.equal((await make(id, body)).status, 400);
  });

  it('R3 a token that was changed, cut or made up opens nothing', async () => {
    const { id } = await askFor('link-8');
    const url = await linkFor(id, 'ann');
    const last = url.at(-1) === 'A' ? 'B' : 'A';
    const digest = (await show(id)).digest;
    for (const bad of [`${url.slice(0, -1)}${last}`, url.slice(0, -1), `${stack.url}/a/x`, `${url}A`]) {
      assert.equal((await open(bad)).status, 404);
      assert.equal((await open(bad, { decision: 'approve', digest })).status, 404);
    }
    assert.equal((await show(id)).status, 'pending');
  });

  it('take only the form of the page', async () => {
    const { id } = await askFor('link-9');
    const url = await linkFor(id, 'ann');
    const digest = (await show(id)).digest;
    const forms: Record<string, string>[] = [
      {},
      { decision: 'approve' },
      { decision: 'edit', digest },
      { decision: 'approve', digest: 'x' },
      { decision: 'reject', digest, reason: 'x'.repeat(2_001) },
    ];
    for (const form of forms)
      assert.equal((await open(url, form)).status, 400, JSON.stringify(form).slice(0, 80));
    assert.equal((await open(url, { decision: 'approve', digest, pad: 'x'.repeat(70_000) })).status, 413);
    const elsewhere = await fetch(`${stack.url}/v1/approvals/${id}/decision`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.key}` },
      body: new URLSearchParams({ decision: 'approve' }),
    });
    assert.equal(elsewhere.status, 415, 'no other route takes forms');
    assert.equal((await show(id)).status, 'pending');
  });

  it('show hostile text as text: nothing runs, nothing loads, nothing hides', async () => {
    const note = `</pre><script>alert(1)</script><img src=//evil.test>"'&\u202egpj.exe\u200b`;
    const { id } = await askFor('link-10', 'main', { note });
    const { html, headers } = await open(await linkFor(id, 'ann'));
    assert.doesNotMatch(html, /<script|<img|\u202e|\u200b/);
    assert.match(html, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/);
    assert.match(html, /U\+202E/);
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'/);
    assert.deepEqual(
      ['cache-control', 'referrer-policy', 'x-frame-options', 'x-content-type-options'].map((name) =>
        headers.get(name),
      ),
      ['no-store', 'same-origin', 'SAMEORIGIN', 'nosniff'],
    );
    assert.doesNotMatch(html, /<[^>]*\s(src|href|action)=/);
  });

  it('are kept as hashes, and a repeated request does not show one again', async () => {
    const { id } = await askFor('link-11');
    const headers = { 'idempotency-key': 'link-11' };
    const first = await stack.ask('POST', `/v1/approvals/${id}/links`, { body: { for: 'ann' }, headers });
    const again = await stack.ask('POST', `/v1/approvals/${id}/links`, { body: { for: 'ann' }, headers });
    assert.deepEqual([again.body.id, again.body.url], [first.body.id, null]);
    const token = String(first.body.url).split('/').at(-1);
    const { rows } = await stack.pool.query('select * from approval_links');
    assert.ok(rows.length > 0 && !JSON.stringify(rows).includes(String(token)));
  });
});
