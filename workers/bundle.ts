/**
 * The workflow bundle, built once for each state of the sources and cached: webpack takes seconds, and a worker's start
 * should not.
 */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundle } from '@temporalio/worker';
import type { Feature } from '#domain/feature.ts';
import { SOURCE_ENDING } from '#domain/source-ending.ts';

const ROOT = join(import.meta.dirname, '..');
/** The folder of the installed packages, which may be one above ours. */
const PACKAGES = join(
  dirname(createRequire(import.meta.url).resolve('@temporalio/workflow/package.json')),
  '../..',
);

const WORKFLOWS = `workflows/index${SOURCE_ENDING}`;
const INTERCEPTORS = `workflows/interceptors${SOURCE_ENDING}`;

/**
 * Modules evaluated once per thread and not once per run. The SDK's modules keep a run's state on its activator and in
 * async storages made for sharing. Ours keep it in the run's functions, none in module scope
 * (test/workers/bundle.test.ts). They are most of what a run costs to start and to keep (docs/performance.md).
 */
const SHARED_MODULES = ['@temporalio/workflow', '@temporalio/common'];

/** The parts of a feature that contain workflows. */
type Bringer = Pick<Feature, 'workflows' | 'own'>;

/** Resolves with the bundle and its name, a hash of all its inputs. `cacheDir` is created when it is missing. */
export async function loadWorkflowBundle(
  cacheDir: string,
  features: readonly Bringer[],
): Promise<{ bundle: WorkflowBundle; buildId: string }> {
  const buildId = await sourceHash(features);
  const path = join(cacheDir, `workflows-${buildId}.js`);
  const kept = await readFile(path, 'utf8').catch(() => undefined);
  if (kept !== undefined) return { bundle: { code: kept }, buildId };
  const { code } = await bundleWorkflows(features);
  await mkdir(cacheDir, { recursive: true });
  // Two workers may build at once: each writes a whole file, and the last one stays.
  const part = `${path}.${process.pid}`;
  await writeFile(part, code);
  await rename(part, path);
  return { bundle: { code }, buildId };
}

/** Bundles the core's workflows and those of the features, which replace the core's of the same name. */
export async function bundleWorkflows(features: readonly Bringer[]): Promise<{ code: string }> {
  const files = workflowFiles(features);
  const folder = await mkdtemp(join(tmpdir(), 'workflows-'));
  try {
    const entry = join(folder, 'workflows.js');
    const exported = files.map((file) => `require(${JSON.stringify(file)})`);
    await writeFile(entry, `module.exports = Object.assign({}, ${exported.join()});\n`);
    const interceptors = join(ROOT, INTERCEPTORS);
    return await bundleWorkflowCode({
      workflowsPath: entry,
      workflowInterceptorModules: [interceptors],
      preloadModules: [...SHARED_MODULES, ...files, interceptors],
      // The entry belongs to no package.
      webpackConfigHook: (config) => ({
        ...config,
        resolve: {
          ...config.resolve,
          modules: [...(config.resolve?.modules ?? []), PACKAGES],
        },
      }),
      logger: { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet },
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

function workflowFiles(features: readonly Bringer[]): readonly string[] {
  const added = features.flatMap(({ workflows = [] }) => workflows.map((url) => fileURLToPath(url)));
  return [join(ROOT, WORKFLOWS), ...added];
}

function quiet(): void {
  // A failed build throws; its progress is not logged.
}

async function sourceHash(features: readonly Bringer[]): Promise<string> {
  const hash = createHash('sha256');
  const sdk = createRequire(import.meta.url)('@temporalio/worker/package.json') as { version: string };
  const entries = workflowFiles(features).map((file) => relative(ROOT, file));
  hash.update(sdk.version).update([...SHARED_MODULES, ...entries].join());
  for (const { own, workflows } of features) if (own && workflows) hash.update(own.digest);
  for (const folder of ['domain', 'features', 'packages', 'workflows']) {
    const files = (await readdir(join(ROOT, folder), { recursive: true }))
      .filter((file) => file.endsWith(SOURCE_ENDING))
      .sort();
    for (const file of files)
      hash.update(`\n${folder}/${file}\n`).update(await readFile(join(ROOT, folder, file)));
  }
  return hash.digest('hex').slice(0, 16);
}
