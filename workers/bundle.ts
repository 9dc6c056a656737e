/** The workflow bundle, built once per state of the sources and kept: webpack takes seconds, a worker should not. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { bundleWorkflowCode, type WorkflowBundle } from '@temporalio/worker';

const ROOT = join(import.meta.dirname, '..');

const WORKFLOWS = 'workflows/index.ts';
const INTERCEPTORS = 'workflows/interceptors.ts';

/**
 * Evaluated once a thread and not once a run: the SDK's own modules keep a run's state on its activator and in async
 * storages made for sharing, and ours keep it in the run's functions, none in module scope (test/workers/bundle.test.ts). They
 * are most of what a run costs to begin and to keep (docs/performance.md).
 */
const SHARED_MODULES = ['@temporalio/workflow', '@temporalio/common', WORKFLOWS, INTERCEPTORS];

/** Resolves with the bundle and its name, a hash of all that went into it. `cacheDir` is made when it is missing. */
export async function loadWorkflowBundle(
  cacheDir: string,
): Promise<{ bundle: WorkflowBundle; buildId: string }> {
  const buildId = await sourceHash();
  const path = join(cacheDir, `workflows-${buildId}.js`);
  const kept = await readFile(path, 'utf8').catch(() => undefined);
  if (kept !== undefined) return { bundle: { code: kept }, buildId };
  const { code } = await bundleWorkflows();
  await mkdir(cacheDir, { recursive: true });
  // Two workers may build at once: each writes whole, the last one stays.
  const part = `${path}.${process.pid}`;
  await writeFile(part, code);
  await rename(part, path);
  return { bundle: { code }, buildId };
}

export function bundleWorkflows(): Promise<{ code: string }> {
  return bundleWorkflowCode({
    workflowsPath: join(ROOT, WORKFLOWS),
    workflowInterceptorModules: [join(ROOT, INTERCEPTORS)],
    preloadModules: SHARED_MODULES.map((name) => (name.startsWith('@') ? name : join(ROOT, name))),
    logger: { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
}

function quiet(): void {
  // A build that fails throws; its progress is of no use to anyone.
}

async function sourceHash(): Promise<string> {
  const hash = createHash('sha256');
  const sdk = createRequire(import.meta.url)('@temporalio/worker/package.json') as { version: string };
  hash.update(sdk.version).update(SHARED_MODULES.join());
  for (const folder of ['domain', 'features', 'workflows']) {
    const files = (await readdir(join(ROOT, folder), { recursive: true }))
      .filter((file) => file.endsWith('.ts'))
      .sort();
    for (const file of files)
      hash.update(`\n${folder}/${file}\n`).update(await readFile(join(ROOT, folder, file)));
  }
  return hash.digest('hex').slice(0, 16);
}
