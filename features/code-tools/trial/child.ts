/**
 * Runs or probes one tool as a tool host does, in a process that can be killed: the program that `runTrial` forks. It
 * gets a TrialWork and sends TrialNews.
 */
import { MockActivityEnvironment } from '@temporalio/testing';
import { createHostActivities } from '../host/host-activities.ts';
import { provideExports } from '../../provide-exports.ts';
import { loadTools } from '../host/load-tools.ts';
import type { CodeTool } from '../sdk/tool.ts';

/** `before` its first line, `after` its last one: there the process kills itself. */
export type KillPoint = 'before' | 'after';

export interface TrialWork {
  readonly folder: string;
  readonly tool: string;
  readonly type: 'run_code_tool' | 'probe_code_tool';
  readonly id: string;
  /** Base64, as is the result. */
  readonly key: string;
  readonly request: string;
  readonly kill?: KillPoint | undefined;
}

/** `started` and `ran` are about `run` of the tool. */
export type TrialNews =
  | { readonly kind: 'started' | 'ran' }
  | { readonly kind: 'result'; readonly result: string }
  | { readonly kind: 'problem'; readonly message: string };

function send(news: TrialNews): Promise<void> {
  return new Promise((done) => {
    process.send?.(news, () => done());
  });
}

/** Resolves never at the point of the kill. */
function withKill(tool: CodeTool, kill: KillPoint | undefined): CodeTool {
  return {
    ...tool,
    async run(input, context) {
      await send({ kind: 'started' });
      if (kill === 'before') process.kill(process.pid, 'SIGKILL');
      const value = await tool.run(input, context);
      await send({ kind: 'ran' });
      if (kill === 'after') process.kill(process.pid, 'SIGKILL');
      return value;
    },
  };
}

async function perform({ folder, tool: name, type, id, key, request, kill }: TrialWork): Promise<void> {
  provideExports();
  const { tools } = await loadTools(folder);
  const tool = tools.find(({ definition }) => definition.name === name)?.tool;
  if (!tool) throw new Error(`${folder}/tools has no tool ${name} that can be loaded`);
  const activities = createHostActivities(new Map([[name, withKill(tool, kill)]]), new Map(), bytesOf(key));
  const environment = new MockActivityEnvironment({ activityId: id });
  const result: Uint8Array = await environment.run(() => activities[type](bytesOf(request)));
  await send({ kind: 'result', result: Buffer.from(result).toString('base64') });
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(base64, 'base64'));
}

process.once('message', (work: TrialWork) => {
  perform(work)
    .catch((error: unknown) =>
      send({ kind: 'problem', message: error instanceof Error ? error.message : String(error) }),
    )
    .finally(() => process.disconnect());
});
