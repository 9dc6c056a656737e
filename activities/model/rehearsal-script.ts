/**
 * Finds, reads and checks rehearsal scripts. A script is a YAML file with the model's name: `rehearsal/echo` is
 * `echo.yaml` in the first folder that has it. A faulty file is reported with line and column; a changed file is read
 * again.
 */
import { statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import { ModelError } from '#domain/model/model.ts';
import { problemsOf, type ScriptProblem } from './rehearsal-rules.ts';
import { scriptSchema, type WrittenScript } from './rehearsal-schema.ts';

export interface ScriptStore {
  /** @throws ModelError UnknownModel when no folder has it, BadRequest when the file is faulty */
  load(name: string): Promise<WrittenScript>;
  /** Names of all scripts in the folders, sorted. */
  names(): Promise<readonly string[]>;
}

/** Names that cannot leave the folder. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
/** Far above any script that a person writes, and small enough to parse at once. */
const MAX_BYTES = 256 * 1024;
/** Enough to repair a file in one go without flooding a log line. */
const MAX_PROBLEMS = 10;

/** Reads scripts from `folders`; the first folder that has a name wins. */
export function createScriptStore(folders: readonly string[]): ScriptStore {
  const cache = new Map<string, { version: string; script: WrittenScript }>();

  const names = async () => {
    const lists = await Promise.all(folders.map(listFolder));
    return [...new Set(lists.flat())].sort();
  };

  const load = async (name: string) => {
    for (const folder of NAME.test(name) ? folders : []) {
      const file = join(folder, `${name}.yaml`);
      // Takes microseconds at every model call; an asynchronous call takes forty times as much.
      const found = statSync(file, { throwIfNoEntry: false });
      if (!found?.isFile()) continue;
      const version = `${found.mtimeMs} ${found.size} ${found.ino}`;
      const cached = cache.get(file);
      if (cached?.version === version) return cached.script;
      if (found.size > MAX_BYTES) {
        throw new ModelError('BadRequest', `${file} has ${found.size} bytes; a script may have ${MAX_BYTES}`);
      }
      const script = parseScript(await readFile(file, 'utf8'), file);
      cache.set(file, { version, script });
      return script;
    }
    const known = (await names()).join(', ') || 'none';
    throw new ModelError(
      'UnknownModel',
      `There is no rehearsal script ${JSON.stringify(name.slice(0, 100))}; scripts: ${known}. Looked in ${folders.join(', ')}.`,
    );
  };

  return { load, names };
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}

async function listFolder(folder: string): Promise<string[]> {
  const entries = (await readdir(folder).catch(ignoreMissing)) ?? [];
  return entries
    .filter((entry) => entry.endsWith('.yaml'))
    .map((entry) => entry.slice(0, -'.yaml'.length))
    .filter((name) => NAME.test(name));
}

/**
 * Parses a script's text; messages contain `file`. @throws ModelError BadRequest listing each fault as
 * `file:line:column`, its place and what is allowed there
 */
function parseScript(text: string, file: string): WrittenScript {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const faults = document.errors.map((error) => where(lines, error.pos[0], `not YAML: ${error.message}`));
  if (faults.length > 0) throw faulty(file, faults);

  const locate = (problem: ScriptProblem): string => {
    // A missing or unknown key has no node of its own, so the nearest parent with one is shown.
    for (let depth = problem.path.length; depth >= 0; depth--) {
      const node: unknown = document.getIn(problem.path.slice(0, depth), true);
      const start = rangeStart(node);
      if (start === undefined) continue;
      return where(lines, start, `${problem.path.map(String).join('.') || 'script'}: ${problem.message}`);
    }
    return `1:1 ${problem.message}`;
  };
  const checked = scriptSchema.safeParse(document.toJS({ maxAliasCount: 100 }));
  const problems = checked.success ? problemsOf(checked.data) : checked.error.issues;
  if (!checked.success || problems.length > 0) throw faulty(file, problems.map(locate));
  return checked.data;
}

function rangeStart(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range))
    return undefined;
  const start: unknown = node.range[0];
  return typeof start === 'number' ? start : undefined;
}

function where(lines: LineCounter, offset: number, message: string): string {
  const { line, col } = lines.linePos(offset);
  return `${line}:${col} ${message}`;
}

function faulty(file: string, faults: readonly string[]): ModelError {
  const shown = faults.slice(0, MAX_PROBLEMS).map((fault) => `${file}:${fault}`);
  const more = faults.length > MAX_PROBLEMS ? [`and ${faults.length - MAX_PROBLEMS} more`] : [];
  return new ModelError(
    'BadRequest',
    `The rehearsal script cannot be used:\n${[...shown, ...more].join('\n')}`,
  );
}
