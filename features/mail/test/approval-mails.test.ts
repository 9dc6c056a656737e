/** PO-1: approvals are requested by mail, its link decides them, and a mail about the outcome answers that mail. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { runCli } from '#test/cli/support/run-cli.ts';
import { type MailServer, type ReceivedMail, startMailServer } from './mail-server.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { startSite } from '#test/support/web-site.ts';

const PUBLIC = 'https://claw.example';

interface Mailing extends Stack {
  readonly mail: MailServer;
}

async function start(
  t: TestContext,
  {
    settings = {},
    as = '',
    ...server
  }: { settings?: object; as?: string } & Parameters<typeof startMailServer>[1] = {},
): Promise<Mailing> {
  const mail = await startMailServer(t, server);
  const asking = (terms: object) => ({ ask: [{ tool: 'poke', ...terms }] });
  const stack = await startStack({
    settings: JSON.stringify({
      api: { publicUrl: `${PUBLIC}/` },
      mail: { url: `smtp://${as}127.0.0.1:${mail.port}?tls=none`, from: 'claw@example.com' },
      webhooks: { retrySeconds: Array.from({ length: 20 }, () => 0.05) },
      ...settings,
    }),
    agents: [
      { key: 'two', tools: asking({ quorum: 2 }) },
      { key: 'named', tools: asking({ approvers: { users: ['ann'] } }) },
      {
        key: 'slow',
        tools: asking({
          approvers: { users: ['ann'] },
          escalate: { after_seconds: 1, to: { users: ['dan'] } },
        }),
      },
    ],
  });
  t.after(() => stack.stop());
  return { ...stack, mail };
}

async function write(stack: Stack, user: string, body: object = {}): Promise<string> {
  const request = { url: `mailto:${user}@example.com`, events: ['approval.*'], user, ...body };
  const made = await stack.ask('POST', '/v1/webhooks', { body: request });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.id;
}

async function askFor(stack: Stack, note: string, agent = 'main') {
  const { turn_id } = await stack.worker.say(note, `poke ${JSON.stringify({ note })}`, { agent });
  return { turn: turn_id, id: await stack.worker.approvalOf(note) };
}

const decide = async (
  stack: Stack,
  id: string,
  decision: object = { decision: 'approve' },
  key = stack.key,
) => {
  const decided = await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: decision, key });
  assert.equal(decided.status, 200, JSON.stringify(decided.body));
};

/** A mail may come more than once; this is what a program that knows its id shows. */
function shown({ mail }: Mailing): ReceivedMail[] {
  return [...new Map(mail.mails.map((one) => [one.headers['message-id'], one])).values()];
}

async function mailsTo(stack: Mailing, user: string, count: number): Promise<ReceivedMail[]> {
  return stack.worker.until(`${count} mails to ${user}`, () => {
    const got = shown(stack).filter(({ to }) => to[0] === `${user}@example.com`);
    return got.length >= count ? got : undefined;
  });
}

async function deliveriesOf(stack: Stack, id: string, count: number): Promise<any[]> {
  return stack.worker.until('their ends', async () => {
    const { body } = await stack.ask('GET', `/v1/webhooks/${id}/deliveries`);
    const overrides = body.data.filter((one: any) => one.status !== 'pending');
    return overrides.length >= count ? overrides : undefined;
  });
}

function linkIn(stack: Stack, { text }: ReceivedMail): string {
  const link = new RegExp(`^${PUBLIC}/a/[\\w-]{43}$`, 'm').exec(text)?.[0];
  assert.ok(link, text);
  return link.replace(PUBLIC, stack.url);
}

async function press(link: string, decision: string): Promise<number> {
  const page = await (await fetch(link)).text();
  const digest = /name="digest" value="([0-9a-f]{64})"/.exec(page)?.[1] ?? '';
  const body = new URLSearchParams({ decision, digest });
  return (await fetch(link, { method: 'POST', body, redirect: 'manual' })).status;
}

describe('PO-1 AP-2 mails about approvals', () => {
  it('show the call and a link, which decides by its button and not by being opened; the end answers them', async (t) => {
    const stack = await start(t);
    const webhook = await write(stack, 'ann');
    const { id, turn } = await askFor(stack, 'mail-1');
    const [mail] = await mailsTo(stack, 'ann', 1);
    assert.ok(mail);
    assert.match(mail.headers['subject'] ?? '', /^Approval: poke: mail-1$/);
    assert.match(mail.text, /You decide as ann:/);
    assert.match(mail.text, /^poke with these arguments:\n\| \{\n\| {3}"note": "mail-1"\n\| \}$/m);
    assert.match(mail.text, /^\| agent: main\n\| session: mail-1$/m);
    assert.match(mail.text, /^\| because: test$/m);
    assert.match(mail.text, /^\| until: .* UTC \(in /m);

    const link = linkIn(stack, mail);
    for (const method of ['GET', 'HEAD', 'GET']) assert.equal((await fetch(link, { method })).status, 200);
    assert.equal((await stack.ask('GET', `/v1/approvals/${id}`)).body.status, 'pending');
    assert.equal(await press(link, 'approve'), 303);
    assert.equal((await stack.worker.ended(turn)).status, 'completed');
    const { body } = await stack.ask('GET', `/v1/approvals/${id}`);
    assert.deepEqual([body.status, body.decided_by, body.decisions[0].via], ['approved', 'ann', 'link']);

    const [, notice] = await mailsTo(stack, 'ann', 2);
    assert.equal(notice?.headers['in-reply-to'], mail.headers['message-id']);
    assert.equal(notice?.headers['references'], mail.headers['message-id']);
    assert.equal(notice?.headers['subject'], mail.headers['subject']);
    assert.match(notice?.text ?? '', /^It is approved by ann since /);
    assert.doesNotMatch(notice?.text ?? '', /\/a\//);
    const rows = await deliveriesOf(stack, webhook, 2);
    assert.deepEqual(
      rows.map(({ status, last_status, problem }) => [status, last_status, problem]),
      [
        ['delivered', 250, null],
        ['delivered', 250, null],
      ],
    );
    assert.equal(shown(stack).length, 2);
  });

  it('go to those who may decide, again when others may, and with the tally of a quorum', async (t) => {
    const stack = await start(t);
    const bob = await write(stack, 'bob');
    await Promise.all([write(stack, 'ann'), write(stack, 'dan')]);
    await askFor(stack, 'named', 'named');
    await mailsTo(stack, 'ann', 1);
    const [skipped] = await deliveriesOf(stack, bob, 1);
    assert.deepEqual([skipped.status, skipped.last_status], ['delivered', null]);
    assert.match(skipped.problem, /not sent: the reader may not decide it: you are not among its approvers/);

    const slow = await askFor(stack, 'slow', 'slow');
    const [late] = await mailsTo(stack, 'dan', 1);
    assert.match(late?.text ?? '', /^Nobody has decided it in time; others may decide it as well\./);
    await mailsTo(stack, 'ann', 2);
    assert.equal(await press(linkIn(stack, late as ReceivedMail), 'reject'), 303);
    await stack.worker.ended(slow.turn);
    const about = (mails: ReceivedMail[], note: string) => mails.filter(({ text }) => text.includes(note));
    const end = await stack.worker.until('the end', () =>
      about(shown(stack), 'slow').find(
        ({ to, text }) => to[0] === 'ann@example.com' && text.startsWith('It is denied'),
      ),
    );
    assert.match(end.text, /^It is denied by dan/);

    const two = await askFor(stack, 'two', 'two');
    const dan = await stack.makeKey(['approve'], { user: 'dan' });
    await decide(stack, two.id, { decision: 'approve' }, dan);
    const tally = await stack.worker.until('the tally', () =>
      shown(stack).find(
        ({ to, text }) => to[0] === 'ann@example.com' && text.startsWith('1 of 2 have agreed'),
      ),
    );
    assert.equal(await press(linkIn(stack, tally), 'approve'), 303);
    assert.equal((await stack.worker.ended(two.turn)).status, 'completed');
    assert.ok(!shown(stack).some(({ to, text }) => to[0] === 'dan@example.com' && text.startsWith('1 of 2')));
  });

  it('tell that it is withdrawn', async (t) => {
    const stack = await start(t);
    await write(stack, 'ann');
    await askFor(stack, 'stopped');
    await mailsTo(stack, 'ann', 1);
    const stopped = await stack.ask('POST', '/v1/sessions/stopped/stop', { body: {} });
    assert.ok(stopped.status < 300, JSON.stringify(stopped.body));
    const [, mail] = await mailsTo(stack, 'ann', 2);
    assert.match(mail?.text ?? '', /^It is withdrawn/);
  });

  it('wait for a server that is away, and are not sent when they have nothing left to ask', async (t) => {
    let isAway = true;
    let refused = 0;
    const refuse = () => {
      refused += isAway ? 1 : 0;
      return isAway ? '451 come back later' : undefined;
    };
    const stack = await start(t, { refuse, settings: { webhooks: { retrySeconds: Array(20).fill(2) } } });
    const webhook = await write(stack, 'ann');
    const gone = await askFor(stack, 'gone');
    await stack.worker.until('an attempt', () => (refused > 0 ? true : undefined));
    await decide(stack, gone.id);
    await stack.worker.ended(gone.turn);
    await askFor(stack, 'waits');
    await stack.worker.until('more attempts', () => (refused > 1 ? true : undefined));
    isAway = false;
    const [mail] = await mailsTo(stack, 'ann', 1);
    assert.match(mail?.text ?? '', /"note": "waits"/);
    const rows = await deliveriesOf(stack, webhook, 3);
    const problems = rows.filter(({ session_key }) => session_key === 'gone').map(({ problem }) => problem);
    assert.deepEqual(problems.toSorted(), [
      'not sent: it is approved by now',
      'not sent: no mail has asked it',
    ]);
  });

  it('DU-12 wait behind a breaker while their server fails, and all go out once it works', async (t) => {
    let isAway = true;
    const stack = await start(t, { refuse: () => (isAway ? '451 try again later' : undefined) });
    const id = await write(stack, 'ann');
    const sessions = ['1', '2', '3', '4', '5', '6'];
    for (const session of sessions) await askFor(stack, session);
    const show = async () => (await stack.ask('GET', `/v1/webhooks/${id}`)).body;
    await stack.worker.until('an open breaker', async () => (await show()).state !== 'closed' || undefined);
    isAway = false;
    assert.equal((await mailsTo(stack, 'ann', sessions.length)).length, sessions.length);
    await stack.worker.until('a closed breaker', async () => (await show()).state === 'closed' || undefined);
  });

  it('that are refused for good are not tried again, and hold up no other', async (t) => {
    let isKnown = false;
    const stack = await start(t, { refuse: () => (isKnown ? undefined : '550 no such person') });
    const webhook = await write(stack, 'ann');
    await askFor(stack, 'refused');
    const [failed] = await deliveriesOf(stack, webhook, 1);
    assert.deepEqual([failed.status, failed.attempts, failed.last_status], ['failed', 1, 550]);
    assert.match(failed.problem, /no such person/);
    isKnown = true;
    const again = await stack.ask('POST', `/v1/webhooks/${webhook}/deliveries/${failed.id}/redeliver`);
    assert.equal(again.status, 200);
    const [mail] = await mailsTo(stack, 'ann', 1);
    assert.equal(mail?.headers['message-id'], `<${failed.id}@example.com>`);
  });

  it('SC-3 show no secret', async (t) => {
    const secret = `ghp_${'k3Y'.repeat(12)}`;
    const stack = await start(t);
    await write(stack, 'ann');
    await stack.worker.say('secret', `poke ${JSON.stringify({ note: `with ${secret}` })}`);
    const [mail] = await mailsTo(stack, 'ann', 1);
    assert.match(mail?.text ?? '', /"note": "with \S+"/);
    assert.ok(!`${mail?.headers['subject']}${mail?.text}${mail?.raw}`.includes('k3Yk3Y'));
  });

  it('SC-2 tell nobody the password of the server, which may say again what it was told', async (t) => {
    const value = 'mail-password-4711';
    const stack = await start(t, { as: `claw:${value}@`, password: 'another', allowInsecureAuth: true });
    await write(stack, 'ann');
    const test = await stack.ask('POST', '/v1/approvals/notify-test', { body: {} });
    assert.match(test.body.data[0].problem, /who is claw with/);
    const { rows } = await stack.pool.query('select * from webhook_deliveries');
    assert.ok(!JSON.stringify([test.body, rows]).includes(value));
  });
});

describe('PO-1 what mails are set up by', () => {
  it('is one address, for approvals alone; nothing else can be put into it', async (t) => {
    const stack = await start(t);
    const url = 'mailto:ann@example.com';
    for (const [body, what] of [
      [{ url: 'mailto:ann@example.com,eve@example.com' }, /one address/],
      [{ url: 'mailto:ann@example.com?bcc=eve@example.com' }, /one address/],
      [{ url: 'mailto:ann@example.com\r\nBcc: eve@example.com' }, /one address/],
      [{ url: 'mailto:ann%0d%0a@example.com' }, /one address/],
      [{ url: 'mailto:' }, /one address/],
      [{ url, events: ['approval.*', 'turn.completed'] }, /approvals only, not of turn.completed/],
      [{ url, events: ['*'] }, /approvals only/],
      [{ url: 'https://example.com/hook', user: 'ann' }, /only a webhook to mailto:/],
    ] as const) {
      const refused = await stack.ask('POST', '/v1/webhooks', { body: { events: ['approval.*'], ...body } });
      assert.ok([400, 422].includes(refused.status), JSON.stringify(refused.body));
      assert.match(JSON.stringify(refused.body), what);
    }
    const id = await write(stack, 'ann');
    const set = (body: object) => stack.ask('PATCH', `/v1/webhooks/${id}`, { body });
    assert.equal((await set({ events: ['*'] })).status, 422);
    const changed = await set({ url: 'mailto:dan@example.com', user: null, ordered: false });
    assert.deepEqual(
      [changed.body.url, changed.body.user, changed.body.ordered],
      ['mailto:dan@example.com', null, true],
    );
  });

  it('is tried by a test of each way, which says what came of it', async (t) => {
    const site = await startSite(t, (_request, reply) => void reply.writeHead(503).end());
    const stack = await start(t, { settings: { egress: { allowPrivate: [site.place] } } });
    const cli = (...args: string[]) =>
      runCli(['approvals', 'notify', 'test', ...args], {
        url: stack.url,
        env: { TEMPOCLAW_API_KEY: stack.key },
      });
    assert.match((await cli()).stderr, /Nobody is told of approvals/);
    await write(stack, 'ann');
    await stack.ask('POST', '/v1/webhooks', { body: { url: 'https://example.com', events: ['turn.*'] } });
    const alone = await cli('--to', 'ann@example.com');
    assert.deepEqual([alone.code, alone.stdout], [0, 'mailto:ann@example.com: delivered\n']);
    const [got] = await mailsTo(stack, 'ann', 1);
    assert.match(got?.headers['subject'] ?? '', /test/);

    const { rows } = await stack.pool.query<{ id: string }>('select id from webhooks where url like $1', [
      'https:%',
    ]);
    await stack.pool.query('update webhooks set url = $1, events = $2 where id = $3', [
      site.url,
      ['approval.requested'],
      rows[0]?.id,
    ]);
    const both = await cli();
    assert.equal(both.code, 1);
    assert.match(both.stdout, /^mailto:ann@example.com: delivered$/m);
    assert.match(both.stdout, /^http:\/\/127.0.0.1:\d+: failed: it answered 503$/m);
    assert.equal(site.requests.length, 1);
    assert.equal(JSON.parse(site.requests[0]?.body ?? '').type, 'approval.test');
    const key = await stack.makeKey(['approve']);
    assert.equal((await stack.ask('POST', '/v1/approvals/notify-test', { body: {}, key })).status, 403);
  });
});
