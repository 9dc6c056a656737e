/**
 * spawn_process: a program with its arguments, without a shell; clawft's `spawn`. `once`, and judged as the command
 * that it is (policy/exec-rules.ts).
 */
import { filesRunBy, readsNetwork } from '@tempoclaw/shell-judge';
import { z } from 'zod';
import { defineTool, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import {
  KILL_SECONDS,
  MAX_COMMAND_BYTES,
  MAX_TIMEOUT_SECONDS,
  cutNotice,
} from '#activities/process/command-limits.ts';
import { commandResult } from '#activities/process/command-text.ts';
import { boxOf, inFolder } from '#activities/process/in-folder.ts';
import { withFileProblems } from '#activities/workspace/file-problem.ts';
import { toolError } from '#domain/tool.ts';
import { folderOf, lineOf } from '#policy/exec-rules.ts';

/** clawft's limit on processes at once, and its timeout in seconds. */
const AT_ONCE = 5;
const TIMEOUT_SECONDS = 60;

const own = {
  command: z
    .string()
    .min(1)
    .max(4096)
    .regex(/^[^-]/, 'is a program, whose name does not begin with -')
    .describe('The program: its name, or a path from the workspace'),
  args: z
    .array(z.string())
    .max(500)
    .optional()
    .describe('Its arguments, each as the program shall get it; no shell reads them'),
  description: textField(1000, 'What it is for, in a few words').optional(),
  timeout: z.number().positive().optional().describe('Seconds until it is ended; 60, at most 300'),
};
const input = z.object({
  ...own,
  working_dir: textField(4096, 'Folder to run in, relative to the workspace').optional(),
});

type Input = z.infer<typeof input>;
type Needs = Pick<ToolDeps, 'files' | 'shell' | 'runningBefore'>;

export const tool = defineTool<Input, Needs>({
  name: 'spawn_process',
  description:
    'Run a program with arguments in the workspace, without a shell: no pipes, variables or globs. Waits for its end and returns its output; at most 5 at once.',
  keywords:
    'launch binary executable execute start without bash command arguments argv ffmpeg safely directly',
  group: 'runtime',
  replay: 'once',
  input,
  limits: {
    duration: 'long',
    costly: true,
    timeoutSeconds: (args: Input) => secondsOf(args) + KILL_SECONDS,
  },
  // The program that runs, and not the caller's description: people decide by this line.
  summary: ({ command, args = [] }) => [command, ...args].join(' '),
  runsFiles: (args) => ({ ...filesRunBy(lineOf('spawn_process', args) ?? ''), folder: folderOf(args) }),
  forms: {
    clawft: {
      name: 'spawn',
      description: 'Spawn a subprocess with a concurrency limit of 5.',
      input: z.object(own),
    },
  },
  run: ({ files, shell, runningBefore }, args, call) =>
    withFileProblems(async () => {
      const line = lineOf('spawn_process', args) ?? '';
      if (line.includes('\0'))
        return toolError('InvalidArgs', 'the arguments hold a NUL character, which no command line may');
      if (Buffer.byteLength(line) > MAX_COMMAND_BYTES)
        return toolError('InvalidArgs', 'args: are too long; put them in a file that the program reads');
      if (readsNetwork(line)) call.origins?.readsNetwork();
      const others = await runningBefore(call);
      if (others >= AT_ONCE)
        return toolError(
          'ExecutionFailed',
          `concurrency limit reached: ${others} active spawns (max ${AT_ONCE}). Wait for one to end; this one has not run`,
        );
      const timeoutMs = secondsOf(args) * 1000;
      return inFolder(files, call, args.working_dir, async (place, folder) => {
        // `exec` runs only programs, not shell words, and the process is the program's.
        const command = `exec -- ${line}`;
        const outcome = await shell.run({
          ...place,
          command,
          timeoutMs,
          box: boxOf(call, folder, timeoutMs),
        });
        return cutNotice(commandResult(outcome, timeoutMs), args.timeout);
      });
    }),
});

function secondsOf({ timeout = TIMEOUT_SECONDS }: Input): number {
  return Math.min(timeout, MAX_TIMEOUT_SECONDS);
}
