/** DU-9, IN-12: calls of tools that people have written are reversed by their `undo`, also those that were lost. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startToolHost } from '#features/code-tools/test/tool-host.ts';
import { eventually } from '#test/support/processes.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const TOOL = `import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { tool, z } from 'tempoclaw';
const FILE = process.env.WITNESS ?? '';
const note = (text: string) => appendFileSync(FILE, text + '\\n');
const has = (text: string) => existsSync(FILE) && readFileSync(FILE, 'utf8').split('\\n').includes(text);
/** Hangs once, so that the process can be killed meanwhile. */
async function hang(what: string) {
  if (existsSync(FILE + '.' + what)) return;
  appendFileSync(FILE + '.' + what, '');
  await new Promise(() => undefined);
}
export default tool({
  description: 'Books a room',
  input: z.object({ room: z.string().describe('Its name') }),
  replay: 'once',
  async run({ room }, { idempotencyKey }) {
    if (room === 'refused') throw new Error('refused');
    note('book ' + room + ' ' + idempotencyKey);
    if (room === 'broken') throw new Error('broken');
    if (room === 'lost') await hang(room);
    return 'booking of ' + room;
  },
  probe: ({ room }, { idempotencyKey }) => (has('book ' + room + ' ' + idempotencyKey) ? 'booking of ' + room : undefined),
  undo({ room }, { result, undoes }) {
    if (!has('book ' + room + ' ' + undoes.idempotencyKey)) throw new Error('it has another key');
    note('cancel ' + result);
    return 'cancelled';
  },
});
`;
const ALONE = `import { tool, z } from 'tempoclaw';
export default tool({ description: 'Sends a letter', input: z.object({ to: z.string().describe('Whom') }), replay: 'once', run: () => 'sent' });
`;

describe('DU-9 undo of tools in TypeScript', { timeout: 200_000 }, () => {
  let stack: Stack;
  let folder: string;
  let host: ChildProcess;
  const lines = (): readonly string[] =>
    existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8').trim().split('\n') : [];
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'my-agents-'));
    mkdirSync(join(folder, 'tools'));
    writeFileSync(join(folder, 'tools', 'book.ts'), TOOL);
    writeFileSync(join(folder, 'tools', 'letter.ts'), ALONE);
    stack = await startStack();
    host = (await startToolHost(stack, folder, 'hotel')).child;
  });
  after(async () => {
    host?.kill('SIGKILL');
    await stack?.stop();
    rmSync(folder, { recursive: true });
  });

  /** Says it, kills the host when the call hangs, and starts it again. */
  async function killed(room: string): Promise<string> {
    const turn = await say([`book ${JSON.stringify({ room })}`]);
    assert.ok(await eventually(() => existsSync(join(folder, `log.${room}`))));
    host.kill('SIGKILL');
    await once(host, 'exit');
    host = (await startToolHost(stack, folder, 'hotel')).child;
    await stack.worker.ended(turn);
    return turn;
  }
  async function say(steps: readonly string[]): Promise<string> {
    const body = { text: steps.join('\nthen\n') };
    return (await stack.ask('POST', '/v1/sessions/hotel/messages', { body })).body.turn_id;
  }
  async function undo(turn: string) {
    await stack.worker.ended(turn);
    const { body } = await stack.ask('POST', `/v1/turns/${turn}/undo?wait=60`, { body: {} });
    return body.calls.map(({ tool, action }: { tool: string; action: string }) => `${tool} ${action}`);
  }

  it('reverses them newest first, with what they returned, and names those that have no undo', async () => {
    const turn = await say(['book {"room":"a"}', 'letter {"to":"ann"}', 'book {"room":"b"}']);
    const actions = ['book reversed', 'letter irreversible', 'book reversed'];
    assert.deepEqual(await undo(turn), actions);
    assert.deepEqual(await undo(turn), actions);
    assert.deepEqual(lines().slice(-2), ['cancel booking of b', 'cancel booking of a']);
  });

  it('asks the probe whether a call that has failed took effect', async () => {
    const turn = await say(['book {"room":"broken"}', 'book {"room":"refused"}']);
    assert.deepEqual(await undo(turn), ['book reversed', 'book reversed']);
    assert.equal(lines().at(-1), 'cancel booking of broken');
    assert.ok(!lines().includes('cancel booking of refused'));
  });

  it('R1 lets nobody else reverse: neither a model nor a person with a key', async () => {
    const turn = await say(['book {"room":"kept"}']);
    await stack.worker.ended(turn);
    const { body } = await stack.ask('GET', `/v1/turns/${turn}/undo`);
    const { args } = body.calls[0].by;
    const before = lines();
    const forged = await say([`undo_book ${JSON.stringify(args)}`]);
    await stack.worker.ended(forged);
    const [call] = await stack.worker.calls(forged);
    assert.equal(call?.code, 'PermissionDenied');
    const invoked = await stack.ask('POST', '/v1/tools/undo_book/invoke', { body: { args } });
    assert.equal(invoked.body.code, 'PermissionDenied');
    assert.deepEqual(lines(), before);
    assert.deepEqual(await undo(turn), ['book reversed']);
  });

  it('reverses a call once whose process was killed after its effect', async () => {
    assert.deepEqual(await undo(await killed('lost')), ['book reversed']);
    assert.equal(lines().filter((line) => line.startsWith('book lost')).length, 1);
    assert.equal(lines().filter((line) => line === 'cancel booking of lost').length, 1);
  });
});
