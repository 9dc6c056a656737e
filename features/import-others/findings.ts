/** What a folder of another system holds, as requests of our API, and what of it has no counterpart. */
import { isDeepStrictEqual } from 'node:util';
import { scrubJson } from '@tempoclaw/scrubber';
import type { z } from 'zod';
import type { Fields } from '#domain/outside-value.ts';
import type { channelCreateSchema } from '#features/channels/schema.ts';
import type { customToolCreateSchema } from '#features/custom-tools/schema.ts';
import type { mcpGrantPutSchema, mcpServerCreateSchema } from '#features/mcp/index.ts';
import type { ProjectAgent, ProjectSchedule, ProjectSkill } from '#features/projects/index.ts';

export interface FoundDocument {
  readonly agent: string;
  /** Null for the agent's own. */
  readonly user: string | null;
  readonly path: string;
  readonly text: string;
}

export interface FoundGrant {
  readonly server: string;
  readonly agent: string;
  readonly grant: z.output<typeof mcpGrantPutSchema>;
}

/** Something that is not imported. */
export interface Remark {
  readonly what: string;
  readonly why: string;
}

export interface Findings {
  readonly agents: ProjectAgent[];
  readonly skills: ProjectSkill[];
  readonly schedules: ProjectSchedule[];
  readonly documents: FoundDocument[];
  readonly servers: z.output<typeof mcpServerCreateSchema>[];
  readonly grants: FoundGrant[];
  readonly tools: z.output<typeof customToolCreateSchema>[];
  readonly channels: z.output<typeof channelCreateSchema>[];
  readonly remarks: Remark[];
}

export function createFindings(): Findings {
  return {
    agents: [],
    skills: [],
    schedules: [],
    documents: [],
    servers: [],
    grants: [],
    tools: [],
    channels: [],
    remarks: [],
  };
}

/** Adds what our schema accepts and what holds no secret in clear text; the rest becomes a remark. */
export function keep<Schema extends z.ZodType>(
  { remarks }: Findings,
  list: z.output<Schema>[],
  what: string,
  schema: Schema,
  value: unknown,
): boolean {
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const why = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'it'} ${message}`);
    remarks.push({ what, why: why.join('; ') });
    return false;
  }
  if (holdsSecret(parsed.data)) {
    remarks.push({ what, why: HOLDS_SECRET });
    return false;
  }
  list.push(parsed.data);
  return true;
}

export const HOLDS_SECRET =
  'it holds what looks like a secret; take it out, set it by tempoclaw secrets set NAME, and write secret://NAME';

export function holdsSecret(value: unknown): boolean {
  return !isDeepStrictEqual(scrubJson(value), value);
}

/** Remarks on fields that are set and that nothing has read. */
export function remarkRest(
  { remarks }: Findings,
  what: string,
  rest: Fields,
  reasons: Readonly<Record<string, string>>,
): void {
  for (const [name, value] of Object.entries(rest))
    if (isSet(value))
      remarks.push({ what: `${what}: ${name}`, why: reasons[name] ?? 'TempoClaw has nothing like it' });
}

/** Other systems write zero values for fields that nobody set. */
function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(isSet);
  return Boolean(value);
}

/** Makes a name of ours from any text; empty when no letter or digit is in it. */
export function toName(text: unknown): string {
  return String(text ?? '')
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[-_]+|-+$/g, '')
    .slice(0, 64);
}

/** A reference to a secret that the user sets. The value in the folder is not read. */
export function secretReference(...parts: readonly string[]): string {
  return `secret://${parts
    .join('_')
    .replace(/[^\w-]/g, '_')
    .slice(0, 64)}`;
}

/** References in place of all values: which of them are secrets cannot be known. */
export function referencesFor(values: unknown, ...parts: readonly string[]): Record<string, string> {
  const names = typeof values === 'object' && values !== null ? Object.keys(values) : [];
  return Object.fromEntries(names.map((name) => [name, secretReference(...parts, name)]));
}

/** Names of the secrets that a value refers to. */
export function secretsOf(value: unknown): readonly string[] {
  return [...JSON.stringify(value).matchAll(/secret:\/\/([\w-]+)/g)].map(([, name]) => name ?? '');
}
