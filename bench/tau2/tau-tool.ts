/** Tools of τ² as tools of ours. A file in `tools/` is made for each, and calls `tauTool`. */
import { tool, z, type CodeTool, type ToolContext } from 'tempoclaw';

/**
 * What is declared of a tool that writes. `probe`: it runs once, and the service can be asked for its result. `once`: it runs
 * once, and nothing can be asked. `retry`: it may be repeated, which is not true; so it is repeated as an activity of
 * Temporal is, without what TempoClaw knows of calls that must not be.
 */
export const MODES = ['probe', 'once', 'retry'] as const;
export type Mode = (typeof MODES)[number];

export interface TauTool {
  readonly name: string;
  readonly writes: boolean;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

const answer = z.object({ text: z.string() });

export function tauTool(
  service: string,
  mode: Mode,
  { name, writes, description, schema }: TauTool,
): CodeTool {
  const calls = (context: ToolContext): string => `${service}/tasks/${context.session}/calls`;
  const headersOf = ({ idempotencyKey }: ToolContext) => ({ 'idempotency-key': idempotencyKey });
  const shared = { description, input: z.fromJSONSchema(schema) };
  const run = async (input: unknown, context: ToolContext): Promise<string> => {
    const { signal } = context;
    const response = await fetch(`${calls(context)}/${name}`, {
      method: 'POST',
      headers: headersOf(context),
      body: JSON.stringify(input),
      signal,
    });
    if (!response.ok) throw new Error(`the service answered ${response.status}`);
    return answer.parse(await response.json()).text;
  };
  if (!writes) return tool({ ...shared, replay: 'read', run });
  if (mode === 'retry') return tool({ ...shared, replay: 'idempotent', run });
  if (mode === 'once') return tool({ ...shared, replay: 'once', run });
  return tool({
    ...shared,
    replay: 'once',
    run,
    async probe(_input, context) {
      const key = encodeURIComponent(context.idempotencyKey);
      const response = await fetch(`${calls(context)}/${key}`, { signal: context.signal });
      if (response.status === 404) return undefined;
      if (!response.ok) throw new Error(`the service answered ${response.status}`);
      return answer.parse(await response.json()).text;
    },
  });
}
