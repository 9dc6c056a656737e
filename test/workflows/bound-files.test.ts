/** AP-4: an approval of a command covers the files that it runs, as they were when it was requested. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createTurnLedger } from '#store/turns/turn-ledger.ts';
import { approvalWorkflowId } from '#domain/ids.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('AP-4 what an approved command runs', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      agents: [
        { key: 'main', exec: { security: 'full', ask: 'on-miss' } },
        { key: 'free', workspace: 'main', exec: { security: 'full', ask: 'off' } },
      ],
    });
  });
  after(() => stack.stop());

  /** Runs in the workspace, without approval. */
  async function shell(command: string): Promise<void> {
    const { turn_id } = await stack.worker.say('free', `exec ${JSON.stringify({ command })}`, {
      agent: 'free',
    });
    await stack.worker.ended(turn_id);
    const [call] = await stack.worker.calls(turn_id);
    assert.equal(call?.ok, true, call?.result ?? '');
  }

  const write = (path: string, text: string): Promise<void> => shell(`printf %s '${text}' > ${path}`);

  async function ask(session: string, command: string): Promise<{ turn: string; id: string }> {
    const { turn_id } = await stack.worker.say(session, `exec ${JSON.stringify({ command })}`);
    return { turn: turn_id, id: await stack.worker.approvalOf(session) };
  }

  const show = async (id: string) => (await stack.ask('GET', `/v1/approvals/${id}`)).body;

  async function decide(id: string, body: Record<string, unknown>): Promise<void> {
    const answer = await stack.ask('POST', `/v1/approvals/${id}/decision`, { body });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  }

  /** Approves, and returns the approval that the call then waits for. */
  async function askedAgain(session: string, id: string): Promise<string> {
    await decide(id, { decision: 'approve' });
    return stack.worker.until('another approval', async () => {
      const again = (await stack.worker.state(session))?.waiting_for[0]?.approval_id;
      if (again === undefined || again === id) return undefined;
      const handle = stack.worker.client.workflow.getHandle(approvalWorkflowId(again));
      return handle.describe().then(
        () => again,
        () => undefined,
      );
    });
  }

  async function resultOf(turn: string): Promise<string> {
    await stack.worker.ended(turn);
    const [call] = await stack.worker.calls(turn);
    return call?.result ?? '';
  }

  it('a script that was swapped while it waited is asked about anew, and runs as it was then', async () => {
    await write('run.sh', 'echo first');
    const { turn, id } = await ask('swapped', 'bash run.sh');
    const request = await show(id);
    assert.deepEqual(request.files, [
      { path: 'run.sh', sha256: sha('echo first'), bytes: 10, missing: false, unbound: null },
    ]);
    assert.match(request.always.refused, /runs files of the workspace/);
    await write('run.sh', 'echo other');
    const again = await show(await askedAgain('swapped', id));
    assert.equal(again.reason, 'run.sh has changed since the call was approved');
    assert.equal(again.files[0].sha256, sha('echo other'));
    assert.notEqual(again.digest, request.digest);
    assert.equal(again.status, 'pending');
    await decide(again.id, { decision: 'approve' });
    assert.equal(await resultOf(turn), 'other');
    const types = (await stack.worker.events('swapped')).map(({ type }) => type);
    assert.equal(types.filter((type) => type === 'approval.requested').length, 2);
  });

  it('a script that was swapped and swapped back runs without another question', async () => {
    await write('back.sh', 'echo back');
    const { turn, id } = await ask('back', 'sh < back.sh');
    await write('back.sh', 'echo evil');
    await write('back.sh', 'echo back');
    await decide(id, { decision: 'approve' });
    assert.equal(await resultOf(turn), 'back');
  });

  for (const [what, setup, change, command] of [
    [
      'a link that leads elsewhere',
      'echo echo a > a.sh; echo echo b > b.sh; ln -sfn a.sh link.sh',
      'ln -sfn b.sh link.sh',
      './link.sh',
    ],
    ['a script that is gone', 'echo echo x > gone.sh', 'rm gone.sh', 'cat gone.sh | bash'],
    ['a script that was made meanwhile', 'true', 'echo echo made > made.sh', 'bash made.sh'],
    [
      'the script of a makefile’s package',
      'echo "{}" > package.json',
      'echo "{\\"a\\":1}" > package.json',
      'npm --silent exec nothing',
    ],
  ] as const)
    it(`${what} is asked about anew, and a refusal is a refusal`, async () => {
      await shell(setup);
      const session = `case-${change.length}`;
      const { turn, id } = await ask(session, command);
      await shell(change);
      const again = await askedAgain(session, id);
      await decide(again, { decision: 'reject', reason: 'no' });
      assert.match(await resultOf(turn), /^ApprovalDenied: .* It has not run\.$/);
    });

  it('what changes each time is asked about three times, and then denied', async () => {
    await write('restless.sh', 'echo 0');
    const { turn, id } = await ask('restless', 'bash restless.sh');
    let requested = id;
    for (const n of [1, 2]) {
      await write('restless.sh', `echo ${n}`);
      requested = await askedAgain('restless', requested);
    }
    await write('restless.sh', 'echo 3');
    await decide(requested, { decision: 'approve' });
    assert.match(await resultOf(turn), /^ApprovalDenied: restless\.sh has changed .* 3 times in a row/);
  });

  it('DU-2 an attempt that died after it had asked anew finds the question, and asks no second one', async () => {
    await write('died.sh', 'echo 0');
    const { turn, id } = await ask('died', 'bash died.sh');
    await write('died.sh', 'echo 1');
    const again = await askedAgain('died', id);
    const [call] = await stack.worker.calls(turn);
    const ledger = createTurnLedger(stack.pool, () => undefined);
    const rules = { once: true, reads: false, perHour: 0, burst: 1 };
    const claim = await ledger.claim(stack.tenant, call?.id ?? '', 'another attempt', rules);
    assert.deepEqual([claim.kind, 'approval' in claim && claim.approval], ['asked', again]);
    await decide(again, { decision: 'approve' });
    assert.equal(await resultOf(turn), '1');
  });

  it('an edit is bound to the files that the edited command runs', async () => {
    await write('mine.sh', 'echo mine');
    const { turn, id } = await ask('edited', 'bash run.sh');
    await decide(id, { decision: 'edit', args: { command: 'bash mine.sh' } });
    assert.equal(await resultOf(turn), 'mine');
    assert.deepEqual(
      (await show(id)).files.map((file: { path: string }) => file.path),
      ['mine.sh'],
    );
  });

  it('files outside of the workspace, and those that nobody can name before, are told as not bound', async () => {
    const { turn, id } = await ask(
      'outside',
      'bash /tmp/nothing-of-ours.sh; for f in *.none; do bash $f; done',
    );
    assert.deepEqual(
      (await show(id)).files.map(({ path, unbound }: { path: string; unbound: string }) => [path, unbound]),
      [
        ['/tmp/nothing-of-ours.sh', 'it is outside of the workspace or no plain file'],
        ['others', 'which files it runs is known only when it runs'],
      ],
    );
    await decide(id, { decision: 'reject' });
    await resultOf(turn);
  });
});
