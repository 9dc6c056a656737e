/** Runs ripgrep in an open folder in a separate process, so that no pattern or tree can block the worker. */
import { spawn } from 'node:child_process';
import { rgPath } from '@vscode/ripgrep';
import type { HeldFolder } from '../contract.ts';

export interface RipgrepEnd {
  readonly ended: 'done' | 'enough' | 'timeout' | 'cancelled' | 'unstarted';
  readonly code: number | null;
  readonly errors: string;
}

/** Leaves 2 s of a local activity's 10 for the rest. */
export const SEARCH_MS = 8_000;
const MAX_ERRORS = 4_000;

/** Never searched, whatever the caller's globs say; `denied` comes last, because the last match wins. */
function exclusions(folder: HeldFolder): string[] {
  const ours = ['--glob', '!.git', '--glob', '!.tempoclaw-*.tmp'];
  return [...ours, ...folder.denied.flatMap((prefix) => ['--iglob', `!/${escapeGlob(prefix)}`])];
}

/** Escapes a text so that it matches itself in a glob. */
function escapeGlob(text: string): string {
  return text.replace(/[[\]{}*?!\\]/g, '\\$&');
}

/**
 * Calls `onLine` for each line of output, a name or a position, until it returns false. Of links, only a named target is
 * followed; ignore files outside the folder have no effect. `signal` and SEARCH_MS end it.
 */
export async function ripgrep(
  folder: HeldFolder,
  args: readonly string[],
  target: string,
  signal: AbortSignal,
  onLine: (line: string) => boolean,
  separator: '\n' | '\0' = '\n',
): Promise<RipgrepEnd> {
  const fixed = ['--no-config', '--hidden', '--no-ignore-parent', '--no-ignore-global', '--no-require-git'];
  const child = spawn(rgPath, [...fixed, '--no-messages', ...args, ...exclusions(folder), '--', target], {
    cwd: folder.cwd,
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return new Promise((resolve) => {
    let ended: RipgrepEnd['ended'] = 'done';
    let errors = '';
    const stop = (why: RipgrepEnd['ended']): void => {
      if (ended === 'done') ended = why;
      child.kill('SIGKILL');
    };
    const cancel = (): void => stop('cancelled');
    const timer = setTimeout(() => stop('timeout'), SEARCH_MS);
    signal.addEventListener('abort', cancel, { once: true });
    const settle = (code: number | null): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      resolve({ ended, code, errors });
    };
    child.once('error', (error) => {
      ended = 'unstarted';
      errors = error.message;
      settle(null);
    });
    child.once('close', settle);
    child.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString('utf8')).slice(0, MAX_ERRORS);
    });
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = `${rest}${text}`.split(separator);
      rest = lines.pop() ?? '';
      for (const line of lines) if (ended === 'done' && !onLine(line)) stop('enough');
    });
    if (signal.aborted) cancel();
  });
}
