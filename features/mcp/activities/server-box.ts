/** A box for a program that is an MCP server: a container, else bubblewrap, as the settings allow; never the host. */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { quoteWord } from '@tempoclaw/shell-judge';
import { boxGroup, boxOwner } from '#activities/process/box-owner.ts';
import { BOX_BOUNDS, OWN_NAME } from '#activities/process/own-names.ts';
import {
  shellProgram,
  makeTemporaryFolder,
  attachedLine,
  boxBounds,
  type Boxes,
  type Bubblewrap,
} from '@tempoclaw/sandbox';
import { sandboxOf, type SandboxSettings } from '#domain/sandbox.ts';
import { DEFAULT_PATH } from '@tempoclaw/sandbox/settings';

export interface ServerBoxing {
  readonly boxes: Boxes;
  readonly bubblewrap: Bubblewrap;
  /** From the settings: what the box is, and whether it must be a container. */
  readonly sandbox: SandboxSettings;
}

export interface ServerBox {
  /** Starts the program in it, with the variables. */
  readonly command: readonly string[];
  /** Ends the box with everything that runs in it. Safe to repeat. */
  end(): Promise<void>;
}

/**
 * `variables` are names of those that it gets from the environment of `command`. @throws Error that says why there is
 * none.
 */
export async function serverBox(
  { boxes, bubblewrap, sandbox: settings }: ServerBoxing,
  tenant: string,
  program: readonly string[],
  variables: readonly string[],
): Promise<ServerBox> {
  const known = sandboxOf(settings, settings.mode === 'off' ? 'preferred' : undefined);
  if (!known) throw new Error('a box has a mode');
  const sandbox = { ...known, scope: 'session', workspace: 'none' } as const;
  const workspace = makeTemporaryFolder('mcp');
  const sessionKey = `mcp/${randomUUID()}`;
  const owner = boxOwner({ tenant, agent: 'mcp', sessionKey, workspace }, sandbox);
  const end = async (): Promise<void> => {
    await boxes.endGroup(boxGroup(tenant, sessionKey));
    await rm(workspace, { recursive: true, force: true });
  };
  const probe = await boxes.probe(sandbox);
  const line = `exec ${program.map(quoteWord).join(' ')}`;
  const attached = probe.ok
    ? await attachedLine(boxes, line, { owner, sandbox, inside: '' }, probe, variables)
    : { ok: false as const, reason: probe.reason };
  if (attached.ok) return { command: [shellProgram(), '-c', attached.line], end };
  if (sandbox.mode !== 'required' && (await bubblewrap.works())) {
    const more = ['--setenv', 'PATH', DEFAULT_PATH];
    const bounds = boxBounds(OWN_NAME, sandbox, {
      disk: sandbox.memoryBytes,
      folder: workspace,
      settings: BOX_BOUNDS,
    });
    const prefix = await bubblewrap.prefix(workspace, '', sandbox, more);
    return { command: [...bounds, ...prefix, ...program], end };
  }
  await end();
  throw new Error(`it has no box to run in: ${attached.reason}`);
}
