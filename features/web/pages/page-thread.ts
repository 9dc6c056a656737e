/**
 * The thread that reads one page and ends: untrusted input is parsed where time and memory are limited (read-apart.ts).
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Reading, ThreadMessage } from './read-apart.ts';

const job = workerData as Reading;
const say = (message: ThreadMessage): void => parentPort?.postMessage(message);

/** Loads the parser of the job and no other, because loading one takes longer than reading a usual page. */
async function loadParser(): Promise<() => string | Promise<string>> {
  if ('html' in job) {
    const { readDuckDuckGo, readHtml } = await import('./read-html.ts');
    const { how, html, url } = job;
    if (how === 'duckduckgo') return () => JSON.stringify(readDuckDuckGo(html, url) ?? null);
    return () => readHtml(how, html, url);
  }
  const { bytes } = job;
  if (job.how === 'office') {
    const { readOffice } = await import('./read-office.ts');
    return () => readOffice(bytes);
  }
  const { from, to } = job;
  const { readPdf } = await import('./read-pdf.ts');
  return () => readPdf(bytes, from, to);
}

const parse = await loadParser();
const { user, system } = process.threadCpuUsage();
say({ kind: 'begun', used: (user + system) / 1000 });
try {
  say({ kind: 'read', text: await parse() });
} catch (error) {
  say({ kind: 'failed', problem: error instanceof Error ? error.message : String(error) });
}
