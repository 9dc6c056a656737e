/** Agents for other agents, spoken by the SDK's own client over both bindings. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type AgentCard,
  type Message,
  Role,
  type StreamResponse,
  type Task,
  TaskState,
  verifyAgentCardSignature,
} from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import type { WebSite } from '#test/support/web-site.ts';
import type { Stack } from '#test/support/stack.ts';
import { type Receiver, startReceiver } from './receiver.ts';

let made = 0;

/** A message of the client. */
function say(text: string, more: Partial<Message> = {}): { message: Message } {
  made += 1;
  const parts = [
    { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' },
  ];
  return { message: { ...blank(`m-${made}`), parts: parts as Message['parts'], ...more } };
}

function decide(task: Task, data: object, more: Partial<Message> = {}): { message: Message } {
  const part = { content: { $case: 'data', value: data }, metadata: undefined, filename: '', mediaType: '' };
  return say('', { taskId: task.id, parts: [part] as Message['parts'], ...more });
}

function blank(messageId: string): Message {
  return {
    messageId,
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

const stateOf = ({ status }: Task): string => TaskState[status?.state ?? 0] ?? '';
const answerOf = ({ artifacts }: Task): string =>
  artifacts
    .flatMap(({ parts }) => parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')))
    .join('|');
/** What the task asks, as data. */
const askedOf = ({ status }: Pick<Task, 'status'>): { readonly approval: string; readonly tool: string } =>
  status?.message?.parts.flatMap(({ content }) => (content?.$case === 'data' ? [content.value] : []))[0];

for (const [binding, Transport] of [
  ['JSONRPC', JsonRpcTransportFactory],
  ['HTTP+JSON', RestTransportFactory],
] as const)
  describe(`IN-11 agents for other agents, over ${binding}`, { timeout: 100_000 }, () => {
    let receiver: Receiver;
    let stack: Stack;
    let site: WebSite;
    let client: Client;
    before(async () => {
      receiver = await startReceiver();
      ({ stack, site } = receiver);
      client = await connect();
    });
    after(() => receiver?.stop());

    function connect(key = stack.key, agent = 'main'): Promise<Client> {
      const fetchImpl: typeof fetch = (url, init) =>
        fetch(url, { ...init, headers: { ...init?.headers, authorization: `Bearer ${key}` } });
      const factory = new ClientFactory({
        transports: [new Transport({ fetchImpl })],
        preferredTransports: [binding],
      });
      return factory.createFromUrl(`${stack.url}/v1/a2a/${agent}/`);
    }
    async function makeAgent(body: object): Promise<void> {
      const { status, body: answer } = await stack.ask('POST', '/v1/agents', {
        body: { model: 'rehearsal/follow', ...body },
      });
      assert.equal(status, 201, JSON.stringify(answer));
    }
    async function send(params: { message: Message }, by = client, configuration = {}): Promise<Task> {
      const result = await by.sendMessage({
        tenant: '',
        metadata: undefined,
        ...params,
        configuration: {
          acceptedOutputModes: [],
          taskPushNotificationConfig: undefined,
          returnImmediately: false,
          ...configuration,
        },
      });
      assert.ok('artifacts' in result, 'the answer is a task');
      return result;
    }
    async function stream(params: { message: Message }): Promise<StreamResponse[]> {
      const items: StreamResponse[] = [];
      const sent = { tenant: '', metadata: undefined, configuration: undefined, ...params };
      for await (const item of client.sendMessageStream(sent)) items.push(item);
      return items;
    }

    it('are found by a signed card that says nothing private, and a longer one for keys', async () => {
      await makeAgent({ key: 'clerk', description: 'Files papers.' });
      const clerk = await connect(stack.key, 'clerk');
      const url = `${stack.url}/v1/a2a/clerk/.well-known/agent-card.json`;
      const { body: open } = await stack.ask('GET', new URL(url).pathname, { key: null });
      assert.doesNotMatch(JSON.stringify(open), /Files papers/);
      const { body: keys } = await stack.ask('GET', '/v1/a2a/jwks.json', { key: null });
      const verify = verifyAgentCardSignature(async (kid) =>
        keys.keys.find((one: { kid: string }) => one.kid === kid),
      );
      const card: AgentCard = await clerk.getAgentCard(undefined, verify);
      assert.equal(card.description, 'Files papers.');
      await assert.rejects(verify({ ...card, description: 'Burns papers.' }), /signature/i);
      await assert.rejects((await connect(stack.key, 'nobody')).getAgentCard(), /no agent nobody/);
    });

    it('answer in tasks with history, which a context continues', async () => {
      const first = await send(say('Walrus one.'));
      assert.deepEqual([stateOf(first), answerOf(first)], ['TASK_STATE_COMPLETED', 'Walrus one.']);
      assert.deepEqual(
        first.history.map(({ role, parts }) => [Role[role], parts[0]?.content?.value]),
        [
          ['ROLE_USER', 'Walrus one.'],
          ['ROLE_AGENT', 'Walrus one.'],
        ],
      );
      const second = await send(say('Walrus two.', { contextId: first.contextId }));
      assert.equal(second.contextId, first.contextId);
      assert.notEqual(second.id, first.id);
      const { body } = await stack.ask('GET', `/v1/sessions/${first.contextId}/turns`);
      assert.equal(body.data.length, 2);
      const again = await client.getTask({ tenant: '', id: first.id, historyLength: 1 });
      assert.deepEqual([again.history.length, answerOf(again)], [1, 'Walrus one.']);
    });

    it('do a message that is sent twice once', async () => {
      const message = say('Once only.');
      const [one, two] = [await send(message), await send(message)];
      assert.equal(one.id, two.id);
    });

    it('stream the task, its answer and its end', async () => {
      const items = await stream(say('wait {"timeMs":500}\nthen\nIn many pieces.'));
      const kinds = items.map(({ payload }) => payload?.$case);
      assert.deepEqual([kinds[0], kinds.at(-1)], ['task', 'statusUpdate']);
      const last = items.findLast(({ payload }) => payload?.$case === 'artifactUpdate')?.payload;
      assert.ok(last?.$case === 'artifactUpdate' && last.value.lastChunk);
      assert.deepEqual(last.value.artifact?.parts[0]?.content?.value, 'In many pieces.');
      const end = items.at(-1)?.payload;
      assert.ok(end?.$case === 'statusUpdate');
      assert.equal(end.value.status?.state, TaskState.TASK_STATE_COMPLETED);
    });

    it('ask for approvals, which are decided in the task', async () => {
      const note = `a2a-${binding}`;
      const asks = await send(say(`poke {"note":"${note}"}\nthen\nPoked.`));
      assert.equal(stateOf(asks), 'TASK_STATE_INPUT_REQUIRED');
      const { approval, tool } = askedOf(asks);
      assert.equal(tool, 'poke');
      await assert.rejects(send(say('Yes, please.', { taskId: asks.id })), /data part/);
      const weak = await connect(await stack.makeKey(['read', 'run']));
      await assert.rejects(send(decide(asks, { approval, approve: true }), weak), /approve/);
      const other = await send(say('Another task.'));
      await assert.rejects(send(decide(other, { approval, approve: true })), /no such approval/);
      const answer = decide(asks, { approval, approve: true });
      const done = await send(answer);
      assert.deepEqual([done.id, stateOf(done), answerOf(done)], [asks.id, 'TASK_STATE_COMPLETED', 'Poked.']);
      assert.equal(stack.worker.probes.effects.filter((one) => one.note === note).length, 1);
      assert.equal(answerOf(await send(answer)), 'Poked.');
    });

    it('are told of a refusal with its reason, and show what was decided elsewhere', async () => {
      const asks = await send(say('poke {"note":"refused"}'));
      const { approval } = askedOf(asks);
      const done = await send(decide(asks, { approval, approve: false, reason: 'Not on a Friday' }));
      assert.equal(stateOf(done), 'TASK_STATE_COMPLETED');
      const { body } = await stack.ask('GET', `/v1/approvals/${approval}`);
      assert.deepEqual([body.status, body.note], ['denied', 'Not on a Friday']);
      const second = await send(say('poke {"note":"elsewhere"}\nthen\nDecided.'));
      const following = client.resubscribeTask({ tenant: '', id: second.id });
      const first = await following.next();
      assert.equal(first.value?.payload?.$case, 'task');
      await stack.ask('POST', `/v1/approvals/${askedOf(second).approval}/decision`, {
        body: { decision: 'approve' },
      });
      const rest: StreamResponse[] = [];
      for await (const item of following) rest.push(item);
      const end = rest.at(-1)?.payload;
      assert.ok(end?.$case === 'statusUpdate');
      assert.equal(end.value.status?.state, TaskState.TASK_STATE_COMPLETED);
    });

    it('take a text as the answer of the one tool that their sender runs', async () => {
      const { status, body } = await stack.ask('POST', '/v1/sessions/asks/messages', {
        body: {
          text: 'get_weather {"city":"Oslo"}',
          client_tools: [{ name: 'get_weather', parameters: { type: 'object', properties: { city: {} } } }],
        },
      });
      assert.equal(status, 202, JSON.stringify(body));
      await stack.worker.until('the turn to wait', async () => {
        const shown = await client.getTask({ tenant: '', id: body.turn_id });
        return askedOf(shown)?.tool === 'get_weather' ? true : undefined;
      });
      const done = await send(say('12 degrees', { taskId: body.turn_id }));
      assert.match(answerOf(done), /12 degrees/);
    });

    it('are continued, followed and cancelled while they work', async () => {
      const task = await send(say('wait {"timeMs":60000}'), client, { returnImmediately: true });
      await stack.worker.until('the turn to run', async () => {
        const shown = await client.getTask({ tenant: '', id: task.id });
        return stateOf(shown) === 'TASK_STATE_WORKING' ? true : undefined;
      });
      const steered = await send(say('Hurry up.', { taskId: task.id }), client, { returnImmediately: true });
      assert.equal(steered.id, task.id);
      const { tasks } = await client.listTasks(listing({ contextId: task.contextId }));
      assert.deepEqual(tasks.map(stateOf), ['TASK_STATE_WORKING']);
      const cancelled = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
      assert.equal(stateOf(cancelled), 'TASK_STATE_CANCELED');
      await assert.rejects(client.cancelTask({ tenant: '', id: task.id, metadata: undefined }), /has ended/);
      await assert.rejects(send(say('Too late.', { taskId: task.id })), /has ended/);
      await assert.rejects(client.resubscribeTask({ tenant: '', id: task.id }).next(), /has ended/);
    });

    it('tell an address of their client of each change, with its token and credentials', async () => {
      const task = await send(say('poke {"note":"pushed"}\nthen\nTold.'));
      const told = {
        url: `${site.url}/told`,
        token: 'for-me',
        authentication: { scheme: 'Bearer', credentials: 'abc' },
      };
      const config = { tenant: '', id: 'mine', taskId: task.id, ...told };
      await client.createTaskPushNotificationConfig(config);
      const { configs } = await client.listTaskPushNotificationConfig({
        tenant: '',
        taskId: task.id,
        pageSize: 0,
        pageToken: '',
      });
      assert.deepEqual(
        configs.map(({ id, url, token }) => [id, url, token]),
        [['mine', told.url, '']],
      );
      const inside = { ...config, id: 'inside', url: 'http://127.0.0.1:1/' };
      await assert.rejects(client.createTaskPushNotificationConfig(inside), /url/);
      const other = { ...config, id: 'other', url: `${site.url}/other` };
      await client.createTaskPushNotificationConfig(other);
      await client.deleteTaskPushNotificationConfig({ tenant: '', taskId: task.id, id: 'other' });
      await send(decide(task, { approval: askedOf(task).approval, approve: true }));
      const last = await stack.worker.until('the end to be told', async () =>
        site.requests.find(({ body }) => body.includes('TASK_STATE_COMPLETED') && body.includes(task.id)),
      );
      const { line, headers } = last;
      assert.deepEqual(
        [line, headers['x-a2a-notification-token'], headers.authorization],
        ['POST /told', 'for-me', 'Bearer abc'],
      );
      assert.ok(!site.requests.some((one) => one.line.includes('/other')));
    });

    it('are listed in pages, those that changed last first', async () => {
      const agent = `lister-${binding === 'JSONRPC' ? 'rpc' : 'http'}`;
      await makeAgent({ key: agent });
      const lister = await connect(stack.key, agent);
      const texts = ['One.', 'Two.', 'Three.'];
      for (const text of texts) await send(say(text), lister);
      const one = await lister.listTasks(listing({ pageSize: 2, includeArtifacts: true }));
      assert.deepEqual([one.tasks.map(answerOf), one.totalSize], [['Three.', 'Two.'], 3]);
      const two = await lister.listTasks(listing({ pageSize: 2, pageToken: one.nextPageToken }));
      assert.deepEqual([two.tasks.map(answerOf), two.nextPageToken], [[''], '']);
      const failed = await lister.listTasks(listing({ status: TaskState.TASK_STATE_FAILED }));
      assert.equal(failed.totalSize, 0);
      await assert.rejects(lister.listTasks(listing({ pageToken: 'x' })), /pageToken/);
    });

    it('are of one user and one tenant, and readers only read', async () => {
      const ann = await connect(await stack.makeKey(['read', 'run'], { user: 'ann' }));
      const bob = await connect(await stack.makeKey(['read', 'run'], { user: 'bob' }));
      const other = await connect((await stack.makeTenant()).key);
      const task = await send(say('Only mine.'), ann);
      for (const stranger of [bob, other]) {
        await assert.rejects(stranger.getTask({ tenant: '', id: task.id }), /no task/);
        await assert.rejects(
          stranger.cancelTask({ tenant: '', id: task.id, metadata: undefined }),
          /no task/,
        );
        assert.equal((await stranger.listTasks(listing({ contextId: task.contextId }))).totalSize, 0);
      }
      await assert.rejects(send(say('And mine?', { contextId: task.contextId }), bob), /no session/);
      const reader = await connect(await stack.makeKey(['read']));
      assert.equal(answerOf(await reader.getTask({ tenant: '', id: task.id })), 'Only mine.');
      await assert.rejects(send(say('Written.'), reader), /scope run/);
      await assert.rejects(
        connect('tc_nobody').then((nobody) => nobody.getTask({ tenant: '', id: task.id })),
        /key/,
      );
    });

    it('refuse what they cannot pass on, in words of the protocol', async () => {
      const file = {
        content: { $case: 'url', value: 'https://x.example/a.png' },
      } as Message['parts'][number];
      const refusals: [Partial<Message>, RegExp][] = [
        [
          { parts: [{ ...file, metadata: undefined, filename: '', mediaType: '' }] },
          /other addresses are not fetched/,
        ],
        [{ parts: [] }, /no text/],
        [{ taskId: 'turn_none' }, /no task/],
        [{ contextId: '../x' }, /not the key of a conversation/],
      ];
      for (const [more, words] of refusals) await assert.rejects(send(say('x', more)), words);
      const old = await fetch(`${stack.url}/v1/a2a/main${binding === 'JSONRPC' ? '' : '/tasks'}`, {
        method: binding === 'JSONRPC' ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json' },
        ...(binding === 'JSONRPC' && { body: '{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}' }),
      });
      assert.match(await old.text(), /VERSION_NOT_SUPPORTED/);
    });
  });

function listing(more: object) {
  return {
    tenant: '',
    contextId: '',
    status: TaskState.TASK_STATE_UNSPECIFIED,
    pageToken: '',
    statusTimestampAfter: undefined,
    ...more,
  };
}
