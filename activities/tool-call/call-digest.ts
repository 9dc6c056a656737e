/** The digest that an approval is bound to (AP-4): the exact call, independent of the order of its keys. */
import { createHash } from 'node:crypto';
import type { BoundFile } from '#domain/approval/bound-file.ts';
import type { SandboxTerms } from '#domain/sandbox.ts';
import type { Tool } from '#policy/define-tool.ts';

/**
 * Hex SHA-256 of tool and arguments in canonical form (keys sorted, as in RFC 8785 for plain JSON). `definition`
 * belongs to a tool that may change, so that an approval applies to what was shown. `sandbox` is where an approved call
 * runs. Calls without an approval have none, and neither have approvals of versions that did not bind them to it.
 * `files` are those of the workspace when the approval was created.
 */
export function callDigest(
  tool: string,
  args: Readonly<Record<string, unknown>>,
  definition?: Tool['definition'],
  sandbox?: SandboxTerms | null,
  files: readonly BoundFile[] = [],
): string {
  const revision = definition === undefined ? '' : `@${definition.id}.${definition.revision}`;
  const place = sandbox ? `\nsandbox ${canonical(sandbox)}` : '';
  const run = files.length > 0 ? `\nfiles ${canonical(files)}` : '';
  return createHash('sha256')
    .update(`${tool}${revision}\n${canonical(args)}${place}${run}`)
    .digest('hex');
}

/** One text for all values that differ only in the order of their keys. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`;
}
