/**
 * What this node was requested to do and did, in a file. An id is there before it runs, so that a repeated one is
 * answered and never run twice, whatever died in between. The opener must be the only one.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { NodeResult } from '../schema.ts';
import { oneAtATime } from '#domain/async/one-at-a-time.ts';
import { isRecord } from '#domain/outside-value.ts';

/** Far longer than any repeat of a request. */
const KEPT_MS = 60 * 60_000;
const MAX_IDS = 20_000;
/** Characters of results; the oldest are removed first. */
const MAX_RESULTS = 16 * 1_048_576;
/** Lines after which the file is rewritten. */
const REWRITE = 2_000;

/** `lost` means that its result is unknown. `full` means that nothing was recorded, and it must not run. */
export type BeginResult = 'new' | 'running' | 'lost' | 'full' | NodeResult;

export interface Journal {
  /** Shows the API whether it is the same journal as before. */
  readonly id: string;
  /** Without `mayBegin`, a new one is `full`. */
  begin(id: string, mayBegin: boolean): Promise<BeginResult>;
  end(id: string, result: NodeResult): Promise<void>;
  close(): Promise<void>;
}

interface Entry {
  readonly id: string;
  readonly at: number;
  readonly result?: NodeResult;
}

export async function openJournal(file: string, now: () => number = Date.now): Promise<Journal> {
  const { journal, entries } = await readEntries(file);
  const running = new Set<string>();
  let kept = 0;
  for (const { result } of entries.values()) kept += result?.text.length ?? 0;
  let lines = 0;
  let handle = await rewritten(file, [{ journal }, ...entries.values()]);
  const inTurn = oneAtATime();

  function forgetOld(): void {
    for (const [id, { at, result }] of entries) {
      if (now() - at <= KEPT_MS || running.has(id)) continue;
      kept -= result?.text.length ?? 0;
      entries.delete(id);
    }
    for (const [id, { at, result }] of entries) {
      if (kept <= MAX_RESULTS) break;
      if (!result) continue;
      kept -= result.text.length;
      entries.set(id, { id, at });
    }
  }

  /** The entry is on disk when it resolves. */
  async function write(entry: Entry): Promise<void> {
    entries.set(entry.id, entry);
    lines += 1;
    if (lines < REWRITE) {
      await handle.appendFile(`${JSON.stringify(entry)}\n`);
      return handle.datasync();
    }
    forgetOld();
    await handle.close();
    handle = await rewritten(file, [{ journal }, ...entries.values()]);
    lines = 0;
  }

  return {
    id: journal,
    begin: (id, mayBegin) =>
      inTurn(async () => {
        const known = entries.get(id);
        if (known) return known.result ?? (running.has(id) ? 'running' : 'lost');
        if (entries.size >= MAX_IDS) forgetOld();
        if (!mayBegin || entries.size >= MAX_IDS) return 'full';
        await write({ id, at: now() });
        running.add(id);
        return 'new';
      }),
    end: (id, result) =>
      inTurn(async () => {
        kept += result.text.length;
        running.delete(id);
        await write({ id, at: now(), result });
      }),
    close: () => inTurn(async () => handle.close()),
  };
}

/** Without a file, the journal is new. A line that was being written when its process died does not count. */
async function readEntries(
  file: string,
): Promise<{ readonly journal: string; readonly entries: Map<string, Entry> }> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const entries = new Map<string, Entry>();
  let journal: string | undefined;
  for (const line of text.split('\n')) {
    const value = parsed(line);
    if (!isRecord(value)) continue;
    if (typeof value['journal'] === 'string') journal = value['journal'];
    else if (typeof value['id'] === 'string') entries.set(value['id'], value as unknown as Entry);
  }
  // Without its head, it is unknown what else is lost.
  return journal === undefined ? { journal: randomUUID(), entries: new Map() } : { journal, entries };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // The line is incomplete.
    return undefined;
  }
}

async function rewritten(file: string, lines: readonly object[]): Promise<FileHandle> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const handle = await open(`${file}.new`, 'w', 0o600);
  await handle.writeFile(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  await handle.sync();
  await rename(`${file}.new`, file);
  return handle;
}
