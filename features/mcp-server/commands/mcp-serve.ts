/**
 * Implements `tempoclaw mcp serve`, a bridge for MCP clients that start their servers. It connects stdin and stdout to
 * `/mcp` of the API, message by message.
 */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Command } from 'commander';
import { usageError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext, wholeNumber } from '#cli/command-context.ts';

/** The JSON-RPC code for a server that could not be reached. */
const INTERNAL_ERROR = -32_603;
const MAX_ERROR = 1_000;

/** Without a further word, `mcp` runs this, because clients name only the command. */
export function register(mcp: Command): void {
  mcp
    .command('serve', { isDefault: true })
    .description('an MCP server over stdin and stdout, for clients that start one')
    .option('--agent <key>', 'whose tools are offered (default: main)')
    .option('--wait <seconds>', 'how long a call waits for its end (default: 50)', wholeNumber(0, 300))
    .action(serve);
}

/** Ends when the client closes stdin; what was started continues in TempoClaw. */
async function serve(
  options: ApiOptions & { readonly agent?: string; readonly wait?: number },
): Promise<void> {
  if (process.stdin.isTTY)
    throw usageError(
      '`mcp serve` is started by an MCP client, which speaks to it over stdin.',
      'Put `npx tempoclaw mcp serve` into the configuration of the client.',
    );
  const { url, key } = createContext(options).client.target();
  const address = new URL(`${url}/mcp`);
  for (const name of ['agent', 'wait'] as const)
    if (options[name] !== undefined) address.searchParams.set(name, String(options[name]));
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  // A redirect could carry the key to another host.
  const http = new StreamableHTTPClientTransport(address, { requestInit: { headers, redirect: 'error' } });
  await bridge(new StdioServerTransport(), http);
}

async function bridge(client: StdioServerTransport, api: StreamableHTTPClientTransport): Promise<void> {
  const open = new Map<RequestId, AbortController>();
  const answer = (message: JSONRPCMessage): void => {
    // A client that has disconnected reads nothing.
    client.send(message).catch(() => undefined);
  };
  const forward = async (message: JSONRPCMessage): Promise<void> => {
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    const call = new AbortController();
    if (id !== undefined) open.set(id, call);
    try {
      await api.send(message, { requestSignal: call.signal });
    } catch (error) {
      if (id === undefined || !open.delete(id)) return;
      const words = error instanceof Error ? error.message : String(error);
      const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
      const text = `TempoClaw did not answer: ${words}${cause}`.slice(0, MAX_ERROR);
      answer({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: text } });
    }
  };
  client.onmessage = (message) => {
    const cancelled = cancelledBy(message);
    if (cancelled === undefined) return void forward(message);
    // Over HTTP, closing its stream cancels a call.
    open.get(cancelled)?.abort();
    open.delete(cancelled);
  };
  api.onmessage = (message) => {
    if ('id' in message && message.id !== undefined && !('method' in message)) open.delete(message.id);
    const version = 'result' in message ? message.result['protocolVersion'] : undefined;
    if (typeof version === 'string') api.setProtocolVersion(version);
    answer(message);
  };
  const closed = new Promise<void>((resolve) => {
    client.onclose = resolve;
  });
  await api.start();
  await client.start();
  await closed;
  await api.close();
}

function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  const id = message.params?.['requestId'];
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}
