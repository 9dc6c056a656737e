/** Addresses of clients that are named while their task ends, or at once. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Stack } from '#test/support/stack.ts';
import { observeStatements } from '#test/support/statements.ts';
import type { WebSite } from '#test/support/web-site.ts';
import { type Receiver, startReceiver } from './receiver.ts';

describe('IN-11 addresses that clients name', { timeout: 100_000 }, () => {
  let receiver: Receiver;
  let stack: Stack;
  let site: WebSite;
  before(async () => {
    receiver = await startReceiver();
    ({ stack, site } = receiver);
  });
  after(() => receiver?.stop());

  async function call(method: string, params: object): Promise<any> {
    const { body } = await stack.ask('POST', '/v1/a2a/main', {
      body: { jsonrpc: '2.0', id: 1, method, params },
      headers: { 'a2a-version': '1.0' },
    });
    return body;
  }
  let made = 0;
  const send = async (part: object, more: object = {}): Promise<any> => {
    made += 1;
    const message = { messageId: `m-${made}`, role: 'ROLE_USER', parts: [part], ...more };
    return (await call('SendMessage', { message })).result.task;
  };
  const waiting = (): Promise<any> => send({ text: 'poke {"note":"pushed"}\nthen\nDone.' });
  const decide = (task: any): Promise<any> =>
    send(
      {
        data: {
          approval: task.status.message.parts.find(({ data }: any) => data).data.approval,
          approve: true,
        },
      },
      { taskId: task.id },
    );
  const name = (task: any, id: string, path: string): Promise<any> =>
    call('CreateTaskPushNotificationConfig', { taskId: task.id, id, url: `${site.url}${path}` });
  const isTold = (path: string): boolean =>
    site.requests.some(({ line, body }) => line.includes(path) && body.includes('TASK_STATE_COMPLETED'));

  it('are refused when their task ends before they are kept, because nothing would be told', async (t) => {
    const task = await waiting();
    let hasRead = false;
    observeStatements(t, stack.pool, async ({ text }) => {
      if (hasRead || !/from webhooks|a2a_push_configs/.test(text)) return;
      hasRead = true;
      await decide(task);
    });
    assert.match((await name(task, 'late', '/late')).error?.message ?? 'it was kept', /has ended/);
    const { rows } = await stack.pool.query('select 1 from webhooks where url like $1', ['%/late']);
    assert.equal(rows.length, 0);
  });

  it('are replaced by the last of those that come at once with one id', async () => {
    const task = await waiting();
    const answers = await Promise.all([1, 2, 3, 4].map((at) => name(task, 'one', `/one-${at}`)));
    assert.deepEqual(
      answers.map(({ result }) => result?.id),
      ['one', 'one', 'one', 'one'],
    );
    const { rows } = await stack.pool.query('select 1 from webhooks where url like $1', ['%/one-%']);
    assert.equal(rows.length, 1);
    await decide(task);
    await stack.worker.until('the end to be told', async () =>
      [1, 2, 3, 4].some((at) => isTold(`/one-${at}`)),
    );
  });
});
