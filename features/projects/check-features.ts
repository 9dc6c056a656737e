/** Checks the own features of an installation as far as that needs no servers: their parts can be loaded and fit. */
import type { Feature } from '#domain/feature.ts';
import { loadCatalog } from '#policy/catalog.ts';

/** The parts that are modules, with the export that each has. */
const PARTS = { rows: 'rowPart', api: 'createApiPart', worker: 'createWorkerPart' } as const;

/** What is wrong, a line each; each begins with the feature's folder, if one is to blame. */
export async function checkFeatures(features: readonly Feature[]): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const feature of features) {
    if (!feature.own) continue;
    const wrong = await partsProblem(feature).catch((error: unknown) => wordsOf(error));
    if (wrong !== undefined) problems.push(`${feature.own.folder}: ${wrong}`);
  }
  if (problems.length > 0) return problems;
  // Tools of all features have different names.
  return loadCatalog(features).then(
    () => [],
    (error: unknown) => [wordsOf(error)],
  );
}

async function partsProblem(feature: Feature): Promise<string | undefined> {
  for (const [part, name] of Object.entries(PARTS) as [keyof typeof PARTS, string][]) {
    const module = await feature[part]?.();
    if (module && !Object.hasOwn(module, name)) return `the module of ${part} exports no ${name}`;
  }
  for (const load of feature.routes ?? [])
    if (typeof (await load()).addRoutes !== 'function') return 'a module of routes exports no addRoutes';
  for (const load of feature.tools ?? [])
    if (typeof (await load()).tool !== 'object') return 'a module of tools exports no tool';
  for (const { name, load } of feature.commands ?? [])
    if (typeof (await load([])) !== 'object') return `the command ${name} loads nothing`;
  return undefined;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
