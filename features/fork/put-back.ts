/**
 * Makes the files of a copied workspace what they were at the place of the fork: what later calls of the session
 * replaced is kept (features/undo), and put back. What else they changed stays, and is named.
 */
import { basename, isAbsolute, relative } from 'node:path';
import { MOUNT } from '@tempoclaw/sandbox/settings';
import { FileProblem } from '#activities/workspace/file-problem.ts';
import { createFiles } from '#activities/workspace/files.ts';
import { contains } from '#activities/workspace/resolve-path.ts';
import { type KeptFile, listKeptFiles, readKeptFile } from '#features/undo/index.ts';
import { documentKind } from '#domain/files/document.ts';
import { replayOf, type Tool } from '#policy/define-tool.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import type { Sealer } from '#store/seal.ts';
import { type CallNotPutBack, type ForkResult, MAX_NAMED } from './contract.ts';
import type { LaterCall } from './store/later-calls.ts';

export interface PutBackDeps {
  readonly db: TenantDb;
  readonly sealer: Sealer;
  readonly journalDir: string;
  readonly deniedPaths: readonly string[];
  readonly toolOf: (name: string) => Tool | undefined;
}

type PutBack = Pick<ForkResult, 'put_back' | 'not_put_back' | 'not_put_back_total'>;

/**
 * `copy` is a folder that nobody else uses yet, `from` the path of the original. `calls` are the oldest first. Of several
 * that wrote a file, the first one counts.
 */
export async function putBack(
  deps: PutBackDeps,
  { copy, from }: { readonly copy: string; readonly from: string },
  calls: readonly LaterCall[],
): Promise<PutBack> {
  const kept = await keptFiles(deps, calls);
  const problems = new Map<string, string>();
  const seen = new Set<string>();
  let count = 0;
  for (const call of calls)
    for (const file of kept.get(call.ran) ?? []) {
      const path = pathInside(file.path, from);
      if (seen.has(path)) continue;
      seen.add(path);
      const problem = await putBackFile(deps, copy, path, file);
      if (problem === undefined) count += 1;
      else problems.set(call.id, problem);
    }
  const left = calls.flatMap((call) => {
    const reason = problems.get(call.id) ?? (kept.has(call.ran) ? undefined : whyLeft(call, deps.toolOf));
    return reason === undefined ? [] : [notPutBack(call, reason)];
  });
  return { put_back: count, not_put_back: left.slice(0, MAX_NAMED), not_put_back_total: left.length };
}

async function keptFiles(
  { db }: PutBackDeps,
  calls: readonly LaterCall[],
): Promise<ReadonlyMap<string, readonly KeptFile[]>> {
  const files = await listKeptFiles(
    db,
    calls.map(({ ran }) => ran),
  );
  return Map.groupBy(files, ({ call }) => call);
}

function notPutBack({ id, tool, summary }: LaterCall, reason: string): CallNotPutBack {
  return { call_id: id, tool, summary, reason };
}

/** Undefined for a call that changes nothing. */
function whyLeft({ tool: name, args }: LaterCall, toolOf: PutBackDeps['toolOf']): string | undefined {
  const tool = toolOf(name);
  if (tool && replayOf(tool, args) === 'readonly') return undefined;
  if (tool?.inverse && tool.group === 'fs')
    return 'what the file had before is not kept: it was too large or too much, or is too old';
  return 'what it changed is not known';
}

/** The path as the workspace has it, for one that the model wrote in full. */
function pathInside(path: string, from: string): string {
  for (const root of [from, MOUNT]) if (isAbsolute(path) && contains(root, path)) return relative(root, path);
  return path.replace(/^(?:\.\/)+/, '');
}

/** Returns why the file stays as it is. */
async function putBackFile(
  { db, sealer, journalDir, deniedPaths }: PutBackDeps,
  copy: string,
  path: string,
  file: KeptFile,
): Promise<string | undefined> {
  if (documentKind(path) !== undefined) return `${path} is a document, which all sessions of its user share`;
  const content = await readKeptFile(db, sealer, file);
  if (content === undefined) return 'what the file had before is not kept any more';
  const files = createFiles({
    rules: { deniedPrefixes: deniedPaths },
    journalDir,
    now: Date.now,
    // Nobody else has the folder.
    lock: (_file, work) => work(),
  });
  const scope = { workspace: copy, idempotencyKey: `${basename(copy)}/${path}` };
  try {
    if (content === null) await files.remove(scope, path, () => undefined);
    else await files.write(scope, path, content);
    return undefined;
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    return error.message;
  }
}
