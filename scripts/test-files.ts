/** Which tests there are, what servers each needs, and which share a process: read from their imports and folders, so that no list is kept. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Servers that the run starts (test/support/services.ts), each named as the variable in which tests find it. */
const SERVERS = /\bTEST_(?:TEMPORAL_ADDRESS|DATABASE_URL|DOCKER_HOST)\b/g;

/** Rules, what a worker runs, and packages. What needs none of the servers here is a unit test. */
const UNIT_FOLDERS =
  /^(?:test\/(?:domain|policy|store|temporal|activities|build)|(?:features|packages)\/[^/]+\/test)\//;

/** Whole programs are started, used as their users do, and killed. So they are where one of PROGRAMS is imported, and in boxes of an engine. */
const SYSTEM_FOLDERS = /^test\/(?:bench|interop|start|system|ui)\//;
const PROGRAMS = ['test/start/program.ts', 'test/support/api-process.ts'];

/** What is tested without any feature: by rule, so that no core test needs one unnoticed. Those of the whole build are in test/build. */
const CORE_FOLDERS = /^test\/(?:activities|api|domain|policy|store|temporal|workers|workflows)\//;

/** So many share a process: enough that loading the code is a small part, few enough that both cores are busy to the end. */
const UNITS = 48;
const OTHERS = 12;

/** Of more than types. */
const IMPORTS = /^import (?!type\b)[^;]*? from '(?:#((?:test|features\/[^/]+\/test)\/[^']+)|(\.[^']+))'/gm;

/** Of the core and of the whole build, of each feature and of each package. */
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

/** The variables of the servers that these files, or what they import of tests, read. */
export function serversOf(files: readonly string[]): ReadonlySet<string> {
  const texts = [...closureOf(files).values()];
  return new Set(texts.flatMap((text) => [...text.matchAll(SERVERS)].map(([name]) => name)));
}

/** The files and what they import of tests, with their texts. */
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
 * Files that run one after the other in one process. Those of programs have one each, so that none finds what another left
 * running. The long ones come first, so that the last process is a short one.
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
  /** Without features. */
  readonly isCore: boolean;
}

/** Dealt like cards: neighbours are often alike in how long they take. */
function dealt(files: readonly string[], size: number): string[][] {
  const piles = Math.ceil(files.length / size);
  return Array.from({ length: piles }, (_, pile) => files.filter((_file, index) => index % piles === pile));
}
