/** Chat completions, spoken by the official client. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { type Stack, startStack } from '#test/support/stack.ts';

const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
} as const;

type Messages = OpenAI.Chat.Completions.ChatCompletionMessageParam[];

describe('IN-3 chat completions', () => {
  let stack: Stack;
  let client: OpenAI;
  before(async () => {
    stack = await startStack();
    client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: stack.key, maxRetries: 0 });
  });
  after(() => stack.stop());

  const ask = (messages: Messages, more: object = {}) =>
    client.chat.completions.create({ model: 'main', messages, ...more });
  async function sessionsWith(text: string): Promise<number> {
    const { rows } = await stack.pool.query<{ n: number }>(
      `select count(distinct session_key)::int as n from messages where tenant_id = $1 and text like $2`,
      [stack.worker.tenant, `%${text}%`],
    );
    return rows[0]?.n ?? 0;
  }

  it('lists agents as models', async () => {
    const models = [];
    for await (const model of client.models.list()) models.push(model.id);
    assert.ok(models.includes('main'));
    assert.equal((await client.models.retrieve('main')).owned_by, 'tempoclaw');
    await assert.rejects(client.models.retrieve('nobody'), OpenAI.NotFoundError);
  });

  it('answers, and continues the session of a conversation that is sent whole', async () => {
    const said: Messages = [{ role: 'user', content: 'Otters are first.' }];
    const { data: first, response } = await client.chat.completions
      .create({ model: 'main', messages: said })
      .withResponse();
    assert.equal(first.choices[0]?.message.content, 'Otters are first.');
    assert.equal(first.choices[0]?.finish_reason, 'stop');
    said.push(first.choices[0].message, {
      role: 'user',
      content: [{ type: 'text', text: 'Otters are next.' }],
    });
    const second = await ask(said);
    assert.equal(second.choices[0]?.message.content, 'Otters are next.');
    assert.equal(await sessionsWith('Otters are'), 1);
    const session = response.headers.get('x-tempoclaw-session') ?? '';
    const { body } = await stack.ask('GET', `/v1/sessions/${session}/turns`);
    assert.equal(body.data.length, 2);
  });

  it('streams what is written, with its use', async () => {
    const stream = await client.chat.completions.create({
      model: 'main',
      messages: [{ role: 'user', content: 'Written in pieces.' }],
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let reason = '';
    let tokens = 0;
    for await (const { choices, usage } of stream) {
      text += choices[0]?.delta.content ?? '';
      reason = choices[0]?.finish_reason ?? reason;
      tokens = usage?.total_tokens ?? tokens;
    }
    assert.deepEqual([text, reason], ['Written in pieces.', 'stop']);
    assert.ok(tokens > 0);
  });

  it('passes tools of the application on, and goes on with their results', async () => {
    const messages: Messages = [{ role: 'user', content: 'get_weather {"city":"Oslo"}' }];
    const first = await ask(messages, { tools: [WEATHER] });
    const [choice] = first.choices;
    assert.equal(choice?.finish_reason, 'tool_calls');
    const [call] = choice.message.tool_calls ?? [];
    assert.ok(call?.type === 'function');
    assert.deepEqual(
      [call.function.name, JSON.parse(call.function.arguments)],
      ['get_weather', { city: 'Oslo' }],
    );
    messages.push(choice.message, { role: 'tool', tool_call_id: call.id, content: '12 degrees' });
    const second = await ask(messages, { tools: [WEATHER] });
    assert.match(second.choices[0]?.message.content ?? '', /12 degrees/);
    const again = await ask(messages, { tools: [WEATHER] });
    assert.match(again.choices[0]?.message.content ?? '', /12 degrees/);
    assert.equal(await sessionsWith('get_weather {"city":"Oslo"}'), 1);
  });

  it('says that it waits for an approval, and refuses the next message until it is decided', async () => {
    const messages: Messages = [{ role: 'user', content: 'poke {"note":"chat"}' }];
    const first = await ask(messages);
    const text = first.choices[0]?.message.content ?? '';
    const id = /approvals approve (\S+)`/.exec(text)?.[1];
    assert.match(text, /Waits for an approval of: poke/);
    messages.push(first.choices[0]!.message, { role: 'user', content: 'And now?' });
    await assert.rejects(ask(messages), OpenAI.ConflictError);
    await stack.ask('POST', `/v1/approvals/${id}/decision`, { body: { decision: 'approve' } });
    await stack.worker.until('the end', async () => {
      const { body } = await stack.ask('GET', `/v1/approvals/${id}`);
      return (await stack.ask('GET', `/v1/turns/${body.turn_id}`)).body.status === 'completed' || undefined;
    });
    assert.equal((await ask(messages)).choices[0]?.message.content, 'And now?');
  });

  it('answers errors in the words of the protocol', async () => {
    await assert.rejects(
      ask([{ role: 'user', content: 'Hello.' }], { model: 'nobody' }),
      OpenAI.NotFoundError,
    );
    await assert.rejects(ask([{ role: 'system', content: 'Be kind.' }]), OpenAI.BadRequestError);
    const stranger = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: 'tc_wrong', maxRetries: 0 });
    await assert.rejects(stranger.models.list(), OpenAI.AuthenticationError);
    await assert.rejects(
      ask([
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example/x.png' } }] },
      ]),
      /other addresses are not fetched/,
    );
    await assert.rejects(
      ask([{ role: 'user', content: 'fail-model' }], { model: 'broken' }),
      OpenAI.APIError,
    );
  });

  it('keeps conversations of other keys apart', async () => {
    const said: Messages = [{ role: 'user', content: 'Mine alone.' }];
    const first = await ask(said);
    said.push(first.choices[0]!.message, { role: 'user', content: 'Mine alone, again.' });
    const other = new OpenAI({
      baseURL: `${stack.url}/v1`,
      apiKey: await stack.makeKey(['run']),
      maxRetries: 0,
    });
    await other.chat.completions.create({ model: 'main', messages: said });
    assert.equal(await sessionsWith('Mine alone'), 2);
    const poked = await ask([{ role: 'user', content: 'get_weather {"city":"Rome"}' }], { tools: [WEATHER] });
    const [call] = poked.choices[0]?.message.tool_calls ?? [];
    const stolen: Messages = [{ role: 'tool', tool_call_id: call?.id ?? '', content: 'false' }];
    const user = new OpenAI({
      baseURL: `${stack.url}/v1`,
      apiKey: await stack.makeKey(['run'], { user: 'somebody' }),
      maxRetries: 0,
    });
    await assert.rejects(user.chat.completions.create({ model: 'main', messages: stolen }), OpenAI.APIError);
  });

  it('keeps two conversations apart that began alike', async () => {
    const sessionOf = async (messages: Messages) => {
      const { data, response } = await client.chat.completions
        .create({ model: 'main', messages })
        .withResponse();
      return { answer: data.choices[0]!.message, session: response.headers.get('x-tempoclaw-session') ?? '' };
    };
    const began: Messages = [{ role: 'user', content: 'Alike.' }];
    const [one, other] = [await sessionOf(began), await sessionOf(began)];
    const first = await sessionOf([...began, one.answer, { role: 'user', content: 'A word of the first.' }]);
    const second = await sessionOf([
      ...began,
      other.answer,
      { role: 'user', content: 'A word of the second.' },
    ]);
    assert.notEqual(first.session, second.session);
    const { body } = await stack.ask('GET', `/v1/sessions/${second.session}/messages`);
    assert.doesNotMatch(JSON.stringify(body), /of the first/);
  });

  it('answers a request that is repeated with its key as before, from the same turn', async () => {
    const messages: Messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Said once.' },
    ];
    const options = { headers: { 'Idempotency-Key': 'said-once' } };
    const streamed = async (): Promise<string> => {
      let text = '';
      for await (const { choices } of await client.chat.completions.create(
        { model: 'main', messages, stream: true },
        options,
      ))
        text += choices[0]?.delta.content ?? '';
      return text;
    };
    const first = await streamed();
    assert.match(first, /Said once\./);
    assert.equal(await streamed(), first);
    const { rows } = await stack.pool.query(
      `select 1 from messages where tenant_id = $1 and role = 'user' and text like '%Said once.'`,
      [stack.worker.tenant],
    );
    assert.equal(rows.length, 1);
  });

  it('says that it waits for an approval of work that the agent gave away', async () => {
    const task = JSON.stringify({ task: 'poke {"note":"below"}', mode: 'sync', label: 'below' });
    const answer = await ask([{ role: 'user', content: `spawn ${task}` }]);
    assert.match(answer.choices[0]?.message.content ?? '', /Waits for an approval of: poke/);
  });
});
