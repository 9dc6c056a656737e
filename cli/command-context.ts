/** What every command of the API gets: the client, where to print, and whether a person sits at a terminal. */
import type { Command } from 'commander';
import { clientEnvironment } from '#config/client-environment.ts';
import { CliError, usageError } from './cli-error.ts';
import { ApiError, createClient, type Client, type Query } from './client.ts';
import { createOutput, type Output, printJson, printTable, type Column } from './output.ts';
import { findTarget } from './target.ts';
import type { Page } from './wire.ts';

export interface CommandContext {
  readonly client: Client;
  readonly out: Output;
  readonly err: Output;
  /** Print JSON for programs. */
  readonly json: boolean;
  /** A person can be asked: input and the prompts' output are a terminal, and JSON was not asked for. */
  readonly canAsk: boolean;
}

export interface ApiOptions {
  readonly url?: string;
  readonly apiKey?: string;
  readonly stateDir?: string;
  readonly json?: boolean;
}

/** Adds the options that every command of the API has. */
export function withApiOptions(command: Command): Command {
  return command
    .option('--url <url>', 'the API to talk to (or TEMPOCLAW_URL; else .tempoclaw/run.json is looked for)')
    .option('--api-key <key>', 'its key; TEMPOCLAW_API_KEY keeps it out of the list of processes')
    .option('--state-dir <folder>', 'the state folder whose run.json is read')
    .option('--json', 'print JSON for programs');
}

export function withPageOptions(command: Command): Command {
  return withApiOptions(command)
    .option('--limit <n>', 'rows to show, 1 to 200', readLimit, 50)
    .option('--after <cursor>', 'go on after the page whose next_cursor this is');
}

/** Throws a CliError when no API is known. Asks nobody yet. */
export function createContext(options: ApiOptions): CommandContext {
  const find = () => findTarget(options, clientEnvironment(), process.cwd());
  const json = options.json === true;
  const first = find();
  const retarget = () => {
    try {
      return find();
    } catch (error) {
      // While `up` restarts, its run.json is missing for a moment; the address known so far is tried again.
      if (error instanceof CliError) return first;
      throw error;
    }
  };
  return {
    client: createClient(first, retarget),
    out: createOutput(process.stdout),
    err: createOutput(process.stderr),
    json,
    canAsk: !json && process.stdin.isTTY === true && process.stderr.isTTY === true,
  };
}

export interface PageOptions extends ApiOptions {
  readonly limit?: number;
  readonly after?: string;
}

/** Prints one page as a table, with the way to the next, or as the API's JSON. */
export async function printPage<Row>(
  context: CommandContext,
  path: string,
  query: Query,
  columns: readonly Column<Row>[],
  nothing: string,
): Promise<void> {
  printRows(context, await context.client.get<Page<Row>>(path, query), columns, nothing);
}

/** Prints rows that are there, a page of them or all. */
export function printRows<Row>(
  context: CommandContext,
  page: Pick<Page<Row>, 'data'> & Partial<Page<Row>>,
  columns: readonly Column<Row>[],
  nothing: string,
): void {
  if (context.json) {
    printJson(context.out, page);
  } else if (page.data.length === 0) {
    context.err.line(nothing);
  } else {
    printTable(context.out, columns, page.data);
    if (page.has_more) context.err.line(context.err.paint('dim', `more: --after ${page.next_cursor ?? ''}`));
  }
}

export function pageQuery(options: PageOptions): Query {
  return { limit: options.limit, after: options.after };
}

/** Undefined instead of an error when there is no such thing. */
export async function orMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

export function readLimit(value: string): number {
  const limit = Number(value);
  if (!Number.isInteger(limit) || limit < 1 || limit > 200)
    throw usageError(`--limit must be a number from 1 to 200, not ${value}`);
  return limit;
}

/** An object from `--args '{"path":"a"}'`; throws a usage error that names the flag. */
export function readJsonObject(value: string, flag: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch (error) {
    throw usageError(`${flag} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw usageError(`${flag} must be a JSON object such as {"path":"README.md"}`);
  return parsed as Record<string, unknown>;
}

export function pathOf(...parts: readonly string[]): string {
  return `/v1/${parts.map((part) => encodeURIComponent(part)).join('/')}`;
}
