/** Our own cases of explain (explain.json), and the workspace of the cases about paths. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { link, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXPLAIN_KINDS, type ExplainKind } from '../schema/explain.ts';

export interface ExplainCase {
  readonly given: Readonly<Record<string, unknown>>;
  /** Must be in the answer, among others. */
  readonly answer?: Readonly<Record<string, unknown>>;
  /** A word of the refusal, for cases that cannot be read. */
  readonly error?: string;
}

const CASES = JSON.parse(readFileSync(new URL('./explain.json', import.meta.url), 'utf8')) as Readonly<
  Record<ExplainKind, readonly ExplainCase[]>
>;

/** `workspace` is for the cases that name none. */
export function explainCases(workspace: string): readonly (readonly [ExplainKind, ExplainCase])[] {
  return EXPLAIN_KINDS.flatMap((kind) =>
    CASES[kind].map((one): [ExplainKind, ExplainCase] => {
      const input = kind === 'path' ? { workspace, ...one.given } : one.given;
      return [kind, { ...one, given: input }];
    }),
  );
}

export async function makeExplainWorkspace(base: string): Promise<string> {
  const workspace = join(base, 'ws');
  for (const folder of ['ws/sub', 'ws/.tempoclaw', 'other'])
    await mkdir(join(base, folder), { recursive: true });
  for (const file of ['ws/a.txt', 'ws/sub/nested.txt', 'ws/.tempoclaw/key', 'other/outside.txt'])
    await writeFile(join(base, file), 'text');
  await symlink(join(base, 'other'), join(workspace, 'link'));
  await symlink('sub', join(workspace, 'inner'));
  await link(join(base, 'other/outside.txt'), join(workspace, 'second.txt'));
  return workspace;
}

export function assertAnswer(answer: Readonly<Record<string, unknown>>, one: ExplainCase): void {
  const shown = `${JSON.stringify(one.given)} gave ${JSON.stringify(answer)}`;
  if (one.error === undefined) assert.partialDeepStrictEqual(answer, one.answer ?? {}, shown);
  else assert.match(JSON.stringify(answer['error'] ?? {}), new RegExp(one.error), shown);
}
