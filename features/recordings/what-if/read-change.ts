/** What a command line changes, and whether models must answer themselves to show it. */
import { isDeepStrictEqual } from 'node:util';
import { type AgentFlags, readAgentChange } from '#cli/agent-fields.ts';
import { call } from '#cli/call.ts';
import type { Client } from '#cli/client.ts';
import { usageError } from '#cli/cli-error.ts';
import { pathOf } from '#cli/command-context.ts';
import { readObjectFile } from '#cli/object-file.ts';
import { agents } from '#domain/resource/agents.ts';
import { schemaProblem } from '#domain/schema/problem-words.ts';
import { WHAT_IF_FIELDS, type WhatIf, whatIfSchema } from '../schema.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface ChangeFlags {
  /** A revision of the agent that is there. */
  readonly revision?: number | undefined;
  /** A file with a policy of the tenant. */
  readonly policy?: string | undefined;
  readonly live?: boolean | undefined;
  readonly agent: AgentFlags;
}

const POLICY = 'a policy, such as:\ntools:\n  deny: [exec]';

/**
 * With `live` alone nothing differs but what has changed since: the tools, skills and documents as they are now.
 * @throws CliError when nothing would change, or the change cannot be read
 */
export async function readChange(client: Client, key: string, flags: ChangeFlags): Promise<WhatIf> {
  const { revision, policy: file, live } = flags;
  const hasFields = Object.keys(flags.agent).length > 0;
  if (!hasFields && revision === undefined && file === undefined && !live)
    throw usageError(
      'Say what is to differ: --model, --instructions, --file, --revision, --policy or another one, or --live for all as it is now.',
      'See: npx tempoclaw what-if --help',
    );
  const current: Fields = await call(client, agents.operations.getAgent, { params: { key } });
  const ofRevision = revision === undefined ? {} : await readRevision(client, key, revision, current);
  const agent = { ...ofRevision, ...(hasFields ? await readAgentChange(client, key, flags.agent) : {}) };
  const isOfAgent = hasFields || revision !== undefined;
  const change = {
    ...(isOfAgent && { agent }),
    ...(file !== undefined && { policy: readObjectFile(file, POLICY) }),
    models: live || needsModels(current, agent) ? 'called' : 'recorded',
  };
  const read = whatIfSchema.safeParse(change);
  if (read.success) return read.data;
  throw usageError(`The change is not valid: ${schemaProblem(read.error, 'the change')}`);
}

/** Only the fields that have an effect; null for those that the revision does not have. */
async function readRevision(client: Client, key: string, revision: number, current: Fields): Promise<Fields> {
  const { config } = await client.get<{ readonly config: Fields }>(
    pathOf('agents', key, 'revisions', String(revision)),
  );
  const differing = WHAT_IF_FIELDS.filter((field) => !isDeepStrictEqual(config[field], current[field]));
  return Object.fromEntries(differing.map((field) => [field, config[field] ?? null]));
}

/** Rules judge calls that a recording has; anything else may have led to other calls. */
function needsModels(current: Fields, change: Fields): boolean {
  return Object.keys(change).some((field) => {
    if (field === 'exec') return false;
    const [before, after] = [current[field], change[field]];
    return field === 'tools'
      ? !isDeepStrictEqual(offeredBy(before), offeredBy(after))
      : !isDeepStrictEqual(before, after);
  });
}

/** The part of `tools` that says which of them the model sees. */
function offeredBy(tools: unknown): Fields {
  const { rules: _rules, ask: _ask, ...offered } = (tools ?? {}) as Fields;
  return offered;
}
