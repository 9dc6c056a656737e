/** The MCP SDK's own client at an API of a test. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export interface McpAddress {
  readonly url: string;
  readonly key: string;
}

/** `query` is that of the address; `mode` is the age of the protocol. */
export async function connectMcp(
  { url, key }: McpAddress,
  options: { readonly query?: string; readonly mode?: 'legacy' | 'auto' } = {},
): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: options.mode ?? 'auto' } },
  );
  const address = new URL(`${url}/mcp${options.query ?? ''}`);
  const headers = { authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
  return client;
}

interface Result {
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
}

/** The texts of a tool's result. */
export function textsOf({ content = [] }: Result): string[] {
  return content.map(({ text }) => text ?? '');
}
