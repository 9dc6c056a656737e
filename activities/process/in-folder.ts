/** Runs the command of a tool's call in its folder, which is held open, and reports its newest output. */
import type { RunningCall } from '#policy/define-tool.ts';
import type { Files, HeldFolder } from '../workspace/contract.ts';
import { boxOwner } from './box-owner.ts';
import { createProgressFeed } from './progress-feed.ts';
import type { BoxRequest, CommandRequest } from '@tempoclaw/sandbox';

export type InFolder = Pick<CommandRequest, 'cwd' | 'pwd' | 'folders' | 'callId' | 'signal' | 'onOutput'>;

/** `isWatched`: whether its output may be shown before it has ended. */
export async function inFolder<Result extends object>(
  files: Pick<Files, 'hold'>,
  call: RunningCall,
  path: string | null | undefined,
  run: (place: InFolder, folder: HeldFolder) => Promise<Result>,
  isWatched = true,
): Promise<Result> {
  const { callId, signal } = call;
  const folder = await files.hold(call, path ?? '.', 'run');
  const feed = isWatched ? createProgressFeed(call.progress) : undefined;
  try {
    const result = await run(
      { cwd: folder.cwd, pwd: folder.path, folders: [call.workspace], callId, signal, onOutput: feed?.take },
      folder,
    );
    const restored = (await folder.restore?.()) ?? [];
    // A command cannot change documents that are rows; the model reads when it tried.
    const kept = `${restored.join(', ')} cannot be changed by a command and was put back; use write_file or edit`;
    return restored.length === 0 ? result : withNote(result, kept);
  } finally {
    feed?.end();
    await folder.close();
  }
}

/** A tool's result with one more line for the model. */
export function withNote<Result extends object>(result: Result, words: string): Result {
  const note = `\n[${words}]`;
  if ('text' in result && typeof result.text === 'string') return { ...result, text: result.text + note };
  if ('message' in result && typeof result.message === 'string')
    return { ...result, message: result.message + note };
  return result;
}

/** The sandbox that its command runs in; none for an agent whose commands run on the host. */
export function boxOf(call: RunningCall, { inside }: HeldFolder, timeoutMs: number): BoxRequest | undefined {
  const { sandbox } = call;
  return sandbox && { sandbox, owner: boxOwner(call, sandbox), inside, timeoutMs };
}
