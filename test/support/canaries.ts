/** Planted secrets, and the search for them in whatever a program left: texts, bytes, JSON, protobuf, rows. */
import { randomBytes } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { Pool } from '#store/postgres/pool.ts';

/** Values that can only be recognized as secrets by knowing them, and that each encoding changes; by name. */
export function plantCanaries<const Name extends string>(...names: readonly Name[]): Record<Name, string> {
  const planted = names.map((name) => [name, `Kn/${name}+${randomBytes(9).toString('hex')}=?`]);
  return Object.fromEntries(planted) as Record<Name, string>;
}

/**
 * How a program may print it. It is written independently of what the scrubber knows, so that they do not share a
 * mistake.
 */
export function canaryForms(canary: string): Readonly<Record<string, string>> {
  const bytes = Buffer.from(canary);
  const inside = (lead: string): string =>
    Buffer.from(lead + canary)
      .toString('base64')
      .slice(4, -4);
  return {
    raw: canary,
    base64: bytes.toString('base64').replace(/=+$/, ''),
    base64url: bytes.toString('base64url'),
    'base64 after one byte': inside('a'),
    'base64 after two bytes': inside('ab'),
    hex: bytes.toString('hex'),
    url: encodeURIComponent(canary),
    json: JSON.stringify(JSON.stringify(canary)).slice(3, -3),
  };
}

export interface Finding {
  readonly place: string;
  readonly canary: string;
  readonly form: string;
  /** The surrounding text, for the reader of the failure. */
  readonly near: string;
}

export interface Search {
  readonly findings: readonly Finding[];
  /** Characters that were searched: a search that saw nothing proves nothing. */
  readonly searched: number;
  look(place: string, value: unknown): void;
}

/** `canaries` by name. Texts are searched as they are, bytes as UTF-8, and values at every level. */
export function createSearch(canaries: Readonly<Record<string, string>>): Search {
  const forms = Object.entries(canaries).flatMap(([canary, value]) =>
    Object.entries(canaryForms(value)).map(([form, text]) => ({ canary, form, text })),
  );
  const findings: Finding[] = [];
  let searched = 0;
  const lookAt = (place: string, text: string): void => {
    searched += text.length;
    for (const { canary, form, text: expected } of forms) {
      const at = text.indexOf(expected);
      if (at >= 0) findings.push({ place, canary, form, near: text.slice(Math.max(0, at - 80), at + 40) });
    }
  };
  const walk = (place: string, value: unknown): void => {
    if (typeof value === 'string') lookAt(place, value);
    else if (value instanceof Uint8Array) lookAt(place, Buffer.from(value).toString('utf8'));
    else if (Array.isArray(value)) value.forEach((item, at) => walk(`${place}[${at}]`, item));
    else if (typeof value === 'object' && value !== null)
      for (const [key, item] of Object.entries(value)) {
        lookAt(place, key);
        walk(`${place}.${key}`, item);
      }
  };
  return {
    findings,
    get searched() {
      return searched;
    },
    look: walk,
  };
}

/**
 * Searches every event of every workflow of the tenant, with its payloads decoded, and what a list of workflows shows.
 */
export async function searchHistories(search: Search, client: Client, tenant: string): Promise<number> {
  let events = 0;
  for await (const workflow of client.workflow.list({ query: `TempoclawTenant = '${tenant}'` })) {
    const handle = client.workflow.getHandle(workflow.workflowId, workflow.runId);
    const [{ events: all = [] }, { raw }] = await Promise.all([handle.fetchHistory(), handle.describe()]);
    events += (all ?? []).length;
    search.look(`history of ${workflow.workflowId}`, all);
    search.look(`description of ${workflow.workflowId}`, JSON.parse(JSON.stringify(raw)));
    search.look(`memo of ${workflow.workflowId}`, workflow.memo);
  }
  return events;
}

/** Searches every column of every table. Resolves with the number of rows. */
export async function searchTables(search: Search, pool: Pool): Promise<number> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  let count = 0;
  for (const { name } of tables) {
    const { rows } = await pool.query(`select * from "${name}"`);
    count += rows.length;
    search.look(`table ${name}`, rows);
  }
  return count;
}
