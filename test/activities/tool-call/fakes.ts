/**
 * What calls are planned, decided and run with, as values: tools that only count, and the real rules, scrubber and
 * sealer.
 */
import { registerValues } from '@tempoclaw/scrubber';
import type { CommandPlace } from '@tempoclaw/shell-judge';
import { z } from 'zod';
import type { AgentConfig } from '#domain/agent.ts';
import type { ToolResult } from '#domain/tool.ts';
import { type CallRules, createCallRules } from '#policy/call-rules.ts';
import { type Catalog, createCatalog } from '#policy/catalog.ts';
import { defineTool, type Tool } from '#policy/define-tool.ts';
import { createScrubber } from '#store/secrets/scrubber.ts';
import { createSealer } from '#store/seal.ts';

export const TENANT = 'acme';
export const SECRET = 'hunter2-of-the-vault';
export const scrubber = createScrubber(registerValues([SECRET]));
export const sealer = createSealer([Buffer.alloc(32, 1)]);
export const placeOf = (): Promise<CommandPlace> => Promise.resolve('host');

const input = z.object({
  note: z.string().describe('Any words'),
  mode: z.enum(['plain', 'odd']).optional().describe('Either'),
});

/** Returns what `run` returns; `ran` has the note of each run. */
export function countingTool(
  name: string,
  replay: Tool['replay'],
  run: (note: string, signal: AbortSignal) => Promise<ToolResult> = (note) =>
    Promise.resolve({ ok: true, text: `did ${note}` }),
): { readonly tool: Tool; readonly ran: readonly string[] } {
  const ran: string[] = [];
  const tool = defineTool<z.infer<typeof input>>({
    name,
    description: `Test tool ${name}.`,
    group: name === 'exec' ? 'runtime' : 'other',
    replay,
    input: name === 'exec' ? (z.object({ command: z.string().describe('A command') }) as never) : input,
    limits: { duration: replay === 'readonly' ? 'short' : 'long', timeoutSeconds: 30 },
    summary: (read) => read.note ?? '',
    run: (_deps, read, call) => {
      ran.push(read.note);
      return run(read.note, call.signal);
    },
  });
  return { tool, ran };
}

/** `look` only reads, `act` runs once, `exec` is judged as a command. */
export function someTools(): Catalog {
  return createCatalog([
    countingTool('look', 'readonly').tool,
    countingTool('act', 'once').tool,
    countingTool('exec', 'once').tool,
  ]);
}

export function rulesOf(catalog: Catalog): CallRules {
  return createCallRules({ catalog, tools: {} });
}

/** Its calls of `act` need approval. */
export const agent: AgentConfig = {
  key: 'main',
  type: 'open',
  model: 'rehearsal/echo',
  tools: { ask: [{ tool: 'act', reason: 'it acts' }] },
};
