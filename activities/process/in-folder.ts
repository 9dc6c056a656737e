/** The command of a tool's call in the folder that it names: held open while it runs, its newest output told as it comes. */
import type { RunningCall } from '#policy/define-tool.ts';
import type { Files, HeldFolder } from '../workspace/files.ts';
import { createProgressFeed } from './progress-feed.ts';
import type { BoxRequest, CommandRequest } from './shell.ts';

export type InFolder = Pick<CommandRequest, 'cwd' | 'pwd' | 'callId' | 'signal' | 'onOutput'>;

/** `isWatched`: whether its output may be told before it has ended. */
export async function inFolder<Result>(
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
    return await run({ cwd: folder.cwd, pwd: folder.path, callId, signal, onOutput: feed?.take }, folder);
  } finally {
    feed?.end();
    await folder.close();
  }
}

/** The box that its command belongs in; none for an agent whose commands run on the host. */
export function boxOf(call: RunningCall, { inside }: HeldFolder, timeoutMs: number): BoxRequest | undefined {
  return call.sandbox && { sandbox: call.sandbox, owner: call, inside, timeoutMs };
}
