/** Which tests there are, what servers each needs, and which share a process: read from their imports and folders, so that no list is kept. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Servers that the run starts (test/support/services.ts), each named as the variable in which tests find it. */
const SERVERS = /\bTEST_(?:TEMPORAL_ADDRESS|DATABASE_URL|DOCKER_HOST)\b/g;

/** Rules and what a worker runs. What needs none of the servers here is a unit test. */
const UNIT_FOLDERS = /^test\/(?:domain|policy|store|temporal|activities)\//;

/** They start whole programs, or measure: each has a process of its own, so that none finds what another left running. */
const ALONE_FOLDERS = /^test\/(?:bench|docs|examples|interop|replay|start|system|ui)\//;

/** So many share a process: enough that loading the code is a small part, few enough that both cores are busy to the end. */
const BATCH = 12;

export type Kind = 'unit' | 'system' | 'rest';

/** All test files of the kinds, sorted. */
export function testFiles(kinds: readonly Kind[]): string[] {
  return globSync('test/**/*.test.ts')
    .filter((file) => kinds.includes(kindOf(file)))
    .toSorted();
}

function kindOf(file: string): Kind {
  if (file.startsWith('test/system/')) return 'system';
  return UNIT_FOLDERS.test(file) && serversOf([file]).size === 0 ? 'unit' : 'rest';
}

/** The variables of the servers that these files, or what they import under test/, read. */
export function serversOf(files: readonly string[]): ReadonlySet<string> {
  const servers = new Set<string>();
  const seen = new Set<string>();
  const open = [...files];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file) || !existsSync(file)) continue;
    seen.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [name] of text.matchAll(SERVERS)) servers.add(name);
    for (const [, own, near] of text.matchAll(/from '(?:#(test\/[^']+)|(\.[^']+))'/g)) {
      const found = own ?? join(dirname(file), near ?? '');
      if (found.startsWith('test/')) open.push(found);
    }
  }
  return servers;
}

/** Files that run one after the other in one process. The long ones come first, so that the last process is a short one. */
export function batchesOf(files: readonly string[]): readonly (readonly string[])[] {
  const alone = files.filter((file) => ALONE_FOLDERS.test(file));
  const shared = files.filter((file) => !ALONE_FOLDERS.test(file));
  const unit = shared.filter((file) => kindOf(file) === 'unit');
  const rest = shared.filter((file) => kindOf(file) !== 'unit');
  return [...alone.map((file) => [file]), ...dealt(rest, BATCH), ...dealt(unit, BATCH * 4)];
}

/** Dealt like cards: neighbours are often alike in how long they take. */
function dealt(files: readonly string[], size: number): string[][] {
  const piles = Math.ceil(files.length / size);
  return Array.from({ length: piles }, (_, pile) => files.filter((_file, index) => index % piles === pile));
}
