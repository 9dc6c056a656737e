/** IN-10, SH-4: a program that each user gives credentials for runs with those of the turn's user alone; in a real stack. */
import assert from 'node:assert/strict';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

/** Says whose token it got, in words that are no secret. */
const PROGRAM = `#!/bin/sh
case "$DESK_TOKEN" in *-of-eve) echo "you are eve in $DESK_REGION" ;; *-of-adam) echo "you are adam" ;; *) echo "nobody" ;; esac
echo "$DESK_TOKEN"
`;

describe('IN-10 users’ own credentials for programs', () => {
  let stack: Stack;
  let folder: string;
  const keys: Record<string, string> = {};
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'desk-')));
    const path = join(folder, 'desk');
    await writeFile(path, PROGRAM, { mode: 0o755 });
    stack = await startStack({});
    for (const user of ['eve', 'adam'])
      keys[user] = await stack.makeKey(['read', 'run', 'approve'], { user });
    const env = [{ name: 'DESK_REGION', kind: 'value', value: 'north' }];
    const body = { path, agents: ['*'], env, user_env: ['DESK_TOKEN'] };
    const made = await stack.ask('PUT', '/v1/secure-clis/desk', { body });
    assert.deepEqual([made.status, made.body.user_env], [200, ['DESK_TOKEN']], JSON.stringify(made.body));
  });
  after(async () => {
    await stack.stop();
    await rm(folder, { recursive: true });
  });

  const give = (user: string, env: object, query = '') =>
    stack.ask('PUT', `/v1/secure-clis/desk/user-credentials${query}`, {
      key: keys[user] ?? '',
      body: { env },
    });

  async function result(turn: string): Promise<string> {
    await stack.worker.ended(turn);
    return (await stack.worker.calls(turn))[0]?.result ?? '';
  }
  const say = (session: string, user?: string) =>
    stack.worker.say(session, 'credentialed_exec {"binary":"desk"}', user === undefined ? {} : { user });

  it('a call waits for what its user has not given, and goes on with it by itself; nobody else can end it', async () => {
    const { turn_id } = await say('shared', 'eve');
    const id = await stack.worker.approvalOf('shared');
    const { body } = await stack.ask('GET', `/v1/approvals/${id}`);
    assert.deepEqual([body.form.login, body.form.server, body.user], ['program', 'desk', 'eve']);
    assert.match(body.form.message, /has not given DESK_TOKEN.*secure-clis credentials desk FILE/);
    const decision = { key: keys['adam'] ?? '', body: { decision: 'approve' } };
    assert.ok((await stack.ask('POST', `/v1/approvals/${id}/decision`, decision)).status >= 403);
    assert.equal((await give('adam', { DESK_TOKEN: 'secret-of-adam' })).status, 200);
    assert.equal((await stack.ask('GET', `/v1/approvals/${id}`)).body.status, 'pending');
    const given = await give('eve', { DESK_TOKEN: 'secret-of-eve' });
    assert.deepEqual(
      [given.body.env_names, /secret-of/.test(JSON.stringify(given.body))],
      [['DESK_TOKEN'], false],
    );
    const text = await result(turn_id);
    assert.match(text, /you are eve in north/);
    assert.doesNotMatch(text, /secret-of-eve/);
    assert.match(await result((await say('shared', 'adam')).turn_id), /you are adam/);
    assert.match(await result((await say('shared')).turn_id), /this turn is nobody's/);
  });

  it('a refusal is a result, and what is removed is asked for again', async () => {
    const path = '/v1/secure-clis/desk/user-credentials';
    assert.equal((await stack.ask('DELETE', path, { key: keys['eve'] ?? '' })).status, 204);
    assert.equal((await stack.ask('GET', path, { key: keys['eve'] ?? '' })).status, 404);
    const { turn_id } = await say('refused', 'eve');
    const id = await stack.worker.approvalOf('refused');
    const body = { decision: 'reject' };
    await stack.ask('POST', `/v1/approvals/${id}/decision`, { key: keys['eve'] ?? '', body });
    assert.match(await result(turn_id), /ApprovalDenied: .*does not log in for the program desk/);
  });

  it('a user gives his own alone, and just the variables that an admin named', async () => {
    assert.equal((await give('eve', { DESK_TOKEN: 'secret-of-eve' }, '?user=adam')).status, 403);
    assert.equal((await give('eve', { OTHER_TOKEN: 'secret-of-eve' })).status, 422);
    assert.equal((await give('eve', {})).status, 422);
    const { rows } = await stack.pool.query('select t::text as row from secure_cli_credentials t');
    assert.ok(rows.length > 0 && rows.every(({ row }) => !/secret-of/.test(row)));
  });
});
