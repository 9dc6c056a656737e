/** Tools written in Python, served beside one in TypeScript, called by an agent's turn, and killed (IN-12, DU-2). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { CallRow } from '#test/support/live-worker.ts';
import { eventually, runningWith } from '#test/support/processes.ts';
import { addPackageTo, skipWithoutPython } from '#test/support/python.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { startToolHost, type ToolHost } from './tool-host.ts';

const SECRET = 'sk-live-0123456789-abcdef';

const SHARED = `import os, time
from typing import Annotated
from pydantic import Field
FILE = os.environ["WITNESS"]
Order = Annotated[str, Field(min_length=2, description="Id of the order")]
def note(text):
    with open(FILE, "a") as file:
        file.write(text + "\\n")
def hang(order, context):
    """Hangs once, so that the process can be killed meanwhile."""
    if os.path.exists(FILE + "." + order):
        return
    open(FILE + "." + order, "w").close()
    context.signal.wait()
    note("stopped " + order)
    raise RuntimeError("stopped")
`;
const TOOLS: Readonly<Record<string, string>> = {
  lookup: `import asyncio
@tool(replay="read")
async def lookup(order: Order, context: Context):
    """Looks up an order."""
    if order.startswith("slow"):
        note("look " + order)
        await asyncio.to_thread(hang, order, context)
    return {"order": order, "cents": 4200}
`,
  refund: `@tool(replay="once", approval=True, secrets=["stripe"])
def refund(order: Order, context: Context):
    """Refunds an order."""
    note("refund " + order)
    return f"{order} by {context.agent} with {context.secrets['stripe']} as {context.idempotency_key}"
`,
  rent: `def cancel(order: str, context: Context):
    note(f"cancel {order}: {context.result} {context.undoes.call in context.undoes.idempotency_key}")
async def find(order: str):
    return "rented " + order if order == "broken" else None
@tool(replay="once", probe=find, undo=cancel)
def rent(order: Order):
    """Rents."""
    if order == "broken":
        raise RuntimeError("broken")
    note("rent " + order)
    return "rented " + order
`,
  store: `@tool(replay="idempotent")
def store(order: Order, context: Context):
    """Stores."""
    note("store " + order)
    hang(order, context)
    return "stored"
`,
  pay: `@tool(replay="once")
def pay(order: Order, context: Context):
    """Pays."""
    note("pay " + order)
    hang(order, context)
    return "paid"
`,
  ship: `def find(order):
    if order.startswith("bad") and not os.path.exists(FILE + ".probed"):
        open(FILE + ".probed", "w").close()
        raise ValueError("cannot find " + order)
    return None if order.startswith("late") else "shipped already"
@tool(replay="once", probe=find)
def ship(order: Order, context: Context):
    """Ships."""
    if not order.startswith("late"):
        note("ship " + order)
    hang(order, context)
    if order.startswith("late"):
        note("ship " + order)
    return "shipped"
`,
  late: `import asyncio
@tool(replay="once", timeout=1)
async def late(order: Order):
    """Takes long."""
    await asyncio.sleep(60)
`,
  fail: `@tool(replay="read", secrets=["stripe"], outside=True)
def fail(order: Order, context: Context):
    """Fails."""
    raise LookupError(f"no order {order} for {context.secrets['stripe']}")
`,
};
const BESIDE = `import { tool, z } from 'tempoclaw';
export default tool({ description: 'In TypeScript', input: z.object({}), replay: 'read', run: () => 'both' });`;

const skip = await skipWithoutPython();

describe('IN-12 tools written in Python', { skip, timeout: 300_000 }, () => {
  let stack: Stack;
  let folder: string;
  let program: ToolHost;
  const witness = (): string =>
    existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8') : '';
  const times = (line: string): number => witness().split(`${line}\n`).length - 1;
  const hangs = (order: string) => (): boolean => existsSync(join(folder, `log.${order}`));
  const pythons = (): readonly number[] => runningWith(`tempoclaw.host serve ${folder}`);
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'py-agents-'));
    mkdirSync(join(folder, 'tools'));
    writeFileSync(join(folder, 'tools/_shared.py'), SHARED);
    writeFileSync(join(folder, 'tools/beside.ts'), BESIDE);
    const head = 'from tempoclaw import Context, tool\nfrom _shared import *\n';
    for (const [name, text] of Object.entries(TOOLS))
      writeFileSync(join(folder, 'tools', `${name}.py`), head + text);
    await addPackageTo(folder);
    stack = await startStack();
    await stack.ask('PUT', '/v1/secrets/stripe', { body: { value: SECRET } });
    program = await startToolHost(stack, folder, 'python-shop');
  });
  after(async () => {
    program?.child.kill('SIGKILL');
    await stack?.stop();
    rmSync(folder, { recursive: true });
  });

  async function started(session: string, tool: string, input: object): Promise<string> {
    const text = `${tool} ${JSON.stringify(input)}`;
    const { body } = await stack.ask('POST', `/v1/sessions/py-${session}/messages`, { body: { text } });
    return body.turn_id;
  }
  async function ended(turn: string): Promise<CallRow> {
    await stack.worker.ended(turn);
    return (await stack.worker.calls(turn)).at(-1) ?? assert.fail('no call');
  }
  /** Begins calls, kills the Python process when all have begun, and returns what became of them. */
  async function killed(calls: Readonly<Record<string, string>>): Promise<Readonly<Record<string, CallRow>>> {
    const turns = new Map<string, string>();
    for (const [order, tool] of Object.entries(calls))
      turns.set(order, await started(order, tool, { order }));
    for (const order of turns.keys()) assert.ok(await eventually(hangs(order)), `${order}: ${witness()}`);
    const [pid = assert.fail('no process')] = pythons();
    process.kill(pid, 'SIGKILL');
    const rows = await Promise.all(
      [...turns].map(async ([order, turn]) => [order, await ended(turn)] as const),
    );
    return Object.fromEntries(rows);
  }

  it('are called by an agent, with checked arguments, beside those in TypeScript', async () => {
    const { ok, result } = await ended(await started('one', 'lookup', { order: 'A1' }));
    assert.deepEqual([ok, result], [true, '{"order":"A1","cents":4200}']);
    const wrong = await ended(await started('one', 'lookup', { order: 'A' }));
    assert.deepEqual([wrong.ok, wrong.code], [false, 'InvalidArgs']);
    assert.match(String(wrong.result), /at least 2 characters.*order/);
    assert.equal((await ended(await started('one', 'beside', {}))).result, 'both');
  });

  it('ask people before they run, and no secret of theirs leaves them', async () => {
    const turn = await started('ask', 'refund', { order: 'B7' });
    const approval = await stack.worker.approvalOf('py-ask');
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

  it('that raise give the model the error, without secrets and marked as from others', async () => {
    const { ok, code, result } = await ended(await started('fail', 'fail', { order: 'F1' }));
    assert.deepEqual([ok, code], [false, 'ExecutionFailed']);
    assert.match(String(result), /LookupError: no order F1 for \[/);
    assert.doesNotMatch(`${String(result)}${program.output()}`, /sk-live/);
    assert.match(program.output(), /fail\.py", line \d+, in fail/);
  });

  it('DU-9 are reversed by their undo, after their probe when it is not known whether they took effect', async () => {
    for (const [order, result] of [
      ['room', 'rented room'],
      ['broken', 'rented broken'],
    ]) {
      const turn = await started('rented', 'rent', { order });
      await ended(turn);
      const { body } = await stack.ask('POST', `/v1/turns/${turn}/undo?wait=60`, { body: {} });
      assert.equal(body.calls[0].action, 'reversed', JSON.stringify(body));
      assert.equal(times(`cancel ${order}: ${result} True`), 1, witness());
    }
  });

  it('whose process is killed run again, are what a probe finds, or are unknown, as they say', async () => {
    const calls = {
      pay1: 'pay',
      ship1: 'ship',
      late1: 'ship',
      slow1: 'lookup',
      keep1: 'store',
      bad1: 'ship',
    };
    const rows = await killed(calls);
    const seen = Object.entries(rows).map(([order, { ok, code, result }]) => [order, ok ? result : code]);
    assert.deepEqual(Object.fromEntries(seen), {
      // Without a probe nobody knows, and nothing is done twice.
      pay1: 'OutcomeUnknown',
      // The probe finds that it has happened, or that it has not.
      ship1: 'shipped already',
      late1: 'shipped',
      slow1: '{"order":"slow1","cents":4200}',
      keep1: 'stored',
      // A probe that raises is tried again.
      bad1: 'shipped already',
    });
    const lines = ['pay pay1', 'ship ship1', 'ship late1', 'look slow1', 'store keep1', 'ship bad1'];
    assert.deepEqual(lines.map(times), [1, 1, 1, 2, 2, 1]);
    assert.match(program.output(), /The process of the Python tools has ended; it starts again/);
    const probe = `tool/${stack.tenant}/${rows['bad1']?.id}/1/probe`;
    const { activity } = stack.worker.client;
    const record = JSON.stringify(await activity.getHandle(probe).describe({ includeLastFailure: true }));
    assert.match(record, /ship has failed; its process says why/);
    assert.doesNotMatch(record, /cannot find|bad1/);
    assert.match(program.output(), /ValueError: cannot find bad1/);
  });

  it('are stopped with the turn, and when their time is over', async () => {
    const turn = await started('stop', 'pay', { order: 'P2' });
    assert.ok(await eventually(hangs('P2')));
    await stack.ask('POST', '/v1/sessions/py-stop/stop', { body: { level: 'now' } });
    assert.ok(await eventually(() => times('stopped P2') === 1));
    assert.equal((await ended(turn)).code, 'Cancelled');
    const late = await ended(await started('late', 'late', { order: 'L1' }));
    assert.deepEqual([late.ok, late.code], [false, 'Timeout']);
  });

  it('that have changed since they were registered are not served when their process starts again', async () => {
    const file = join(folder, 'tools/pay.py');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('"paid"', '"paid twice"'));
    const over = once(program.child, 'exit');
    const [pid = assert.fail('no process')] = pythons();
    process.kill(pid, 'SIGKILL');
    assert.deepEqual(await over, [1, null], program.output());
    assert.match(program.output(), /have changed since they were registered/);
    assert.equal(pythons().length, 0);
    program = await startToolHost(stack, folder, 'python-shop');
  });

  it('end with the program that started them, also when it is killed', async () => {
    program.child.kill('SIGKILL');
    assert.ok(await eventually(() => pythons().length === 0), program.output());
    program = await startToolHost(stack, folder, 'python-shop');
    program.child.kill('SIGINT');
    assert.deepEqual(await once(program.child, 'exit'), [0, null], program.output());
    assert.equal(pythons().length, 0);
  });
});
