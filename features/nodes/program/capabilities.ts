/** The capabilities of our own node. Each exists only if the node was started for it, and checks its requests. */
import { schemaProblem } from '#domain/schema/problem-words.ts';
import { constants, open, realpath } from 'node:fs/promises';
import { arch, cpus, freemem, hostname, platform, release, totalmem, uptime } from 'node:os';
import { isAbsolute, resolve, sep } from 'node:path';
import { z } from 'zod';
import { type Capability, mayRun, NODE_LIMITS } from '../contract/node.ts';
import type { NodeResult } from '../schema.ts';
import { runCommand } from './run-command.ts';

export interface NodeRequest {
  readonly params: Readonly<Record<string, unknown>>;
  /** Aborted when nothing waits for it any more. */
  readonly signal: AbortSignal;
  readonly milliseconds: number;
}

export interface OwnCapability extends Capability {
  run(request: NodeRequest): Promise<NodeResult>;
}

export interface NodePolicy {
  /** The folder below which files may be read and commands run. */
  readonly folder?: string | undefined;
  /** Patterns of commands (features/nodes/contract/node.ts, mayRun). */
  readonly allowRun: readonly string[];
  /** Its state, with its token. Nothing may read there, wherever the folder is. */
  readonly stateDir?: string | undefined;
  /** The environment of commands. */
  readonly environment: Readonly<Record<string, string>>;
}

export function ownCapabilities(policy: NodePolicy): readonly OwnCapability[] {
  const { folder, allowRun, stateDir } = policy;
  return [
    { name: 'system.info', description: 'What machine this is. No parameters.', run: async () => info() },
    ...(folder === undefined ? [] : [fileRead(folder, stateDir)]),
    ...(allowRun.length === 0 ? [] : [systemRun(policy)]),
  ];
}

function info(): NodeResult {
  const facts = {
    hostname: hostname(),
    platform: platform(),
    release: release(),
    arch: arch(),
    cpus: cpus().length,
    memory_bytes: totalmem(),
    free_bytes: freemem(),
    uptime_seconds: Math.round(uptime()),
  };
  return { ok: true, text: JSON.stringify(facts) };
}

const refused = (text: string, code: NodeResult['code'] = 'PermissionDenied'): NodeResult => ({
  ok: false,
  code,
  text,
});

/** Parameters as the capability reads them, or why they are invalid. */
function read<Schema extends z.ZodType>(
  schema: Schema,
  params: unknown,
): { readonly value: z.output<Schema> } | NodeResult {
  const { data, error } = schema.safeParse(params);
  if (!error) return { value: data };
  return refused(schemaProblem(error, 'params'), 'InvalidArgs');
}

/**
 * The real path of what is at or below the folder and not in `but`, with links followed; undefined when it does not
 * exist or is elsewhere.
 */
async function within(folder: string, path: string, but?: string): Promise<string | undefined> {
  try {
    const root = await realpath(folder);
    const real = await realpath(isAbsolute(path) ? path : resolve(root, path));
    if (but !== undefined && isBelow(await realpath(but), real)) return undefined;
    return isBelow(root, real) ? real : undefined;
  } catch {
    // The error does not reveal whether it is elsewhere or does not exist.
    return undefined;
  }
}

function isBelow(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

const fileParams = z.strictObject({
  path: z.string().min(1).max(4_096),
  offset: z.int().min(0).default(0),
  bytes: z.int().min(1).max(131_072).default(65_536),
});

function fileRead(folder: string, stateDir: string | undefined): OwnCapability {
  return {
    name: 'file.read',
    description:
      'Reads a file below the node’s folder: {path, offset?: bytes from the beginning, bytes?: at most 131072}. Text as it is, other bytes as base64.',
    async run({ params }) {
      const request = read(fileParams, params);
      if (!('value' in request)) return request;
      const { path, offset, bytes } = request.value;
      const real = await within(folder, path, stateDir);
      if (real === undefined) return refused(`${path}: no file below the node’s folder`, 'FileNotFound');
      const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        const stat = await handle.stat();
        // A folder on the way may have become a link since it was checked.
        if (!stat.isFile() || (await within(folder, real, stateDir)) !== real)
          return refused(`${path}: no file below the node’s folder`, 'FileNotFound');
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, offset);
        const part = buffer.subarray(0, bytesRead);
        const text = part.toString('utf8');
        const isText = !text.includes('\0') && Buffer.from(text).equals(part);
        const end = offset + bytesRead;
        const rest = end < stat.size ? `\n[bytes ${offset} to ${end} of ${stat.size}]` : '';
        return { ok: true, text: `${isText ? text : `base64:${part.toString('base64')}`}${rest}` };
      } finally {
        await handle.close();
      }
    },
  };
}

const runParams = z.strictObject({
  command: z.string().min(1).max(4_096),
  args: z.array(z.string().max(32_768)).max(256).default([]),
  cwd: z.string().max(4_096).default('.'),
  timeout_seconds: z.number().min(0.1).max(NODE_LIMITS.seconds).optional(),
});

function systemRun({ folder, allowRun, environment, stateDir }: NodePolicy): OwnCapability {
  return {
    name: 'system.run',
    description:
      `Runs a program without a shell: {command, args?: list, cwd?: below the node’s folder, timeout_seconds?}. Allowed are: ${allowRun.join('; ')}`.slice(
        0,
        2_000,
      ),
    async run({ params, signal, milliseconds }) {
      const request = read(runParams, params);
      if (!('value' in request)) return request;
      const { command, args, cwd, timeout_seconds: seconds } = request.value;
      if ([command, ...args].some((word) => word.includes('\0')))
        return refused('command: a word has NUL in it', 'InvalidArgs');
      if (!mayRun(allowRun, [command, ...args]))
        return refused(`this node was not started to run that; it runs ${allowRun.join('; ')}`);
      const home = folder ?? process.cwd();
      const place = await within(home, cwd, stateDir);
      if (place === undefined) return refused(`cwd: ${cwd} is no folder below ${home}`, 'InvalidPath');
      return runCommand({
        command,
        args,
        cwd: place,
        environment,
        signal,
        milliseconds: Math.min(milliseconds, seconds === undefined ? milliseconds : seconds * 1_000),
      });
    },
  };
}
