/**
 * process: the background commands of this session. `once`, because writing input twice may do harm, although reading
 * and killing could be repeated.
 */
import { z } from 'zod';
import { defineTool, type RunningCall, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import type { BackgroundProcess } from '@tempoclaw/sandbox';
import type { Processes } from '#activities/process/session-processes.ts';
import { plain } from '#activities/process/command-text.ts';
import { type ToolResult, toolError } from '#domain/tool.ts';

const POLL_BYTES = 4_000;
const LOG_BYTES = 30_000;

const input = z.object({
  action: z.enum(['list', 'poll', 'log', 'write', 'kill']).describe('What to do'),
  id: textField(64, 'Which process, for all but list').optional(),
  data: textField(65_536, 'write: text for its input; end a line with \\n').optional(),
  eof: z.boolean().default(false).describe('write: close its input afterwards'),
  offset: z
    .int()
    .min(0)
    .optional()
    .describe('log: first byte of output to read; the newest output when left out'),
});

type Input = z.infer<typeof input>;

export const tool = defineTool<Input, Pick<ToolDeps, 'processes'>>({
  name: 'process',
  description:
    'Manage commands started with exec background: list them, poll one (state and newest output), read its log, write to its input, kill it with all it started.',
  keywords:
    'stop end kill running job server dev background status log stdin task output check still up alive restart wait for watch tail progress terminate interrupt jobs services type yes installer input',
  group: 'runtime',
  replay: 'once',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ action, id }) => (id === undefined ? action : `${action} ${id}`),
  serial: true,
  parameterAliases: { process_id: 'id', session_id: 'id', input: 'data' },
  run: async ({ processes }, args, call) => {
    if (args.action === 'list') return list(await processes.list(call));
    if (args.id === undefined) return toolError('InvalidArgs', `id: is required for ${args.action}`);
    const found = await processes.find(call, args.id);
    // It may print what others have written meanwhile.
    await call.origins?.read('');
    if (found === undefined)
      return toolError(
        'NotFound',
        `you have no process "${args.id}" in this session; action list names them`,
      );
    switch (args.action) {
      case 'poll':
        return poll(processes, call, found);
      case 'log':
        return log(processes, call, found, args.offset);
      case 'write':
        return write(processes, call, found, args);
      case 'kill': {
        const killed = await processes.kill(call, found.id);
        return {
          ok: true,
          text: killed ? `Killed ${found.id}` : `${found.id} had ended already: ${state(found)}`,
        };
      }
    }
  },
});

function state({ running, exitCode }: BackgroundProcess): string {
  if (running) return 'running';
  return exitCode === null ? 'killed' : `ended with exit code ${exitCode}`;
}

function list(all: readonly BackgroundProcess[]): ToolResult {
  if (all.length === 0) return { ok: true, text: '(no background processes)' };
  const lines = all.map((one) => {
    const command = one.command.replaceAll(/\s+/g, ' ');
    return `${one.id} ${state(one)}, pid ${one.pid}, started ${one.startedAt}: ${command.slice(0, 200)}`;
  });
  return { ok: true, text: lines.join('\n') };
}

async function poll(processes: Processes, call: RunningCall, one: BackgroundProcess): Promise<ToolResult> {
  const page = await processes.log(call, one.id, undefined, POLL_BYTES);
  const output = plain(page?.text ?? '').trimEnd();
  const more = (page?.from ?? 0) > 0 ? `[newest ${POLL_BYTES} of ${page?.total} bytes]\n` : '';
  return { ok: true, text: `${one.id}: ${state(one)}\n${more}${output === '' ? '(no output)' : output}` };
}

async function log(
  processes: Processes,
  call: RunningCall,
  one: BackgroundProcess,
  offset: number | undefined,
): Promise<ToolResult> {
  const page = await processes.log(call, one.id, offset, LOG_BYTES);
  if (page === undefined || page.total === 0) return { ok: true, text: '(no output)' };
  const { text, from, next, total } = page;
  const gone = offset !== undefined && from > offset ? `; older output is no longer kept` : '';
  const on = next < total ? `; read on with offset=${next}` : '';
  return { ok: true, text: `${plain(text)}\n[bytes ${from} to ${next} of ${total}${gone}${on}]` };
}

async function write(
  processes: Processes,
  call: RunningCall,
  one: BackgroundProcess,
  { data, eof }: Input,
): Promise<ToolResult> {
  if (data === undefined && !eof) return toolError('InvalidArgs', 'data: is required for write, or set eof');
  const wrote = await processes.write(call, one.id, data ?? '', eof);
  if (wrote) return { ok: true, text: `Wrote ${Buffer.byteLength(data ?? '')} bytes to ${one.id}` };
  return toolError(
    'ExecutionFailed',
    `${one.id} does not read its input (${state(one)}); part of the text may have been taken`,
  );
}
