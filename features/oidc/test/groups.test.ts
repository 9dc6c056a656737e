/** IN-10, AP-4: groups of an identity provider as approvers, and votes of people who leave a group. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JWTPayload } from 'jose';
import { type Answer, type Stack, startStack } from '#test/support/stack.ts';
import { API, oidcSettings, startTestProvider, type TestProvider } from './test-provider.ts';

describe('IN-10 groups as approvers', () => {
  let provider: TestProvider;
  let stack: Stack;
  before(async () => {
    provider = await startTestProvider();
    const scopes = ['read', 'run', 'approve'];
    const { issuer } = provider;
    const ask = (terms: object) => ({ ask: [{ tool: 'poke', ...terms }] });
    stack = await startStack({
      oidc: oidcSettings({ name: 'login', issuer, audience: [API], rules: [{ tenantClaim: 'org', scopes }] }),
      agents: [
        { key: 'one', tools: ask({ approvers: { users: ['group:finance'] } }) },
        { key: 'two', tools: ask({ approvers: { users: ['group:finance', 'cyd'] }, quorum: 2 }) },
        {
          key: 'late',
          tools: ask({
            approvers: { users: ['zoe'] },
            escalate: { after_seconds: 1, to: { users: ['group:finance'] } },
          }),
        },
      ],
    });
  });
  after(async () => {
    await stack.stop();
    await provider.stop();
  });

  let issued = Math.floor(Date.now() / 1000) - 120;
  /** Each is newer than the one before. */
  const tokenOf = (sub: string, groups: readonly string[], more: JWTPayload = {}): Promise<string> => {
    issued += 1;
    return provider.sign({ sub, groups, org: stack.tenant, iat: issued, ...more });
  };
  async function askFor(note: string, agent: string): Promise<string> {
    await stack.ask('POST', `/v1/sessions/${note}/messages`, {
      body: { text: `poke {"note":"${note}"}`, agent },
    });
    return stack.worker.approvalOf(note);
  }
  const decide = (id: string, key: string, decision = 'approve'): Promise<Answer> =>
    stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision }, key });
  const show = async (id: string) => (await stack.ask('GET', `/v1/approvals/${id}`)).body;

  it('who has the group decides, and the record names issuer and subject; others see nothing', async () => {
    const id = await askFor('one-1', 'one');
    const [member, other] = [await tokenOf('ann', ['finance']), await tokenOf('bea', ['Finance', 'legal'])];
    assert.equal((await decide(id, other)).status, 403);
    const mine = (key: string) => stack.ask('GET', '/v1/approvals?mine=true&status=pending', { key });
    assert.deepEqual((await mine(other)).body.data, []);
    assert.deepEqual(
      (await mine(member)).body.data.map((one: { id: string }) => one.id),
      [id],
    );
    const receipt = await decide(id, member);
    assert.equal(receipt.body.status, 'approved', JSON.stringify(receipt.body));
    const [decision] = (await show(id)).decisions;
    assert.deepEqual([decision.by, decision.key_name], ['ann', `oidc:${provider.issuer}#ann`]);
  });

  it('a user or a key with the name of a group is not the group', async () => {
    const id = await askFor('one-2', 'one');
    const key = await stack.makeKey(['read', 'run', 'approve'], { user: 'group:finance' });
    assert.equal((await decide(id, key)).status, 403);
    const admin = await stack.makeKey(['admin'], { user: 'root' });
    assert.equal((await decide(id, admin)).status, 403, 'also an admin');
    const member = await tokenOf('ann', ['finance']);
    const link = await stack.ask('POST', `/v1/approvals/${id}/links`, { key: member, body: { for: 'ann' } });
    assert.equal(link.status, 422, 'a link knows no groups');
    assert.equal((await decide(id, await tokenOf('ann', ['finance']), 'reject')).body.status, 'denied');
  });

  it('a person who leaves the group loses an open vote, and an older token does not bring it back', async () => {
    const id = await askFor('two-1', 'two');
    const old = await tokenOf('ann', ['finance'], { jti: 'old' });
    assert.equal((await decide(id, old)).body.tally, '1 of 2');
    await stack.ask('GET', '/v1/me', { key: await tokenOf('ann', ['sales']) });
    assert.deepEqual((await show(id)).approved_by, []);
    assert.equal((await show(id)).decisions[0].counts, false);
    const again = await tokenOf('ann', ['finance'], { jti: 'replayed', iat: issued - 1 });
    assert.equal((await decide(id, again)).status, 403);
    assert.equal((await decide(id, await tokenOf('bea', ['finance']))).body.tally, '1 of 2');
    const named = await stack.makeKey(['read', 'approve'], { user: 'cyd' });
    const last = await decide(id, named);
    assert.deepEqual([last.body.status, last.body.decided_by], ['approved', 'bea, cyd']);
  });

  it('who comes back to the group has the vote again, once', async () => {
    const id = await askFor('two-2', 'two');
    await decide(id, await tokenOf('ann', ['finance']));
    await stack.ask('GET', '/v1/me', { key: await tokenOf('ann', []) });
    assert.equal((await show(id)).tally, '0 of 2');
    const back = await decide(id, await tokenOf('ann', ['finance']));
    assert.deepEqual([back.body.tally, back.body.status], ['1 of 2', 'pending']);
  });

  it('a person who is barred here has no vote', async () => {
    const id = await askFor('two-3', 'two');
    const token = await tokenOf('eve', ['finance']);
    assert.equal((await decide(id, token)).body.tally, '1 of 2');
    const { body } = await stack.ask('GET', '/v1/me', { key: token });
    await stack.ask('DELETE', `/v1/api-keys/${body.key.id}`);
    assert.deepEqual((await show(id)).approved_by, []);
    assert.equal((await decide(id, token)).status, 401);
  });

  it('an escalation to a group lets its people decide', async () => {
    const id = await askFor('late-1', 'late');
    const member = await tokenOf('ann', ['finance']);
    await stack.worker.until('the escalation', async () =>
      (await show(id)).escalated_at === null ? undefined : true,
    );
    assert.equal((await decide(id, member)).body.status, 'approved');
  });
});
