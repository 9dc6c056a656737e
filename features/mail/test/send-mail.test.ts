/** PO-1: mails are sent by the operator's server, over TLS, through egress. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createSendMail, type Mail, type MailDeps } from '../activities/send-mail.ts';
import type { SMTPServerOptions } from 'smtp-server';
import type { NewEgressRow } from '#store/egress-store.ts';
import { CERTIFICATE, startMailServer } from './mail-server.ts';
import { memoryEgress } from '#test/support/web-site.ts';

const mail: Mail = { id: 'msg_1', to: 'ann@example.com', subject: 'May it?', text: 'It waits.\n' };
const PASSWORD = 'p@ss/w0rd:of:mail';
const CLAW = `claw:${encodeURIComponent(PASSWORD)}`;
const signal = new AbortController().signal;

function sender(url: string, more: Partial<MailDeps> = {}, rows: NewEgressRow[] = []) {
  return createSendMail({ egress: memoryEgress(rows), egressSettings: {}, mail: { url }, ...more });
}

/** Makes this process trust the server for as long as the test takes. */
function trustServer(t: TestContext): void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, CERTIFICATE]);
  t.after(() => setDefaultCACertificates(before));
}

describe('PO-1 a mail', () => {
  for (const secure of [false, true])
    it(`is sent by ${secure ? 'smtps' : 'smtp with STARTTLS'}, by who the server knows`, async (t) => {
      trustServer(t);
      const server = await startMailServer(t, { password: PASSWORD, secure });
      const rows: NewEgressRow[] = [];
      const from = 'claw@example.com';
      const url = `${secure ? 'smtps' : 'smtp'}://${CLAW}@127.0.0.1:${server.port}`;
      const send = sender(url, { mail: { url, from } }, rows);
      assert.deepEqual(await send('t', mail, signal), { answered: 250, problem: null });
      const [got] = server.mails;
      assert.deepEqual(
        [got?.from, got?.to, got?.user, got?.isEncrypted, got?.text],
        [from, ['ann@example.com'], 'claw', true, 'It waits.\n'],
      );
      assert.equal(got?.headers['message-id'], '<msg_1@example.com>');
      assert.equal(got?.headers['from'], 'TempoClaw <claw@example.com>');
      assert.equal(got?.headers['auto-submitted'], 'auto-generated');
      assert.deepEqual(
        rows.map(({ tenant, purpose, host, problem }) => [tenant, purpose, host, problem]),
        [['t', 'mail', `127.0.0.1:${server.port}`, null]],
      );
    });

  it('is not sent where the server offers no TLS, or is not who it says, and the password is not told', async (t) => {
    const auth: string[] = [];
    const onAuth: SMTPServerOptions['onAuth'] = ({ password }, _session, done) => {
      auth.push(String(password));
      done(new Error('no'));
    };
    const open = await startMailServer(t, {
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth,
    });
    const unknown = await startMailServer(t, { onAuth });
    const none = await sender(`smtp://${CLAW}@127.0.0.1:${open.port}`)('t', mail, signal);
    assert.match(none.problem ?? '', /STARTTLS/);
    const other = await sender(`smtp://${CLAW}@127.0.0.1:${unknown.port}`)('t', mail, signal);
    assert.match(other.problem ?? '', /self.signed certificate/);
    assert.deepEqual([open.mails, unknown.mails, auth], [[], [], []]);
  });

  it('is sent without TLS only where the address says so', async (t) => {
    const server = await startMailServer(t);
    const url = `smtp://127.0.0.1:${server.port}?tls=none`;
    assert.equal((await sender(url)('t', mail, signal)).problem, null);
    assert.deepEqual([server.mails[0]?.isEncrypted, server.mails[0]?.from], [false, 'tempoclaw@127.0.0.1']);
  });

  it('that no server takes has its code and words', async (t) => {
    const server = await startMailServer(t, { refuse: () => '550 no such person' });
    const url = `smtp://127.0.0.1:${server.port}?tls=none`;
    const refused = await sender(url)('t', mail, signal);
    assert.equal(refused.answered, 550);
    assert.match(refused.problem ?? '', /no such person/);
    const egress = memoryEgress();
    const unset = await createSendMail({ egress, egressSettings: {}, mail: {} })('t', mail, signal);
    assert.match(unset.problem ?? '', /SMTP_URL/);
  });

  it('answers the first of its thread, and cannot be given headers by what it says', async (t) => {
    const server = await startMailServer(t);
    const url = `smtp://127.0.0.1:${server.port}?tls=none`;
    const hostile = 'May\r\nBcc: eve@example.com\r\n\r\nit?';
    const from = 'claw@example.com';
    const send = sender(url, { mail: { url, from } });
    await send('t', { ...mail, id: 'msg_2', replyTo: 'msg_1', subject: hostile }, signal);
    const [got] = server.mails;
    assert.deepEqual(got?.to, ['ann@example.com']);
    assert.equal(got?.headers['bcc'], undefined);
    assert.equal(got?.text, 'It waits.\n');
    assert.equal(got?.headers['in-reply-to'], '<msg_1@example.com>');
    assert.equal(got?.headers['references'], '<msg_1@example.com>');
  });

  it('R5 goes to no place that is blocked for all, or where credentials are given out', async () => {
    const rows: NewEgressRow[] = [];
    const egressSettings = { blockedDomains: ['evil.example'] };
    const blocked = sender('smtp://mail.evil.example:2525', { egressSettings }, rows);
    assert.match((await blocked('t', mail, signal)).problem ?? '', /blocked domains/);
    const metadata = sender('smtp://169.254.169.254', {}, rows);
    assert.match((await metadata('t', mail, signal)).problem ?? '', /credentials/);
    assert.deepEqual(
      rows.map(({ host, problem }) => [host, problem]),
      [
        ['mail.evil.example:2525', 'blocked_domain'],
        ['169.254.169.254:587', 'metadata'],
      ],
    );
  });

  it('is stopped with what sends it, while the server says nothing', async (t) => {
    const stop = new AbortController();
    const server = await startMailServer(t, { onConnect: () => stop.abort(new Error('stopped')) });
    const url = `smtp://127.0.0.1:${server.port}?tls=none`;
    await assert.rejects(sender(url)('t', mail, stop.signal), /stopped/);
  });
});
