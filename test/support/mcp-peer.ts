/**
 * An MCP server of the worst kind, over stdio, as a program. What it lists and does is in a JSON file that tests change
 * while it runs. It writes its lines by hand, because no library would write them.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

export interface Peer {
  readonly tools: readonly object[];
  /** What it does before its first message. */
  readonly start?: 'exit' | 'silent' | 'junk';
  /** What it does when a tool is called; by default it answers with the tool's name and arguments. */
  readonly call?: 'exit' | 'silent' | 'long line' | 'error' | 'asks';
}

const [, , file = '', record] = process.argv;
const peer = (): Peer => JSON.parse(readFileSync(file, 'utf8')) as Peer;
const note = (line: object): void => {
  if (record !== undefined) appendFileSync(record, `${JSON.stringify(line)}\n`);
};
const send = (message: object): boolean =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

interface Request {
  readonly id?: number;
  /** Undefined for an answer. */
  readonly method?: string;
  readonly params?: {
    readonly protocolVersion?: string;
    readonly name?: string;
    readonly arguments?: object;
  };
}

function answer({ id, method, params = {} }: Request): void {
  note({ method, name: params.name, arguments: params.arguments });
  if (id === undefined) return;
  switch (method) {
    case 'initialize':
      send({
        id,
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: 'peer', version: '1' },
        },
      });
      return;
    case 'tools/list':
      send({ id, result: { tools: peer().tools } });
      return;
    case 'tools/call':
      return callTool(id, params);
    case undefined:
      // This answers its question, so it asks again.
      return ask();
    default:
      send({ id, result: {} });
  }
}

/** Asks with more fields than anybody is shown. */
function ask(): void {
  const properties = Object.fromEntries(Array.from({ length: 41 }, (_, n) => [`f${n}`, { type: 'string' }]));
  const requestedSchema = { type: 'object', properties };
  send({ id: 1, method: 'elicitation/create', params: { message: 'Who?', requestedSchema } });
}

function callTool(id: number, { name, arguments: args }: NonNullable<Request['params']>): void {
  switch (peer().call) {
    case 'exit':
      process.exit(1);
      return;
    case 'silent':
      return;
    case 'long line':
      // It writes up to 100 MB, as much as is read.
      for (let n = 0; n < 100; n += 1) process.stdout.write('x'.repeat(1_000_000));
      return;
    case 'asks':
      return ask();
    case 'error':
      send({ id, result: { isError: true, content: [{ type: 'text', text: 'it went wrong' }] } });
      return;
    default:
      send({ id, result: { content: [{ type: 'text', text: `${name} ${JSON.stringify(args)}` }] } });
  }
}

note({ start: process.pid, cwd: process.cwd(), env: Object.keys(process.env).sort() });
const { start } = peer();
if (start === 'exit') {
  process.stderr.write('no licence found\n');
  process.exit(1);
}
if (start === 'junk') process.stdout.write('Welcome to peer!\n{"jsonrpc":"1.0"}\n[[[\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const request = JSON.parse(line) as Request;
  if (start !== 'silent') answer(request);
});
// SIGUSR2 means that the list has changed.
process.on('SIGUSR2', () => send({ method: 'notifications/tools/list_changed' }));
