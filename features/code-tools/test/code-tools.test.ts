/** Tools written in TypeScript, served by a real process, called by an agent's turn, and killed (IN-12, DU-2). */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { CallRow } from '#test/support/live-worker.ts';
import { eventually } from '#test/support/processes.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { startToolHost } from './tool-host.ts';

const SECRET = 'sk-live-0123456789-abcdef';

const HEAD = `import { appendFileSync, existsSync } from 'node:fs';
import { tool, z } from 'tempoclaw';
const FILE = process.env.WITNESS ?? '';
const input = z.object({ order: z.string().min(2).describe('Id of the order') });
const note = (text: string) => appendFileSync(FILE, text + '\\n');
/** Hangs once, so that the process can be killed meanwhile. */
async function hang(order: string, signal: AbortSignal) {
  if (existsSync(FILE + '.' + order)) return;
  appendFileSync(FILE + '.' + order, '');
  await new Promise((_, reject) => signal.addEventListener('abort', () => { note('stopped ' + order); reject(new Error('stopped')); }));
}
`;
const TOOLS: Readonly<Record<string, string>> = {
  lookup: `tool({ description: 'Looks up an order', input, replay: 'read',
    async run({ order }, { signal }) { if (order.startsWith('slow')) { note('look ' + order); await hang(order, signal); } return { order, cents: 4200 }; } })`,
  refund: `tool({ description: 'Refunds an order', input, replay: 'once', approval: true, secrets: ['stripe'],
    run({ order }, { secrets, agent, idempotencyKey }) { note('refund ' + order); return order + ' by ' + agent + ' with ' + secrets.stripe + ' as ' + idempotencyKey; } })`,
  pay: `tool({ description: 'Pays', input, replay: 'once',
    async run({ order }, { signal }) { note('pay ' + order); await hang(order, signal); return 'paid'; } })`,
  ship: `tool({ description: 'Ships', input, replay: 'once',
    async run({ order }, { signal }) { if (order.startsWith('late')) await hang(order, signal); note('ship ' + order); await hang(order, signal); return 'shipped'; },
    async probe({ order }) { const { readFileSync } = await import('node:fs'); return existsSync(FILE) && readFileSync(FILE, 'utf8').includes('ship ' + order) ? 'shipped already' : undefined; } })`,
  late: `tool({ description: 'Takes long', input, replay: 'read', timeout: 1, run: () => new Promise(() => undefined) })`,
};

describe('IN-12 tools written in TypeScript', { timeout: 200_000 }, () => {
  let stack: Stack;
  let folder: string;
  let host: ChildProcess;
  const witness = (): string =>
    existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8') : '';
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'my-agents-'));
    mkdirSync(join(folder, 'tools'));
    for (const [name, text] of Object.entries(TOOLS))
      writeFileSync(join(folder, 'tools', `${name}.ts`), `${HEAD}export default ${text};\n`);
    stack = await startStack();
    await stack.ask('PUT', '/v1/secrets/stripe', { body: { value: SECRET } });
    host = (await startToolHost(stack, folder, 'shop')).child;
  });
  after(async () => {
    host?.kill('SIGKILL');
    await stack?.stop();
    rmSync(folder, { recursive: true });
  });

  async function started(session: string, tool: string, order: string): Promise<string> {
    const text = `${tool} ${JSON.stringify({ order })}`;
    const { body } = await stack.ask('POST', `/v1/sessions/${session}/messages`, { body: { text } });
    return body.turn_id;
  }
  async function ended(turn: string): Promise<CallRow> {
    await stack.worker.ended(turn);
    return (await stack.worker.calls(turn)).at(-1) ?? assert.fail('no call');
  }
  /** Begins calls, kills their host when all have begun, and starts it again. */
  async function killed(calls: Readonly<Record<string, string>>): Promise<Readonly<Record<string, CallRow>>> {
    const turns = new Map<string, string>();
    for (const [order, tool] of Object.entries(calls)) turns.set(order, await started(order, tool, order));
    for (const order of turns.keys()) assert.ok(await eventually(hangs(order)), `${order}: ${witness()}`);
    host.kill('SIGKILL');
    await once(host, 'exit');
    host = (await startToolHost(stack, folder, 'shop')).child;
    const rows = await Promise.all(
      [...turns].map(async ([order, turn]) => [order, await ended(turn)] as const),
    );
    return Object.fromEntries(rows);
  }
  const hangs = (order: string) => (): boolean => existsSync(join(folder, `log.${order}`));
  const times = (line: string): number =>
    witness()
      .split('\n')
      .filter((one) => one === line).length;

  it('are called by an agent, with checked arguments', async () => {
    const { ok, result } = await ended(await started('one', 'lookup', 'A1'));
    assert.equal(ok, true, String(result));
    assert.deepEqual(JSON.parse(String(result)), { order: 'A1', cents: 4200 });
    const wrong = await ended(await started('one', 'lookup', 'A'));
    assert.deepEqual([wrong.ok, wrong.code], [false, 'InvalidArgs']);
    assert.match(String(wrong.result), /order/);
  });

  it('ask people before they run, and no secret of theirs leaves them', async () => {
    const turn = await started('ask', 'refund', 'B7');
    const approval = await stack.worker.approvalOf('ask');
    assert.equal(times('refund B7'), 0);
    await stack.ask('POST', `/v1/approvals/${approval}/decision`, { body: { decision: 'approve' } });
    const { ok, id, result } = await ended(turn);
    assert.equal(ok, true, String(result));
    assert.match(String(result), /^B7 by main with \[.*\] as /);
    assert.equal(times('refund B7'), 1);
    const run = stack.worker.client.activity.getHandle(`tool/${stack.tenant}/${id}/1`);
    const record = `${JSON.stringify(await run.describe())}${String(await run.result())}`;
    assert.doesNotMatch(record, /B7|sk-live/);
  });

  it('whose process is killed run again, are what a probe finds, or are unknown, as they say', async () => {
    const rows = await killed({ pay1: 'pay', ship1: 'ship', late1: 'ship', slow1: 'lookup' });
    const seen = ({ ok, code, result }: CallRow) => (ok ? result : code);
    // Without a probe nobody knows, and nothing is done twice.
    assert.deepEqual([seen(rows['pay1'] ?? assert.fail()), times('pay pay1')], ['OutcomeUnknown', 1]);
    // The probe finds that it has happened, or that it has not.
    assert.deepEqual([seen(rows['ship1'] ?? assert.fail()), times('ship ship1')], ['shipped already', 1]);
    assert.deepEqual([seen(rows['late1'] ?? assert.fail()), times('ship late1')], ['shipped', 1]);
    assert.deepEqual([rows['slow1']?.ok, times('look slow1')], [true, 2]);
  });

  it('are stopped with the turn, and when their time is over', async () => {
    const turn = await started('stop', 'pay', 'P2');
    assert.ok(await eventually(hangs('P2')));
    await stack.ask('POST', '/v1/sessions/stop/stop', { body: { level: 'now' } });
    assert.ok(await eventually(() => times('stopped P2') === 1));
    assert.equal((await ended(turn)).code, 'Cancelled');
    const late = await ended(await started('late', 'late', 'L1'));
    assert.deepEqual([late.ok, late.code], [false, 'Timeout']);
  });

  it('are the tenant’s own: another one has none of them, and names are used once', async () => {
    const { body } = await stack.ask('GET', '/v1/tool-hosts');
    const [{ name, task_queues: queues }] = body.data;
    assert.equal(name, 'shop');
    assert.match(queues.runs, new RegExp(`^tools/${stack.tenant}/shop/[0-9a-f]{12}$`));
    const other = await stack.makeTenant();
    assert.deepEqual((await stack.ask('GET', '/v1/tool-hosts', { key: other.key })).body.data, []);
    assert.equal((await stack.ask('GET', '/v1/tool-hosts/shop', { key: other.key })).status, 404);
    const { seal_key, tools } = { seal_key: Buffer.alloc(32).toString('base64'), tools: body.data[0].tools };
    const mine = tools.map(({ revision: _revision, ...tool }: { revision: number }) => tool);
    const put = (name: string, given: unknown) =>
      stack.ask('PUT', `/v1/tool-hosts/${name}`, { body: { seal_key, tools: given } });
    assert.equal((await put('second', mine)).status, 409);
    assert.equal((await put('second', [{ ...mine[0], name: 'read_file' }])).status, 409);
    assert.equal((await put('second', [mine[0], mine[0]])).status, 400);
    const reader = await stack.makeKey(['read', 'run']);
    const refused = await stack.ask('PUT', '/v1/tool-hosts/third', {
      body: { seal_key, tools: [] },
      key: reader,
    });
    assert.equal(refused.status, 403);
  });
});
