/** The operations of an OpenAPI document are tools (IN-12). */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { provideExports } from '../../provide-exports.ts';
import { loadTools } from '../host/load-tools.ts';
import { openapi } from '../openapi/openapi.ts';
import type { OpenapiOptions } from '../openapi/options.ts';
import { CODE_TOOLS, type ToolContext } from '../sdk/tool.ts';

const string = { type: 'string' };
const id = { name: 'id', in: 'path', required: true, description: 'Id of the order', schema: string };
const SHOP = {
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'https://{region}.shop.example/v1', variables: { region: { default: 'eu' } } }],
  security: [{ token: [] }],
  components: {
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    parameters: { Id: id },
    schemas: {
      Item: {
        type: 'object',
        required: ['sku'],
        properties: {
          sku: { ...string, example: 'A1' },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Item' } },
        },
      },
    },
  },
  paths: {
    '/orders': {
      get: {
        operationId: 'listOrders',
        parameters: [
          { name: 'status', in: 'query', schema: { type: 'array', items: string } },
          { name: 'fields', in: 'query', explode: false, schema: { type: 'array', items: string } },
          { name: 'filter', in: 'query', style: 'deepObject', schema: { type: 'object' } },
          { name: 'x-trace', in: 'header', schema: string },
          { name: 'Authorization', in: 'header', schema: string },
        ],
      },
      post: {
        operationId: 'createOrder',
        summary: 'Creates an order',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Item' } } },
        },
      },
    },
    '/orders/{id}': {
      parameters: [{ $ref: '#/components/parameters/Id' }],
      get: { tags: ['orders'], description: 'Finds an order' },
      put: {
        operationId: 'OrderController.replace',
        requestBody: { content: { 'application/x-www-form-urlencoded': { schema: { type: 'object' } } } },
      },
      delete: { operationId: 'deleteOrder' },
    },
    '/orders/{id}/picture': {
      parameters: [{ $ref: '#/components/parameters/Id' }],
      post: { operationId: 'uploadPicture', requestBody: { content: { 'multipart/form-data': {} } } },
    },
  },
};

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function toolsOf(document: string | object, options: OpenapiOptions = {}) {
  return (await openapi(document, options)[CODE_TOOLS]()).tools;
}

describe('IN-12 the operations of an OpenAPI document', () => {
  let server: Server;
  let baseUrl: string;
  let received: Received | undefined;
  let answer = { status: 200, type: 'application/json', body: '{"ok":true}', location: '' };
  const OK = answer;

  before(async () => {
    server = createServer(async (request, response) => {
      const { method = '', url = '', headers } = request;
      received = { method, url, headers, body: await text(request) };
      const { status, type, body, location } = answer;
      response.writeHead(status, { 'content-type': type, ...(location !== '' && { location }) }).end(body);
    }).listen(0, '127.0.0.1');
    await new Promise((done) => server.once('listening', done));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
  });
  after(() => server.close());

  /** Calls a tool after its arguments were checked, as a host does. */
  async function call(name: string, input: object, options: OpenapiOptions = {}): Promise<unknown> {
    const tools = await toolsOf(SHOP, { baseUrl, ...options });
    const tool = tools.get(name) ?? assert.fail(name);
    const context = {
      signal: AbortSignal.timeout(10_000),
      idempotencyKey: 'key-1',
      secrets: { shop: 's3cret' },
    };
    return tool.run(tool.input.parse(input), context as unknown as ToolContext);
  }

  it('are tools by their ids or by method and path, except those that cannot be sent', async () => {
    const tools = await toolsOf(SHOP);
    assert.deepEqual(
      Array.from(tools, ([name, { replay, approval, outside }]) => [name, replay, approval, outside]),
      [
        ['list_orders', 'read', false, true],
        ['create_order', 'once', true, true],
        ['get_orders_id', 'read', false, true],
        ['order_controller_replace', 'idempotent', true, true],
        ['delete_order', 'idempotent', true, true],
      ],
    );
  });

  it('have their parameters and their body as one schema, whose references are in it', async () => {
    const { description, parameters } = (await toolsOf(SHOP)).get('create_order') ?? assert.fail();
    assert.equal(description, 'Creates an order');
    assert.deepEqual(parameters, {
      type: 'object',
      properties: { body: { $ref: '#/$defs/Item' } },
      required: ['body'],
      additionalProperties: false,
      $defs: {
        Item: {
          type: 'object',
          required: ['sku'],
          properties: { sku: string, parts: { type: 'array', items: { $ref: '#/$defs/Item' } } },
        },
      },
    });
    const found = (await toolsOf(SHOP)).get('get_orders_id')?.parameters;
    assert.deepEqual(found?.['properties'], { id: { ...string, description: 'Id of the order' } });
  });

  it('refuse arguments that do not match', async () => {
    const { input } = (await toolsOf(SHOP)).get('create_order') ?? assert.fail();
    const wrong = input.safeParse({ body: { parts: [{ sku: 1 }] }, more: 1 });
    const words = wrong.error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
    assert.deepEqual(words?.toSorted(), [
      ' must NOT have additional properties: more',
      "body must have required property 'sku'",
      'body.parts.0.sku must be string',
    ]);
  });

  it('send each argument where the document says', async () => {
    const input = { status: ['new', 'a&b'], fields: ['id', 'sum'], filter: { by: 'x' }, 'x-trace': 't1' };
    assert.equal(await call('list_orders', input), '{"ok":true}');
    assert.equal(received?.method, 'GET');
    assert.equal(received?.url, '/api/orders?status=new&status=a%26b&fields=id%2Csum&filter%5Bby%5D=x');
    assert.equal(received?.headers['x-trace'], 't1');
    await call('create_order', { body: { sku: 'A' } });
    assert.deepEqual(
      [received?.method, received?.body, received?.headers['content-type']],
      ['POST', '{"sku":"A"}', 'application/json'],
    );
    await call('order_controller_replace', { id: 'a/b ?', body: { one: 1, two: ['x', 'y z'] } });
    assert.deepEqual([received?.url, received?.body], ['/api/orders/a%2Fb%20%3F', 'one=1&two=x&two=y+z']);
  });

  it('never leave the path by an argument', async () => {
    for (const wrong of ['.', '..', ''])
      await assert.rejects(call('delete_order', { id: wrong }), /id must not be/);
    await call('delete_order', { id: '../admin' });
    assert.equal(received?.url, '/api/orders/..%2Fadmin');
  });

  it('carry the secret as the document or the setting says', async () => {
    await call('list_orders', {}, { secret: 'shop' });
    assert.equal(received?.headers.authorization, 'Bearer s3cret');
    await call('list_orders', {}, { secret: 'shop', auth: 'basic' });
    assert.equal(received?.headers.authorization, `Basic ${btoa('s3cret')}`);
    await call('list_orders', {}, { secret: 'shop', auth: { header: 'x-api-key' } });
    assert.equal(received?.headers['x-api-key'], 's3cret');
    await call('list_orders', {}, { secret: 'shop', auth: { query: 'key' } });
    assert.equal(received?.url, '/api/orders?key=s3cret');
    const { secrets } = (await toolsOf(SHOP, { secret: 'shop' })).get('list_orders') ?? assert.fail();
    assert.deepEqual(secrets, ['shop']);
  });

  it('may be repeated with a header that the service recognises', async () => {
    await call('create_order', { body: { sku: 'A' } }, { idempotencyHeader: 'Idempotency-Key' });
    assert.equal(received?.headers['idempotency-key'], 'key-1');
    const tools = await toolsOf(SHOP, { idempotencyHeader: 'Idempotency-Key' });
    assert.equal(tools.get('create_order')?.replay, 'idempotent');
  });

  it('fail with the words of the service, and follow no redirect', async () => {
    answer = { ...OK, status: 409, body: '{"error":"sold out"}' };
    await assert.rejects(call('list_orders', {}), /^Error: 409 Conflict\n\{"error":"sold out"\}/);
    answer = { ...OK, status: 302, location: 'http://elsewhere.example/' };
    await assert.rejects(
      call('list_orders', {}, { secret: 'shop' }),
      /redirects to http:\/\/elsewhere\.example\//,
    );
    answer = { ...OK, type: 'image/png', body: 'PNG' };
    assert.equal(await call('list_orders', {}), '[3 bytes of image/png]');
    answer = { ...OK, body: 'x'.repeat(6_000_000) };
    await assert.rejects(call('list_orders', {}), /more than 5000000 bytes/);
    answer = { ...OK, status: 204, body: '' };
    assert.equal(await call('list_orders', {}), '204 No Content');
    answer = OK;
  });

  it('are chosen by name, and people decide about those that the setting names', async () => {
    const approval: OpenapiOptions['approval'] = ({ method, path, tags }) =>
      method === 'GET' && path === '/orders/{id}' && tags.includes('orders');
    const tools = await toolsOf(SHOP, { only: ['get_orders_id', 'delete_order'], approval });
    assert.deepEqual(
      Array.from(tools, ([name, tool]) => [name, tool.approval]),
      [
        ['get_orders_id', true],
        ['delete_order', false],
      ],
    );
    await assert.rejects(toolsOf(SHOP, { only: ['nothing'] }), /the document has no operation nothing/);
    await assert.rejects(toolsOf(SHOP, { only: ['upload_picture'] }), /its body is multipart\/form-data/);
  });

  it('are read from Swagger 2 and from YAML, with values that may be null', async () => {
    const swagger = {
      swagger: '2.0',
      info: { title: 'Old', version: '1' },
      host: 'old.example',
      schemes: ['https'],
      basePath: '/v2',
      paths: {
        '/pets/{id}': {
          get: {
            operationId: 'getPet',
            parameters: [{ name: 'id', in: 'path', required: true, type: 'integer' }],
            responses: {},
          },
        },
      },
    };
    const { parameters } = (await toolsOf(swagger)).get('get_pet') ?? assert.fail();
    assert.deepEqual(parameters?.['properties'], { id: { type: 'integer' } });
    const yaml =
      'openapi: 3.0.3\ninfo: {title: T, version: "1"}\nservers: [{url: https://t.example}]\npaths:\n  /x:\n    get:\n      parameters:\n        - {name: q, in: query, schema: {nullable: true, oneOf: [{type: string}, {type: integer}]}}\n';
    const file = join(mkdtempSync(join(tmpdir(), 'openapi-')), 'api.yaml');
    writeFileSync(file, yaml);
    const schema = (await toolsOf(file)).get('get_x')?.parameters;
    assert.deepEqual(schema?.['properties'], {
      q: { anyOf: [{ oneOf: [{ type: 'string' }, { type: 'integer' }] }, { type: 'null' }] },
    });
  });

  it('are refused when the document is none, or cannot be used', async () => {
    await assert.rejects(toolsOf({ hello: 1 }), /neither openapi nor swagger/);
    await assert.rejects(toolsOf('/none/openapi.json'), /ENOENT/);
    answer = { ...OK, status: 404 };
    await assert.rejects(toolsOf(baseUrl), /answers with 404/);
    answer = OK;
    await assert.rejects(toolsOf({ ...SHOP, servers: [] }), /names no server with an address; give baseUrl/);
    const far = { ...SHOP, paths: { '/x': { get: { parameters: [{ $ref: 'other.json#/x' }] } } } };
    await assert.rejects(toolsOf(far), /other\.json#\/x refers to another document/);
  });

  it('are the tools of a file, which change with the document', async (t) => {
    provideExports();
    const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
    t.after(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, 'tools'));
    const write = (document: object): void =>
      writeFileSync(join(folder, 'shop.json'), JSON.stringify(document));
    write(SHOP);
    writeFileSync(
      join(folder, 'tools/shop.ts'),
      `import { openapi } from 'tempoclaw';
export default openapi(new URL('../shop.json', import.meta.url), { secret: 'shop-key' });`,
    );
    const first = await loadTools(folder);
    assert.deepEqual(first.problems, []);
    assert.deepEqual(
      first.tools.map(({ definition }) => definition.name),
      [
        'shop_list_orders',
        'shop_create_order',
        'shop_get_orders_id',
        'shop_order_controller_replace',
        'shop_delete_order',
      ],
    );
    write({ ...SHOP, info: { title: 'Shop', version: '2' } });
    const second = await loadTools(folder);
    assert.notEqual(second.tools[0]?.definition.hash, first.tools[0]?.definition.hash);
    write({
      ...SHOP,
      paths: {
        '/x': {
          get: {
            description: 'd',
            parameters: [{ name: 'q', in: 'query', schema: { enum: ['x'.repeat(40_000)] } }],
          },
        },
      },
    });
    assert.match(
      (await loadTools(folder)).problems[0] ?? '',
      /^tools\/shop\.ts: get_x: .*at most 32768 characters/,
    );
  });
});
