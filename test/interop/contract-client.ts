/** Programs in other languages that call the functions of docs/temporal-contract.md. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { childEnvironment } from '#config';
import { readContractSnippets } from '#test/support/contract-snippets.ts';
import { buildGo, whyNoGo } from '#test/support/go.ts';
import { pythonWithTemporal } from '#test/support/python.ts';

export interface Answer extends Record<string, unknown> {
  readonly ok?: Record<string, unknown> | string | null;
  /** Of the error. */
  readonly type?: string;
}

export interface ContractClient {
  /** `name` is the function's in Python; those of Go have the same in camel case. */
  call(name: string, ...args: unknown[]): Promise<Answer>;
  close(): Promise<void>;
}

export interface Language {
  readonly name: string;
  /** Why its tests cannot run here. */
  readonly missing: string | false;
  /** Starts its program, a client of the Temporal server at `address`. */
  start(address: string): Promise<ContractClient>;
}

export async function pythonLanguage(): Promise<Language> {
  const python = await pythonWithTemporal().catch((error: Error) => error);
  // CI installs Python.
  const mayMiss = process.env['CI'] !== 'true';
  return {
    name: 'Python',
    missing: python instanceof Error && mayMiss ? `no Python with temporalio: ${python.message}` : false,
    start: (address) =>
      startClient(async (folder) => {
        if (python instanceof Error) throw python;
        await writeFile(join(folder, 'contract.py'), (await readContractSnippets()).python);
        await copyFile(new URL('./drive.py', import.meta.url), join(folder, 'drive.py'));
        return [python, 'drive.py', address];
      }),
  };
}

export async function goLanguage(): Promise<Language> {
  return {
    name: 'Go',
    missing: await whyNoGo(),
    start: (address) =>
      startClient(async (folder) => {
        const { go } = await readContractSnippets();
        const main = await readFile(new URL('./drive.go', import.meta.url), 'utf8');
        await buildGo(folder, {
          'contract.go': go.replace(/^package contract$/m, 'package main'),
          'main.go': main,
        });
        return ['./program', address];
      }),
  };
}

/** `prepare` fills a folder, and returns the command that is run in it. */
async function startClient(
  prepare: (folder: string) => Promise<readonly [string, ...string[]]>,
): Promise<ContractClient> {
  const folder = await mkdtemp(join(tmpdir(), 'tempoclaw-contract-'));
  const [command, ...args] = await prepare(folder);
  const child = spawn(command, args, {
    cwd: folder,
    env: childEnvironment({}),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    async call(name, ...values) {
      child.stdin.write(`${JSON.stringify({ call: name, args: values })}\n`);
      const { value, done } = await lines.next();
      assert.ok(!done, 'the program ended');
      return JSON.parse(value) as Answer;
    },
    async close() {
      child.stdin.end();
      await new Promise((resolve) => child.once('exit', resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
