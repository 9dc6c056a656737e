/**
 * exec: a shell command in the workspace. `once`: the effects of a command are unknown, so it is never run a second
 * time. It is judged before (SH-1, SH-2); this runs it, within its time and place.
 */
import { filesRunBy, readsNetwork } from '@tempoclaw/shell-judge';
import { z } from 'zod';
import { defineTool, type RunningCall, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { folderOf, lineOf } from '#policy/exec-rules.ts';
import {
  KILL_SECONDS,
  MAX_COMMAND_BYTES,
  MAX_TIMEOUT_SECONDS,
  cutNotice,
} from '#activities/process/command-limits.ts';
import { commandResult } from '#activities/process/command-text.ts';
import { boxOf, type InFolder, inFolder } from '#activities/process/in-folder.ts';
import { withFileProblems } from '#activities/workspace/file-problem.ts';
import type { HeldFolder } from '#activities/workspace/contract.ts';
import { type ToolResult, toolError } from '#domain/tool.ts';

/** clawft's default, under its own name of the tool. */
const CLAWFT_TIMEOUT_SECONDS = 30;
const input = z.object({
  command: z.string().min(1).max(MAX_COMMAND_BYTES).describe('The command line, run by bash -c'),
  working_dir: textField(4096, 'Folder to run in, relative to the workspace').optional(),
  timeout: z
    .number()
    .positive()
    .optional()
    .describe('Seconds until it is ended; 60 unless set otherwise, at most 300'),
  background: z
    .boolean()
    .default(false)
    .describe('Return at once and keep it running; see it with the process tool. No timeout applies'),
});

type Input = z.infer<typeof input>;

export const tool = defineTool<Input, Pick<ToolDeps, 'files' | 'shell' | 'processes'>>({
  name: 'exec',
  description:
    'Run a shell command in the workspace and return its output. It has no input and no terminal. For servers and other things that go on, use background.',
  keywords:
    'terminal console bash execute build compile test tests install script python npm git program package pip apt brew command-line lint format count convert unzip curl ffmpeg make cargo node run wc ls rm mkdir zip docker',
  group: 'runtime',
  common: true,
  replay: 'once',
  input,
  limits: {
    duration: 'long',
    inline: true,
    costly: true,
    timeoutSeconds: (args: Input, exec: { readonly timeoutSeconds: number }) =>
      secondsFor(args, exec.timeoutSeconds) + KILL_SECONDS,
  },
  summary: ({ command }) => command,
  runsFiles: (args) => ({ ...filesRunBy(lineOf('exec', args) ?? ''), folder: folderOf(args) }),
  aliases: {
    bash: {},
    exec_shell: { toCanonical: (args) => ({ timeout: CLAWFT_TIMEOUT_SECONDS, ...args }) },
  },
  forms: {
    goclaw: { input: input.pick({ command: true, working_dir: true }) },
    clawft: {
      name: 'exec_shell',
      description: 'Execute a shell command in the workspace directory.',
      input: z.object({
        command: z.string().describe('Shell command to execute'),
        timeout: z.number().optional().describe('Timeout in seconds (default: 30, max: 300)'),
      }),
    },
  },
  run: (deps, args, call) =>
    withFileProblems(async () => {
      if (args.command.trim() === '') return toolError('InvalidArgs', 'command: is empty');
      if (args.command.includes('\0'))
        return toolError('InvalidArgs', 'command: holds a NUL character, which no command line may');
      if (Buffer.byteLength(args.command) > MAX_COMMAND_BYTES)
        return toolError('InvalidArgs', 'command: is too long; write a script file and run that');
      if (readsNetwork(args.command)) call.origins?.readsNetwork();
      return inFolder(deps.files, call, args.working_dir, (place, folder) =>
        args.background
          ? inBackground(deps, args, call, place, folder)
          : toItsEnd(deps, args, call, place, folder),
      );
    }),
});

function secondsFor({ timeout, background }: Input, standard: number): number {
  if (background) return 10;
  return Math.min(timeout ?? standard, MAX_TIMEOUT_SECONDS);
}

async function toItsEnd(
  { shell }: Pick<ToolDeps, 'shell'>,
  args: Input,
  call: RunningCall,
  place: InFolder,
  folder: HeldFolder,
): Promise<ToolResult> {
  const timeoutMs = secondsFor(args, call.exec.timeoutSeconds) * 1000;
  const box = boxOf(call, folder, secondsFor(args, call.exec.boxTimeoutSeconds) * 1000);
  const outcome = await shell.run({ ...place, command: args.command, timeoutMs, box });
  return cutNotice(commandResult(outcome, timeoutMs), args.timeout);
}

async function inBackground(
  { processes, shell }: Pick<ToolDeps, 'processes' | 'shell'>,
  { command }: Input,
  call: RunningCall,
  { cwd, pwd, folders }: InFolder,
  folder: HeldFolder,
): Promise<ToolResult> {
  const found = await shell.backgroundLine(command, folders, boxOf(call, folder, 0));
  if (!found.ok) return toolError('SandboxUnavailable', `${found.reason}. The command has not run`);
  const { line, note, graceMs } = found;
  const watches = Object.keys(call.readOutside).length === 0 ? call.workspace : undefined;
  const started = await processes.start(call, { command, line, cwd, pwd, graceMs, watches });
  if (!started.ok) return toolError('ExecutionFailed', started.message);
  call.origins?.continues();
  folder.heldWhile?.(async () => (await processes.find(call, started.id))?.running === true);
  return {
    ok: true,
    text: `Started in the background as ${started.id} (pid ${started.pid}). Use process with action poll, log, write or kill.${note ? `\n[${note}]` : ''}`,
  };
}
