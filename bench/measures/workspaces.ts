/**
 * Measures what a step costs when its workspace follows the work (VF-6): a file written, and a command that wrote one,
 * beside the same in a plain folder.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWorkspaceSync } from '../../features/snapshots/activities/workspace-sync.ts';
import { syncFiles } from '../../features/snapshots/activities/sync-files.ts';
import { createFolderStore } from '../../features/artifacts/objects/object-store.ts';
import { createFiles } from '#activities/workspace/files.ts';
import type { Files } from '#activities/workspace/contract.ts';
import { createFileLock } from '#store/files/file-lock.ts';
import { TENANT } from '../contender.ts';
import type { Bench, Measure } from '../measure.ts';
import { shown, spreadOf } from '../report.ts';

const FILES = 5_000;
const FOLDERS = 100;
const FILE_BYTES = 1_000;
const WRITTEN_BYTES = 10_000;
const MAX_MORE_MS = 10;
/** Far longer than it takes. */
const FIRST_MS = 120_000;

export const workspaces: Measure = async (bench) => {
  bench.log(`a workspace of ${FILES} files`);
  const base = await mkdtemp(join(tmpdir(), 'tempoclaw-bench-'));
  try {
    const { wrote, ran } = await stepsIn(bench, base);
    const row = (what: string, { plain, follows, more }: Steps): string[] => [
      what,
      shown(spreadOf(plain)),
      shown(spreadOf(follows)),
      shown(spreadOf(more)),
    ];
    return {
      name: 'workspaces',
      title: 'Workspaces that follow the work',
      how: `A file of ${WRITTEN_BYTES / 1000} kB is written in a workspace of ${FILES} files in ${FOLDERS} folders, by the file tools and as a command does it, one of each in turn: in a plain folder, and in one that follows the work, its objects in a folder on the same disk.`,
      columns: ['', 'plain folder', 'follows', 'more'],
      rows: [row('a file tool, ms', wrote), row('a command, ms', ran)],
      goals: [
        {
          what: `a file of ${WRITTEN_BYTES / 1000} kB in a workspace of ${FILES} files that follows, more ms`,
          value: spreadOf(wrote.more).median,
          limit: MAX_MORE_MS,
          kind: 'max',
        },
      ],
    };
  } finally {
    await rm(base, { recursive: true, force: true });
  }
};

interface Steps {
  readonly plain: number[];
  readonly follows: number[];
  readonly more: number[];
}

async function stepsIn(bench: Bench, base: string): Promise<{ readonly wrote: Steps; readonly ran: Steps }> {
  const plain = createFiles({
    journalDir: join(base, 'journal'),
    now: Date.now,
    lock: createFileLock(bench.stack.pool),
  });
  const root = join(base, 'workspaces');
  const store = createFolderStore(join(base, 'store'));
  const followed = createWorkspaceSync({ pool: bench.stack.pool, store, root, holder: 'bench' });
  const { files: follows, close } = syncFiles(plain, followed, (error) => bench.log(String(error)));
  const folders = { plain: join(root, TENANT, 'bench-plain'), follows: join(root, TENANT, 'bench-follows') };
  for (const folder of Object.values(folders)) await fill(folder);
  const rounds = bench.quick ? 5 : 100;
  const none = (): Steps => ({ plain: [], follows: [], more: [] });
  const [wrote, ran] = [none(), none()];
  // The first use copies everything to the store.
  const leave = await follows.keep?.({ workspace: folders.follows, idempotencyKey: 'first' }, FIRST_MS);
  await leave?.();
  for (let round = 0; round < rounds; round += 1)
    for (const [steps, work] of [
      [wrote, writeOnce],
      [ran, runOnce],
    ] as const) {
      const path = `folder-${round % FOLDERS}/written`;
      const content = randomBytes(WRITTEN_BYTES / 2).toString('hex');
      const [without, having] = [
        await timed(() => work(plain, folders.plain, path, content)),
        await timed(() => work(follows, folders.follows, path, content)),
      ];
      steps.plain.push(without);
      steps.follows.push(having);
      steps.more.push(having - without);
    }
  await close();
  return { wrote, ran };
}

async function writeOnce(files: Files, workspace: string, path: string, content: string): Promise<void> {
  await files.write({ workspace, idempotencyKey: content }, path, content);
}

async function runOnce(files: Files, workspace: string, path: string, content: string): Promise<void> {
  const folder = await files.hold({ workspace, idempotencyKey: content }, '.', 'run');
  await writeFile(join(folder.cwd, path), content);
  await folder.close();
}

async function fill(folder: string): Promise<void> {
  for (let n = 0; n < FOLDERS; n += 1) {
    await mkdir(join(folder, `folder-${n}`), { recursive: true });
    for (let file = 0; file < FILES / FOLDERS; file += 1)
      await writeFile(join(folder, `folder-${n}`, `file-${file}`), randomBytes(FILE_BYTES));
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
