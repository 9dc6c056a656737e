/**
 * Measures what the ledger and egress cost: calls of an MCP server beside the SDK's client, and pages beside fetch and
 * the same converter.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { fetch } from 'undici';
import { BENCH_MCP_SERVER, MCP_SERVER_FILE } from '../mcp-servers.ts';
import { createEgress } from '#activities/egress/create-egress.ts';
import { pageText } from '../../features/web/pages/page-text.ts';
import { createWebPages } from '../../features/web/pages/web-pages.ts';
import { insertEgressRow } from '#store/egress-store.ts';
import { TENANT, timeTurn } from '../contender.ts';
import type { Bench, Measure } from '../measure.ts';
import { ratioOf, shown, spreadOf } from '../report.ts';

const CALLS = 100;
/** Milliseconds that a service takes to answer. */
const CALL_MS = 50;
const PAGE_BYTES = 240_000;

interface Lists {
  readonly bare: number[];
  readonly ours: number[];
}

export const reach: Measure = async (bench) => {
  bench.log(`${CALLS} calls of an MCP server that takes ${CALL_MS} ms`);
  const calls = await mcpCalls(bench);
  bench.log(`a page of ${PAGE_BYTES} bytes`);
  const pages = await pageReads(bench);
  const row = (what: string, { bare, ours }: Lists): string[] => [
    what,
    shown(spreadOf(bare)),
    shown(spreadOf(ours)),
    shown(ratioOf(ours, bare)),
  ];
  return {
    name: 'reach',
    title: 'MCP servers and pages of the web',
    how: `A turn of ${CALLS} steps with one call of an MCP server each, beside the SDK's client that makes the same calls over stdio one after the other; the server takes ${CALL_MS} ms a call. A page of ${PAGE_BYTES / 1000} kB as web_fetch reads it, beside undici's fetch with the same converter.`,
    columns: ['', 'bare', 'TempoClaw', 'ratio'],
    rows: [row(`${CALLS} calls, ms`, calls), row('a page, ms', pages)],
    goals: [
      {
        what: `${CALLS} MCP calls, ratio to the SDK's client`,
        value: ratioOf(calls.ours, calls.bare).median,
        limit: 1.3,
        kind: 'max',
      },
    ],
  };
};

async function mcpCalls(bench: Bench): Promise<Lists> {
  const api = await bench.stack.startApi();
  const lists: Lists = { bare: [], ours: [] };
  const client = new Client({ name: 'bench', version: '1' });
  try {
    const made = await fetch(`${api.url}/v1/mcp/servers`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(BENCH_MCP_SERVER),
    });
    if (made.status !== 201) throw new Error(`the MCP server was not taken: ${await made.text()}`);
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [MCP_SERVER_FILE] }));
    const work = { steps: CALLS, tool: 'mcp_bench__work', callMs: CALL_MS } as const;
    // This connects and lists the tools.
    await timeTurn(bench.ours, { ...work, steps: 1 });
    for (let round = 0; round < (bench.quick ? 1 : 5); round += 1) {
      const began = performance.now();
      for (let call = 0; call < CALLS; call += 1)
        await client.callTool({ name: 'work', arguments: { ms: CALL_MS, call: String(call) } });
      lists.bare.push(performance.now() - began);
      lists.ours.push(await timeTurn(bench.ours, work));
    }
    return lists;
  } finally {
    await client.close();
    await api.stop();
  }
}

async function pageReads(bench: Bench): Promise<Lists> {
  const paragraph = `<p>A paragraph with a <a href="/l">link</a> and <b>bold</b> words, as pages have them.</p>\n`;
  const html = `<html><head><title>Bench</title></head><body><article><h1>Bench</h1>${paragraph.repeat(PAGE_BYTES / paragraph.length)}</article></body></html>`;
  const server = createServer((_request, reply) =>
    reply.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html),
  );
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { signal } = new AbortController();
  const egress = createEgress({
    resolve: async () => ['127.0.0.1'],
    record: (row) => insertEgressRow(bench.stack.pool, row),
  });
  const pages = createWebPages(egress, Date.now);
  const lists: Lists = { bare: [], ours: [] };
  try {
    for (let round = 0; round < (bench.quick ? 1 : 7); round += 1) {
      // Each page has its own address, because a page is cached for a quarter of an hour.
      const url = `http://${place}/${randomUUID()}`;
      let began = performance.now();
      const response = await fetch(url);
      const bytes = new Uint8Array(await response.arrayBuffer());
      await pageText(
        { url, type: 'text/html', contentType: 'text/html; charset=utf-8', bytes },
        'markdown',
        signal,
      );
      lists.bare.push(performance.now() - began);
      began = performance.now();
      const caller = { tenant: TENANT, callId: 'bench', egress: { internalHosts: [place] }, signal };
      await pages.read(caller, { url, method: 'GET', headers: {}, mode: 'markdown' });
      lists.ours.push(performance.now() - began);
    }
    return lists;
  } finally {
    server.close();
  }
}
