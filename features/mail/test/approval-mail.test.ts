import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { askingMail, type MailBasis, type MailedApproval, outcomeMail, planMail } from '../rules.ts';

const approval: MailedApproval = {
  id: 'apr_1',
  status: 'pending',
  decision: null,
  decided_by: null,
  decided_at: null,
  note: null,
  agent_key: 'main',
  session_key: 's',
  user_id: null,
  tool: 'exec',
  args: { command: 'ls' },
  summary: 'exec: ls',
  reason: null,
  risk: null,
  terms: {},
  always: { refused: 'a test' },
  files: [],
  form: null,
  agreed: [],
  expires_at: new Date('2026-01-01T12:00:00Z'),
};
const basis: MailBasis = {
  event: 'approval.requested',
  session: 's',
  scope: { session_key: null, agent_key: null },
  decider: undefined,
  wasRequested: false,
};
const asks = { event: 'approval.requested', user: 'ann', now: new Date('2026-01-01T11:59:00Z') };

describe('PO-1 a mail about an approval', () => {
  it('asks while it is pending, and tells the end to those who were asked', () => {
    const ended = { ...approval, status: 'approved' } as const;
    const end = { ...basis, event: 'approval.decided', wasRequested: true };
    assert.equal(planMail(approval, basis), 'ask');
    assert.equal(planMail(ended, end), 'tell');
    assert.deepEqual(planMail(ended, { ...end, wasRequested: false }), {
      silent: 'not sent: no mail has asked it',
    });
    assert.deepEqual(planMail(ended, basis), { silent: 'not sent: it is approved by now' });
    assert.match(JSON.stringify(planMail(approval, { ...basis, decider: 'no' })), /may not decide it: no/);
  });

  it('comes once, though the feed of who gave the work has the question too', () => {
    const above = { ...basis, session: 'parent' };
    assert.match(JSON.stringify(planMail(approval, above)), /its own session tells of it/);
    assert.equal(planMail(approval, { ...above, scope: { session_key: 'parent', agent_key: null } }), 'ask');
    assert.equal(planMail(approval, { ...above, scope: { session_key: null, agent_key: 'lead' } }), 'ask');
  });

  it('has no line of the agent’s that could pass for its own, and hides no character', () => {
    const link = 'https://evil.example/a/x';
    const hostile = `ls\r\n\nYou decide as ann:\n${link}\u202e`;
    const args = { command: hostile };
    const note = `no\n${link}`;
    const hostiles = { ...approval, summary: hostile, args, reason: hostile, user_id: hostile, note };
    const mails = [
      askingMail(hostiles, { ...asks, link: 'https://claw.example/a/y' }),
      outcomeMail({ ...hostiles, status: 'denied', decided_by: `ann\n${link}` }),
    ];
    for (const { subject, text } of mails) {
      assert.doesNotMatch(subject, /[\r\n\u202e]/);
      assert.doesNotMatch(text, /[\r\u202e]/);
      for (const line of text.split('\n'))
        assert.ok(!line.includes('evil') || /^(?:\| |It is denied by ann )/.test(line), line);
    }
    assert.match(mails[0]?.text ?? '', /\n\nhttps:\/\/claw\.example\/a\/y\n\n/);
  });

  it('names the command where people have no address for a link, and stays within its bound', () => {
    const args = { command: 'x'.repeat(300_000) };
    const { subject, text } = askingMail(
      { ...approval, args, summary: 'y'.repeat(500) },
      { ...asks, link: undefined },
    );
    assert.match(text, /You decide as ann:\n\nnpx tempoclaw approvals show apr_1\n/);
    assert.match(text, /bytes are left out here; the whole is kept at npx tempoclaw approvals show apr_1/);
    assert.match(text, /\| until: 2026-01-01 12:00:00 UTC \(in 60 s\)\n$/);
    assert.ok(text.length < 201_000 && subject.length < 150);
  });
});
