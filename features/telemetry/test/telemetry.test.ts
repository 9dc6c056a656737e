/** Traces and metrics reach an OTLP receiver, and the traces of callers go on in models. */
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { freePort } from '#test/support/free-port.ts';
import { peerOverHttp } from '#test/support/mcp-case-peer.ts';
import { startScriptedOpenAi } from '#test/support/scripted-openai.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { startSite, type WebSite } from '#test/support/web-site.ts';
import { METRIC } from '../names.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const SECRET = 'a-planted-secret-value';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
}

describe('IN-8 telemetry', () => {
  let stack: Stack;
  let receiver: WebSite;
  let model: Awaited<ReturnType<typeof startScriptedOpenAi>>;
  let mcp: Awaited<ReturnType<typeof startMcp>>;
  let answer: (reply: ServerResponse) => void;
  const ends: (() => void)[] = [];
  const later = { after: (end: () => void): void => void ends.push(end) };

  before(async () => {
    answer = accept;
    receiver = await startSite(later, (request, reply) =>
      request.url === '/v1/traces' ? answer(reply) : accept(reply),
    );
    mcp = await startMcp(later);
    const egress = { allowPrivate: [receiver.place, mcp.place] };
    model = await startScriptedOpenAi('examples/rehearsal');
    stack = await startStack({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_HEADERS: `x-team=a%20team`,
        OTEL_SERVICE_NAME: 'claws',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      },
      egress,
      settings: `egress: ${JSON.stringify(egress)}
telemetry: { delaySeconds: 0, contents: true }
models: { providers: { chat: { type: openai, api: chat, apiKey: planted, baseUrl: '${model.url}' } } }`,
      agents: [{ key: 'caller', model: 'chat/follow', tools: { allow: ['*'] } }],
    } as Parameters<typeof startStack>[0]);
  });
  after(async () => {
    await stack.stop();
    await model.close();
    for (const end of ends) end();
  });

  const requestsTo = (path: string) => receiver.requests.filter(({ line }) => line === `POST ${path}`);
  /** By their ids, because what is sent twice is the same. */
  const spans = (): Span[] => {
    const all = requestsTo('/v1/traces').flatMap(({ body }) =>
      (JSON.parse(body) as any).resourceSpans.flatMap((one: any) =>
        one.scopeSpans.flatMap((scope: any) => scope.spans),
      ),
    ) as Span[];
    return [...new Map(all.map((span) => [span.spanId, span])).values()];
  };
  const inTrace = (traceId: string): Span[] =>
    spans()
      .filter((span) => span.traceId === traceId)
      .sort((a, b) => (a.startTimeUnixNano < b.startTimeUnixNano ? -1 : 1));
  const attributesOf = (span: Span): Record<string, unknown> =>
    Object.fromEntries(span.attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
  /** Each span after its parent's name. */
  const tree = (traceId: string): string[] => {
    const found = inTrace(traceId);
    const nameOf = new Map(found.map(({ spanId, name }) => [spanId, name]));
    return found
      .map(({ name, parentSpanId = '' }) => `${nameOf.get(parentSpanId) ?? parentSpanId} > ${name}`)
      .sort();
  };
  async function say(session: string, text: string, headers: Record<string, string> = {}): Promise<string> {
    const { body, status } = await stack.ask('POST', `/v1/sessions/${session}/messages`, {
      body: { text, agent: 'caller' },
      headers,
    });
    assert.equal(status, 202, JSON.stringify(body));
    await stack.worker.ended(body.turn_id);
    return body.turn_id;
  }
  const exported = (turn: string): Promise<Span> =>
    stack.worker.until(`the span of ${turn}`, () =>
      spans().find(
        (span) => span.name.startsWith('invoke_agent') && attributesOf(span)['tempoclaw.turn.id'] === turn,
      ),
    );

  it('a caller’s trace has the turn, its model calls, its tools and the work below them', async () => {
    const below = JSON.stringify({ action: 'run', task: 'mark {"note":"below"}' });
    const turn = await say('golden', `mark {"note":"beside"}\nthen\nspawn ${below}`, {
      traceparent: `00-${TRACE}-${CALLER}-01`,
    });
    const root = await exported(turn);
    await stack.worker.until('all spans', () => (inTrace(TRACE).length >= 9 ? true : undefined));
    assert.deepEqual(
      tree(TRACE),
      [
        `${CALLER} > invoke_agent caller`,
        'execute_tool spawn > invoke_agent caller',
        'invoke_agent caller > chat follow',
        'invoke_agent caller > chat follow',
        'invoke_agent caller > chat follow',
        'invoke_agent caller > chat follow',
        'invoke_agent caller > chat follow',
        'invoke_agent caller > execute_tool mark',
        'invoke_agent caller > execute_tool mark',
        'invoke_agent caller > execute_tool spawn',
      ].sort(),
    );
    const attributes = attributesOf(root);
    assert.equal(attributes['gen_ai.conversation.id'], 'golden');
    assert.equal(attributes['tempoclaw.turn.status'], 'completed');
    const traceparents = model.seen.map(({ headers }) => headers['traceparent']);
    const chats = inTrace(TRACE).filter(({ name }) => name === 'chat follow');
    assert.deepEqual(
      traceparents.filter(Boolean).sort(),
      chats.map(({ spanId }) => `00-${TRACE}-${spanId}-01`).sort(),
    );
  });

  it('MCP servers and webhooks can continue the trace', async () => {
    const traceId = '6bf92f3577b34da6a3ce929d0e0e4736';
    const url = `http://${mcp.place}/`;
    const added = await stack.ask('POST', '/v1/mcp/servers', { body: { name: 'traced', url } });
    assert.equal(added.status, 201, JSON.stringify(added.body));
    await stack.ask('POST', '/v1/mcp/servers/traced/test', { body: {} });
    const webhook = { url: `${receiver.url}/hook`, events: ['turn.completed'], session_key: 'onward' };
    const made = await stack.ask('POST', '/v1/webhooks', { body: webhook });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const turn = await say('onward', 'mcp_traced__changes {}', { traceparent: `00-${traceId}-${CALLER}-01` });
    const root = await exported(turn);
    const call = inTrace(traceId).find(({ name }) => name === 'execute_tool mcp_traced__changes');
    assert.ok(mcp.traceparents.includes(`00-${traceId}-${call?.spanId}-01`), mcp.traceparents.join());
    const [hook] = await stack.worker.until('the webhook', () => {
      const hooks = requestsTo('/hook');
      return hooks.length > 0 ? hooks : undefined;
    });
    assert.equal(hook?.headers['traceparent'], `00-${traceId}-${root.spanId}-01`);
  });

  it('says who sends, and hides secrets in contents', async () => {
    const made = await stack.ask('PUT', '/v1/secrets/PLANTED', { body: { value: SECRET } });
    assert.ok(made.status < 300, JSON.stringify(made.body));
    const turn = await say('secret', `mark {"note":"${SECRET}"}`);
    const root = await exported(turn);
    assert.equal(root.parentSpanId ?? '', '');
    const [request] = requestsTo('/v1/traces');
    assert.equal(request?.headers['x-team'], 'a team');
    const [{ resource }] = (JSON.parse(request?.body ?? '') as any).resourceSpans;
    const service = Object.fromEntries(
      resource.attributes.map(({ key, value }: any) => [key, value.stringValue]),
    );
    assert.equal(service['service.name'], 'claws');
    assert.equal(service['deployment.environment.name'], 'test');
    assert.match(String(attributesOf(root)['gen_ai.input.messages']), /mark/);
    for (const { body } of receiver.requests) assert.ok(!body.includes(SECRET));
  });

  it('a caller that does not record its trace gets no spans of it', async () => {
    const quiet = '5bf92f3577b34da6a3ce929d0e0e4736';
    await say('quiet', 'hello', { traceparent: `00-${quiet}-${CALLER}-00` });
    await exported(await say('after', 'hello', { traceparent: 'not a traceparent' }));
    assert.deepEqual(inTrace(quiet), []);
  });

  it('what a receiver does not take now is sent when it does, and what it cannot read holds up nothing', async () => {
    const statuses = [503, 400];
    answer = (reply) => {
      const status = statuses.shift();
      if (status === undefined) return accept(reply);
      receiver.requests.pop();
      reply.writeHead(status).end();
    };
    const turns = [await say('away', 'hello'), await say('away', 'again')];
    await exported(turns[1] ?? '');
    assert.deepEqual(statuses, []);
  });

  it('metrics count tokens, cost and durations', async () => {
    await exported(await say('counted', 'hello'));
    const names = (): string[] =>
      requestsTo('/v1/metrics').flatMap(({ body }) =>
        (JSON.parse(body) as any).resourceMetrics.flatMap((one: any) =>
          one.scopeMetrics.flatMap((scope: any) => scope.metrics.map(({ name }: any) => name)),
        ),
      );
    for (const name of [METRIC.tokens, METRIC.modelSeconds, METRIC.turnSeconds, METRIC.toolSeconds])
      await stack.worker.until(name, () => (names().includes(name) ? true : undefined));
  });
});

function accept(reply: ServerResponse): void {
  reply.writeHead(200, { 'content-type': 'application/json' }).end('{}');
}

async function startMcp(t: { after(end: () => void): void }) {
  const traceparents: (string | undefined)[] = [];
  const peer = peerOverHttp({ revision: '2025-11-25' }, () => undefined);
  const server = createServer((request, response) => {
    traceparents.push(request.headers['traceparent']?.toString());
    void peer(request, response);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { place: `127.0.0.1:${port}`, traceparents };
}
