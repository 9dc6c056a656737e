/** A command as a gate (DE-6): it runs where the agent's own commands run, with the work as its standard input. */
import { checkOfCommand, GATE_LIMITS, type GateCheck } from '#domain/gate/gate.ts';
import { MOUNT } from '@tempoclaw/sandbox/settings';
import type { Sandbox } from '#domain/sandbox.ts';
import { boxOwner } from '../process/box-owner.ts';
import type { CommandOutcome, Shell } from '@tempoclaw/sandbox';
import type { Files } from '../workspace/contract.ts';

export interface GateCommand {
  readonly command: string;
  readonly input: string;
  readonly seconds: number;
  readonly sandbox: Sandbox | undefined;
  /** Whose work it is: the agent's sandbox and folder are used. */
  readonly owner: {
    readonly tenant: string;
    readonly agent: string;
    readonly sessionKey: string;
    readonly workspace: string;
    readonly workspaceFrom?: string | undefined;
  };
  /** Identifies this run. */
  readonly id: string;
  readonly signal: AbortSignal;
}

/** Linux permits 128 KiB in one variable; a UTF-16 unit has at most three bytes. */
const PIECE = 40_000;

interface CommandDeps {
  readonly shell: Shell;
  readonly files: Pick<Files, 'hold'>;
}

export async function runGateCommand(deps: CommandDeps, gate: GateCommand): Promise<GateCheck> {
  const { seconds, signal } = gate;
  const outcome = await runWithInput(deps, gate);
  if (outcome.ended === 'exit' || outcome.ended === 'signal' || outcome.ended === 'timeout')
    return checkOfCommand({ ...outcome, timedOut: outcome.ended === 'timeout', seconds });
  if (outcome.ended === 'cancelled') signal.throwIfAborted();
  return {
    kind: 'broken',
    problem: `the command could not be run: ${outcome.reason ?? outcome.stderr}`.slice(
      0,
      GATE_LIMITS.feedback,
    ),
  };
}

/** Runs the command where the agent's own commands run, with `input` as its standard input. */
export async function runWithInput(
  { shell, files }: CommandDeps,
  gate: GateCommand,
): Promise<CommandOutcome> {
  const { owner, sandbox, seconds, signal } = gate;
  const scope = { ...owner, idempotencyKey: gate.id, mount: sandbox ? MOUNT : undefined };
  const folder = await files.hold(scope, '.', 'run');
  const timeoutMs = seconds * 1000;
  try {
    return await shell.run({
      ...withInput(gate.command, gate.input),
      cwd: folder.cwd,
      pwd: folder.path,
      folders: [owner.workspace],
      timeoutMs,
      box: sandbox && { sandbox, owner: boxOwner(owner, sandbox), inside: folder.inside, timeoutMs },
      callId: gate.id,
      signal,
    });
  } finally {
    await folder.close();
  }
}

/** The same on the host and in every sandbox, which have no standard input of their own. */
function withInput(command: string, input: string): { command: string; env: Record<string, string> } {
  const text = input.replaceAll('\0', '');
  const pieces = Array.from({ length: Math.max(1, Math.ceil(text.length / PIECE)) }, (_, index) => ({
    name: `TEMPOCLAW_INPUT_${index}`,
    value: text.slice(index * PIECE, (index + 1) * PIECE),
  }));
  const named = pieces.map(({ name }) => `"$${name}"`).join(' ');
  const unset = pieces.map(({ name }) => name).join(' ');
  return {
    // The command stays a value, so that its quotes and braces cannot affect the line around it.
    command: `printf %s ${named} | (gate=$TEMPOCLAW_GATE; unset TEMPOCLAW_GATE ${unset}; exec "\${BASH:-/bin/sh}" -c "$gate")`,
    env: {
      TEMPOCLAW_GATE: command,
      ...Object.fromEntries(pieces.map(({ name, value }) => [name, value])),
    },
  };
}
