/**
 * The thread that reads one page and ends: untrusted input is parsed where time and memory are limited (read-apart.ts).
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Reading, ThreadMessage } from './read-apart.ts';
import { readDuckDuckGo, readHtml } from './read-html.ts';
import { readPdf } from './read-pdf.ts';

const job = workerData as Reading;
const say = (message: ThreadMessage): void => parentPort?.postMessage(message);

async function read(): Promise<string> {
  switch (job.how) {
    case 'pdf':
      return readPdf(job.bytes, job.from, job.to);
    case 'office':
      // It is not loaded for pages, which are many and small.
      return (await import('./read-office.ts')).readOffice(job.bytes);
    case 'duckduckgo':
      return JSON.stringify(readDuckDuckGo(job.html, job.url) ?? null);
    default:
      return readHtml(job.how, job.html, job.url);
  }
}

const { user, system } = process.threadCpuUsage();
say({ kind: 'begun', used: (user + system) / 1000 });
try {
  say({ kind: 'read', text: await read() });
} catch (error) {
  say({ kind: 'failed', problem: error instanceof Error ? error.message : String(error) });
}
