/** What every command of the API gets: the client, where to print, and whether a person sits at a terminal. */
import { InvalidArgumentError } from 'commander';
import { type ClientEnvironment, clientEnvironment } from '#config/client-environment.ts';
import { CliError, usageError } from './cli-error.ts';
import { ApiError, createClient, type Client } from './client.ts';
import { createOutput, type Output } from './output.ts';
import { findTarget } from './target.ts';

export interface CommandContext {
  readonly client: Client;
  readonly out: Output;
  readonly err: Output;
  /** Prints JSON for programs. */
  readonly json: boolean;
  /** True if a person can be asked: input and the prompts' output are a terminal, and JSON was not requested. */
  readonly canAsk: boolean;
}

/** The options that every command of the API has (program.ts). */
export interface ApiOptions extends Partial<ClientEnvironment> {
  readonly json?: boolean;
}

/** Throws a CliError when no API is known. Sends no request yet. */
export function createContext(options: ApiOptions): CommandContext {
  const find = () => findTarget(options, clientEnvironment(), process.cwd());
  const json = options.json === true;
  const first = find();
  const retarget = () => {
    try {
      return find();
    } catch (error) {
      // While `up` restarts, its run.json is missing for a moment, so the last known address is tried again.
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

/** Returns undefined instead of an error when there is no such thing. */
export async function orMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

/** Reads an object from `--args '{"path":"a"}'`; throws a usage error that names the flag. */
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

/** NaN for an empty text too, which a script gives for a variable that is not set. */
export function numberOf(value: string): number {
  return value.trim() === '' ? NaN : Number(value);
}

/** For commander: reads a whole number within inclusive limits. */
export function wholeNumber(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = numberOf(value);
    if (Number.isInteger(number) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It is a number from ${min} to ${max}.`);
  };
}

export function pathOf(...parts: readonly string[]): string {
  return `/v1/${parts.map((part) => encodeURIComponent(part)).join('/')}`;
}
