/** Histories of workflow runs as JSON, the form in which the Temporal CLI and web UI export them. */
import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

const FOLDER = new URL('../replay/histories/', import.meta.url);

export interface KeptHistory {
  readonly name: string;
  readonly history: unknown;
}

/** All that are kept, by name. */
export async function readHistories(): Promise<readonly KeptHistory[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.json')).sort();
  return Promise.all(
    files.map(async (file) => ({
      name: file.slice(0, -'.json'.length),
      history: JSON.parse(await readFile(new URL(file, FOLDER), 'utf8')) as unknown,
    })),
  );
}

/** The history of one run, the newest of the id when none is named. */
export async function fetchHistory(client: Client, workflowId: string, runId?: string): Promise<unknown> {
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  return JSON.parse(historyToJSON(history)) as unknown;
}

/** All contents of a history, with its payloads decoded: as JSON they are base64, in which no word is found. */
export async function historyText(client: Client, workflowId: string): Promise<string> {
  const texts: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    else if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString('utf8'));
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(walk);
  };
  walk(await client.workflow.getHandle(workflowId).fetchHistory());
  const text = texts.join('\n');
  // The encoding of a payload is in its bytes: a search that saw none proves nothing.
  assert.match(text, /json\/plain|binary\/encrypted/);
  return text;
}

/** Every run of a chain, starting with this one. */
export async function fetchChain(client: Client, workflowId: string, firstRunId: string): Promise<unknown[]> {
  const runs: unknown[] = [];
  for (let runId: string | undefined = firstRunId; runId !== undefined; ) {
    const history = await fetchHistory(client, workflowId, runId);
    runs.push(history);
    runId = nextRunId(history);
  }
  return runs;
}

function nextRunId(history: unknown): string | undefined {
  const { events } = history as {
    events: readonly { workflowExecutionContinuedAsNewEventAttributes?: { newExecutionRunId: string } }[];
  };
  return events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
}

/**
 * Keeps a history. Returns false when one of that name exists. Kept ones represent runs that old workers started, and
 * are never written again.
 */
export async function keepHistory(name: string, history: unknown): Promise<boolean> {
  const text = JSON.stringify(withoutMachine(history));
  try {
    await writeFile(new URL(`${name}.json`, FOLDER), `${text}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

export function removeHistory(name: string): Promise<void> {
  return rm(new URL(`${name}.json`, FOLDER));
}

/** Where the kept ones are, for people. */
export const HISTORIES_FOLDER = fileURLToPath(FOLDER);

/**
 * Removes identities, sticky queues and stacks, which name the recording machine and its folders; no replay reads them.
 */
export function withoutMachine(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMachine);
  if (typeof value !== 'object' || value === null) return value;
  const isSticky = 'kind' in value && value.kind === 'TASK_QUEUE_KIND_STICKY';
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (key === 'identity' && typeof item === 'string') return [key, 'recorded'];
      if (key === 'stackTrace' && typeof item === 'string') return [key, ''];
      return [key, key === 'name' && isSticky ? 'sticky' : withoutMachine(item)];
    }),
  );
}

/** One activity of a run, in the order of its history. */
export interface RunActivity {
  readonly type: string;
  /** True if it ran within a workflow task. */
  readonly local: boolean;
  /** The summary as the web UI shows it. */
  readonly summary: string;
  /** When the workflow requested it, in milliseconds since 1970, for those that ran within a workflow task. */
  readonly askedAt?: number;
}

/** The activities of the newest run of the id. */
export async function activitiesOf(client: Client, workflowId: string): Promise<readonly RunActivity[]> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap((event): RunActivity[] => {
    const summary = jsonOf(event.userMetadata?.summary);
    const words = typeof summary === 'string' ? summary : '';
    const type = event.activityTaskScheduledEventAttributes?.activityType?.name;
    if (type) return [{ type, local: false, summary: words }];
    const marker = event.markerRecordedEventAttributes?.details?.['data']?.payloads?.[0];
    const local = jsonOf(marker) as LocalMarker | undefined;
    if (local?.activity_type === undefined) return [];
    const { seconds, nanos } = local.original_schedule_time;
    const askedAt = seconds * 1000 + nanos / 1e6;
    return [{ type: local.activity_type, local: true, summary: words, askedAt }];
  });
}

/** The marker as the SDK's core writes it. */
interface LocalMarker {
  readonly activity_type?: string;
  readonly original_schedule_time: { readonly seconds: number; readonly nanos: number };
}

function jsonOf(payload: { readonly data?: Uint8Array | null } | null | undefined): unknown {
  return payload?.data ? (JSON.parse(Buffer.from(payload.data).toString()) as unknown) : undefined;
}
