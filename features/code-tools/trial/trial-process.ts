/** The process of one run or probe of a tool that is tried: the one of its language. */
import { fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SOURCE_ENDING } from '#domain/source-ending.ts';
import type { ToolLanguage } from '../contract.ts';
import { spawnPython } from '../host/python.ts';
import type { TrialNews, TrialWork } from './child.ts';

export interface TrialProcess {
  kill(): void;
  /** Rejects when it cannot be started. */
  readonly ended: Promise<void>;
}

const CHILD = fileURLToPath(new URL(`./child${SOURCE_ENDING}`, import.meta.url));

export function startTrial(
  language: ToolLanguage,
  work: TrialWork,
  onNews: (news: TrialNews) => void,
): TrialProcess {
  const child = language === 'python' ? startPythonTrial(work, onNews) : startNodeTrial(work, onNews);
  const ended = new Promise<void>((resolve, reject) => {
    child.once('close', () => resolve());
    child.once('error', reject);
  });
  return { ended, kill: () => void child.kill('SIGKILL') };
}

function startNodeTrial(work: TrialWork, onNews: (news: TrialNews) => void) {
  const child = fork(CHILD, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.on('message', (news: TrialNews) => onNews(news));
  child.send(work);
  return child;
}

function startPythonTrial(work: TrialWork, onNews: (news: TrialNews) => void) {
  const child = spawnPython(work.folder, 'trial');
  // What is said after a kill is said to nobody.
  child.stdin.on('error', () => undefined);
  child.stderr.pipe(process.stderr, { end: false });
  createInterface({ input: child.stdout }).on('line', (line) => onNews(JSON.parse(line) as TrialNews));
  child.stdin.end(`${JSON.stringify(work)}\n`);
  return child;
}
