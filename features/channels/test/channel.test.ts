import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chatIdOf, type Inbound, isAddressed, placeOfChat, pressData, readPress } from '../contract.ts';
import { approvalPost, editedPost, outcomePost, type ShownApproval } from '../rules/approval-post.ts';

const NOW = new Date('2030-01-02T03:00:00Z');
const DELIVERY = `msg_${'0a'.repeat(16)}`;

const approval: ShownApproval = {
  id: 'appr_1',
  agent_key: 'main',
  session_key: 's',
  user_id: 'ann',
  files: [],
  tool: 'exec',
  summary: 'rm *',
  args: { command: 'rm *', note: '```\n<b>' },
  reason: 'it deletes',
  risk: null,
  status: 'pending',
  decided_by: null,
  note: null,
  terms: {},
  agreed: [],
  escalated_at: null,
  expires_at: new Date('2030-01-02T03:04:05Z'),
  always: { pattern: 'p', shown: 'rm *' },
  form: null,
};

describe('IN-4 a channel', () => {
  it('names a chat and its thread by one text', () => {
    for (const place of [{ chat: '42' }, { chat: '-1001', thread: '7' }, { chat: 'C1', thread: '17.5/x' }])
      assert.deepEqual(placeOfChat(chatIdOf(place)), place);
  });

  it('hears in groups what is meant for it', () => {
    const inbound = { kind: 'message', isGroup: true, mentionsBot: false, repliesToBot: false } as Inbound;
    assert.ok(isAddressed({ ...inbound, isGroup: false }, 'none'));
    assert.ok(!isAddressed(inbound, 'mention') && isAddressed(inbound, 'all'));
    for (const meant of [{ mentionsBot: true }, { repliesToBot: true }, { kind: 'command' as const }]) {
      assert.ok(isAddressed({ ...inbound, ...meant }, 'mention'));
      assert.ok(!isAddressed({ ...inbound, ...meant }, 'none'));
    }
  });

  it('has buttons that hold what fits, and reads no others', () => {
    const data = pressData(DELIVERY, 'approve_always');
    assert.ok(Buffer.byteLength(data) <= 64);
    assert.deepEqual(readPress(data), { delivery: DELIVERY, decision: 'approve_always' });
    for (const other of ['', DELIVERY, `${DELIVERY}.x`, `${DELIVERY}.a `, `x${data}`])
      assert.equal(readPress(other), undefined);
  });
});

const ASKING = { delivery: DELIVERY, hasLinks: false };

describe('AP-1 an approval in a channel', () => {
  it('shows the whole call, and no line of it ends the code', () => {
    const { markdown, buttons } = approvalPost(approval, ASKING, NOW);
    assert.ok(markdown.includes(JSON.stringify(approval.args, undefined, 1)));
    assert.equal(markdown.split('\n').filter((line) => line.startsWith('```')).length, 2);
    assert.deepEqual(
      buttons?.map(({ label }) => label),
      ['Approve', 'Always', 'Reject'],
    );
  });

  it('says for whom and until when, and shows what would hide or reorder words', () => {
    const risky = {
      ...approval,
      reason: 'so\u202eit says',
      args: { command: 'a\u200bb' },
      summary: 'a\u200bb',
    };
    const { markdown } = approvalPost(risky, ASKING, NOW);
    for (const words of ['asked for: ann', 'until: 2030-01-02 03:04:05 UTC (in 4 min)', 'so⟨U+202E⟩it says'])
      assert.ok(markdown.includes(words), markdown);
    assert.equal(markdown.match(/a⟨U\+200B⟩b/g)?.length, 2);
    assert.doesNotMatch(markdown, /[\u200b\u202e]/);
  });

  it('IN-4: ends within no character where it is too long, because a service takes no half of one', () => {
    const args = { command: `a${'\u{1f600}'.repeat(6_100)}` };
    const { markdown } = approvalPost({ ...approval, args }, ASKING, NOW);
    const other = approvalPost({ ...approval, args: { command: args.command.slice(1) } }, ASKING, NOW);
    assert.deepEqual([markdown.isWellFormed(), other.markdown.isWellFormed()], [true, true]);
  });

  it('that was edited since can only be rejected by the button that showed another call', () => {
    const { markdown, buttons } = editedPost(approval, ASKING);
    assert.match(markdown, /edited since.*`tempoclaw approvals show appr_1`/);
    assert.deepEqual(
      buttons?.map(({ label }) => label),
      ['Reject'],
    );
  });

  it('can only be rejected where it is not seen whole, or asks for an answer', () => {
    const labels = (overrides: Partial<ShownApproval>) =>
      approvalPost({ ...approval, ...overrides }, ASKING, NOW).buttons?.map(({ label }) => label);
    assert.deepEqual(labels({ args: { command: 'x'.repeat(12_000) } }), ['Reject']);
    assert.deepEqual(labels({ form: { server: 'x', message: 'which?', fields: [] } }), ['Reject']);
    assert.deepEqual(labels({ always: { refused: 'it deletes' } }), ['Approve', 'Reject']);
    const linked = editedPost(approval, { ...ASKING, hasLinks: true }).buttons ?? [];
    assert.deepEqual(
      linked.map(({ label, data = '' }) => [label, readPress(data)?.decision]),
      [
        ['Reject', 'reject'],
        ['Say more', 'link'],
      ],
    );
  });

  it('has no buttons when it is over, and tells how far it is before', () => {
    const overrides = outcomePost({ ...approval, status: 'denied', decided_by: 'ann', note: 'no' });
    assert.match(overrides.markdown, /^\*\*Denied\*\* by ann: no/);
    assert.deepEqual(overrides.buttons, []);
    const counted = approvalPost({ ...approval, terms: { quorum: 2 }, agreed: ['ann'] }, ASKING, NOW);
    assert.match(counted.markdown, /agreed: 1 of 2: ann/);
    assert.equal(counted.buttons?.length, 3);
  });
});
