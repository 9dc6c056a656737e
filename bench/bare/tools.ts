/** The bare loops' tools do the plain work of TempoClaw's tools of the same names, without anything around it. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

type Run = (args: unknown) => Promise<string>;

export function createBareTools(folder: string): Readonly<Record<'datetime' | 'read_file' | 'exec', Run>> {
  return {
    async datetime(value) {
      const { timezone } = z.object({ timezone: z.string() }).parse(value);
      const now = new Date();
      const shown = now.toLocaleString('en-GB', { timeZone: timezone, dateStyle: 'full', timeStyle: 'long' });
      return `${shown} (${timezone})\nUTC: ${now.toISOString()}\nUnix: ${Math.floor(now.getTime() / 1000)}`;
    },
    async read_file(value) {
      const { path, offset, limit } = z
        .object({ path: z.string(), offset: z.number(), limit: z.number().optional() })
        .parse(value);
      const lines = (await readFile(join(folder, path), 'utf8')).split('\n');
      return lines.slice(offset, limit === undefined ? undefined : offset + limit).join('\n');
    },
    exec: (value) => run(z.object({ command: z.string() }).parse(value).command, folder),
  };
}

function run(command: string, cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/bash', ['-c', command], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const output: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => resolve(`exit code ${code}\n${Buffer.concat(output).toString('utf8')}`));
  });
}
