/**
 * Finds which tests there are, what servers each needs, and which share a process. It reads that from their imports and
 * folders, so that there is no list to maintain.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Servers that the run starts (test/support/services.ts). Each is named after the variable in which tests find it. */
const SERVERS = /\bTEST_(?:TEMPORAL_ADDRESS|DATABASE_URL|DOCKER_HOST)\b/g;

/**
 * Rules, what a worker runs, and packages. A test there that needs none of the servers, and is not in a folder of tests
 * that start servers, is a unit test.
 */
const UNIT_FOLDERS =
  /^(?:test\/(?:domain|policy|store|temporal|activities|build)|(?:features|packages)\/[^/]+\/test(?!\/servers\/))\//;

/**
 * These tests start whole programs, use them as their users do, and kill them. Files that import one of PROGRAMS are
 * system tests too, as are tests in containers of an engine.
 */
const SYSTEM_FOLDERS = /^test\/(?:bench|interop|start|system|ui)\//;
const PROGRAMS = ['test/start/program.ts', 'test/support/api-process.ts'];

/**
 * Folders tested without any feature but the engine of turns. A rule selects them, so that no core test needs a feature unnoticed. Tests of the
 * whole build are in test/build.
 */
const CORE_FOLDERS = /^test\/(?:activities|api|domain|policy|store|temporal|workers|workflows)\//;

/**
 * Files that share a process: enough that loading the code is a small part, few enough that both cores are busy to the
 * end.
 */
const UNITS = 48;
const OTHERS = 12;

/** Matches imports of more than types. */
const IMPORTS = /^import (?!type\b)[^;]*? from '(?:#((?:test|features\/[^/]+\/test)\/[^']+)|(\.[^']+))'/gm;

/** Tests of the core and of the whole build, of each feature and of each package. */
export const TESTS = ['test/**/*.test.ts', '{features,packages}/*/test/**/*.test.ts'];

export type TestKind = 'unit' | 'live' | 'system';

/** All test files of the kinds, sorted. */
export function testFiles(kinds: readonly TestKind[]): string[] {
  return globSync(TESTS)
    .filter((file) => kinds.includes(kindOf(file)))
    .toSorted();
}

function kindOf(file: string): TestKind {
  const closure = closureOf([file]);
  if (SYSTEM_FOLDERS.test(file) || PROGRAMS.some((program) => closure.has(program))) return 'system';
  const servers = serversOf([file]);
  if (servers.has('TEST_DOCKER_HOST')) return 'system';
  return UNIT_FOLDERS.test(file) && servers.size === 0 ? 'unit' : 'live';
}

/** The variables of the servers that are read by these files, or by what they import from tests. */
export function serversOf(files: readonly string[]): ReadonlySet<string> {
  const texts = [...closureOf(files).values()];
  return new Set(texts.flatMap((text) => [...text.matchAll(SERVERS)].map(([name]) => name)));
}

/** The files and what they import from tests, with their texts. */
function closureOf(files: readonly string[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const open = [...files];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (texts.has(file) || !existsSync(file)) continue;
    const text = readFileSync(file, 'utf8');
    texts.set(file, text);
    for (const [, own, near] of text.matchAll(IMPORTS)) {
      const found = own ?? join(dirname(file), near ?? '');
      if (/^(?:test|(?:features|packages)\/[^/]+\/test)\//.test(found)) open.push(found);
    }
  }
  return texts;
}

/**
 * Groups files that run one after the other in one process. Tests of programs have one process each, so that none finds
 * what another left running. The long ones come first, so that the last process is a short one.
 */
export function batchesOf(files: readonly string[]): readonly TestBatch[] {
  const of = (kind: TestKind, isCore: boolean) =>
    files.filter((file) => kindOf(file) === kind && CORE_FOLDERS.test(file) === isCore);
  const batches = (isCore: boolean, kind: TestKind, size: number): TestBatch[] =>
    dealt(of(kind, isCore), size).map((batch) => ({ files: batch, isCore }));
  return [
    ...files.filter((file) => kindOf(file) === 'system').map((file) => ({ files: [file], isCore: false })),
    ...batches(true, 'live', OTHERS),
    ...batches(false, 'live', OTHERS),
    ...batches(true, 'unit', UNITS),
    ...batches(false, 'unit', UNITS),
  ];
}

export interface TestBatch {
  readonly files: readonly string[];
  /** True if the tests run without other features. */
  readonly isCore: boolean;
}

/** Deals the files like cards, because neighbours often take equally long. */
function dealt(files: readonly string[], size: number): string[][] {
  const piles = Math.ceil(files.length / size);
  return Array.from({ length: piles }, (_, pile) => files.filter((_file, index) => index % piles === pile));
}
