/** IN-11: one approval is open in every protocol at once; whichever decides first wins, and the others show it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createChance, seedOfRun } from '#test/support/seeded.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const RACES = Number(process.env['TEST_RACES'] ?? 40);
/** Races at the same time. */
const LANES = 4;
const JITTER_MS = 300;

interface Race {
  readonly session: string;
  readonly chat: string;
  readonly turn: string;
  readonly call: string;
  readonly approval: string;
  readonly digest: string;
  readonly link: string;
  readonly text: string;
}

interface Said {
  readonly status: number;
  readonly text: string;
}

type Decide = (race: Race, approve: boolean) => Promise<Said>;

describe('IN-11 one approval in all protocols', { timeout: 1_800_000 }, () => {
  let stack: Stack;
  const chance = createChance(seedOfRun());
  before(async () => {
    stack = await startStack();
  });
  after(() => stack?.stop());

  async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Said> {
    const answer = await fetch(`${stack.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${stack.key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text() };
  }
  const handle = ({ approval }: Race) => stack.worker.client.workflow.getHandle(`approval/${approval}`);
  const word = (approve: boolean) => (approve ? 'approve' : 'reject');

  const PROTOCOLS: Readonly<Record<string, Decide>> = {
    http: ({ approval }, approve) => post(`/v1/approvals/${approval}/decision`, { decision: word(approve) }),
    link: async ({ link, digest }, approve) => {
      const form = new URLSearchParams({ decision: word(approve), digest });
      const answer = await fetch(link, { method: 'POST', redirect: 'manual', body: form });
      return { status: answer.status, text: await answer.text() };
    },
    'Temporal update': async (race, approve) => {
      try {
        const args = [{ decision: word(approve), by: 'an update' }];
        const receipt = await handle(race).executeUpdate('decide', { args: args as [object] });
        return { status: 200, text: JSON.stringify(receipt) };
      } catch (error) {
        return { status: 409, text: String((error as { cause?: unknown }).cause ?? error) };
      }
    },
    'Temporal signal': async (race, approve) => {
      const sent = handle(race).signal('decide', { decision: word(approve), by: 'a signal' });
      // An approval that is over takes no signal.
      await sent.catch((error: unknown) => assert.match(String(error), /not found|completed/i));
      return { status: 202, text: '' };
    },
    mcp: ({ approval, digest }, approve) =>
      post(
        '/mcp',
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: {
            name: 'decide',
            arguments: { approval_id: approval, decision: word(approve), digest },
          },
        },
        { 'mcp-protocol-version': '2025-11-25' },
      ),
    a2a: ({ turn, approval }, approve) =>
      post(
        '/v1/a2a/main/message:send',
        {
          message: {
            messageId: randomUUID(),
            taskId: turn,
            role: 'ROLE_USER',
            parts: [{ data: { approval, approve } }],
          },
        },
        { 'a2a-version': '1.0' },
      ),
    'ag-ui': ({ session, approval }, approve) =>
      post('/v1/ag-ui/main', {
        threadId: session,
        runId: randomUUID(),
        messages: [],
        resume: [{ interruptId: approval, status: 'resolved', payload: { approved: approve } }],
      }),
    'ui stream': ({ chat, call, approval, text }, approve) =>
      post('/v1/ui/main', {
        id: chat,
        messages: [
          { id: 'u', role: 'user', parts: [{ type: 'text', text }] },
          {
            id: 'a',
            role: 'assistant',
            parts: [
              {
                type: 'dynamic-tool',
                toolName: 'poke',
                toolCallId: call,
                state: 'approval-responded',
                input: {},
                approval: { id: approval, approved: approve },
              },
            ],
          },
        ],
      }),
  };

  async function open(n: number): Promise<Race> {
    const chat = `race-${n}`;
    const session = `ui-${chat}`;
    const text = `poke {"note":"${chat}"}\nthen\nOver.`;
    const { turn_id: turn } = await stack.worker.say(session, text);
    const approval = await stack.worker.approvalOf(session);
    const { body: row } = await stack.ask('GET', `/v1/approvals/${approval}`);
    const { body: link } = await stack.ask('POST', `/v1/approvals/${approval}/links`, {
      body: { for: 'ann' },
    });
    const page = await (await fetch(link.url)).text();
    const digest = /name="digest" value="([0-9a-f]{64})"/.exec(page)?.[1] ?? '';
    return { session, chat, turn, call: row.call_id, approval, digest, link: link.url, text };
  }

  async function race(n: number): Promise<string> {
    const one = await open(n);
    const approves = new Map(Object.keys(PROTOCOLS).map((name) => [name, chance.between(0, 1) === 1]));
    const said = await Promise.all(
      Object.entries(PROTOCOLS).map(async ([name, decide]) => {
        // A signal takes the shortest way, and would win each time.
        await sleep(chance.between(0, JITTER_MS));
        const answer = await decide(one, approves.get(name) === true);
        return { name, ...answer };
      }),
    );
    const ended = await stack.worker.ended(one.turn);
    assert.deepEqual([ended.status, ended.text], ['completed', 'Over.']);
    const { body: row } = await stack.ask('GET', `/v1/approvals/${one.approval}`);
    for (const { name, status, text } of said)
      assert.ok(status < 500, `${name} answered ${status}: ${text.slice(0, 300)}`);
    const effects = stack.worker.probes.effects.filter(({ note }) => note === one.chat).length;
    assert.equal(effects, row.status === 'approved' ? 1 : 0, `${row.status} and ${effects} effects`);
    const events = await stack.worker.events(one.session);
    const decided = events.filter(({ type }) => type === 'approval.decided');
    assert.equal(decided.length, 1);
    // Whoever has a receipt of its own has the decision that counts.
    for (const { name, status, text } of said)
      if (status === 200 && (name === 'http' || name === 'Temporal update'))
        assert.equal(JSON.parse(text).decision, row.decision, `${name}: ${text}`);
    return row.decided_by;
  }

  it(`has one winner, one effect or none, and no error of the server in ${RACES} races`, async (t) => {
    t.diagnostic(`seed ${chance.seed} (TEST_SEED repeats it)`);
    const winners = new Map<string, number>();
    let next = 0;
    await Promise.all(
      Array.from({ length: LANES }, async () => {
        while (next < RACES) {
          next += 1;
          const by = await race(next);
          winners.set(by, (winners.get(by) ?? 0) + 1);
        }
      }),
    );
    t.diagnostic([...winners].map(([name, count]) => `${name}: ${count}`).join(', '));
    assert.equal(
      [...winners.values()].reduce((a, b) => a + b, 0),
      RACES,
    );
  });

  for (const [name, decide] of Object.entries(PROTOCOLS))
    it(`is decided by ${name}, and shown by the others`, async () => {
      const one = await open(RACES + 1 + Object.keys(PROTOCOLS).indexOf(name));
      const said = await decide(one, true);
      assert.ok(said.status < 300 || said.status === 303, `${said.status}: ${said.text.slice(0, 300)}`);
      assert.equal((await stack.worker.ended(one.turn)).text, 'Over.');
      assert.equal(stack.worker.probes.effects.filter(({ note }) => note === one.chat).length, 1);
      const { body } = await stack.ask('GET', `/v1/approvals/${one.approval}`);
      assert.equal(body.decision, 'approve');
      const page = await (await fetch(one.link)).text();
      assert.match(page, /approved/i);
      const task = await (
        await fetch(`${stack.url}/v1/a2a/main/tasks/${one.turn}`, {
          headers: { authorization: `Bearer ${stack.key}`, 'a2a-version': '1.0' },
        })
      ).text();
      assert.match(task, /TASK_STATE_COMPLETED/);
      for (const other of ['ag-ui', 'ui stream']) {
        const { text } = (await PROTOCOLS[other]?.(one, true)) ?? { text: '' };
        assert.match(text, /Over\./, other);
      }
    });
});
