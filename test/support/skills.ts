/** An API and a worker with skills of the installation, and functions that write, use and publish more. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CallRow, LiveWorkerOptions } from './live-worker.ts';
import { type Answer, type Stack, startStack } from './stack.ts';

export interface SkillStack {
  readonly stack: Stack;
  /** A temporary folder; `instance` in it has the skills of the installation. */
  readonly folder: string;
  put(path: string, text: string): Promise<void>;
  /** The location of a path in the agent's workspace, which all of its users share. */
  own(agent: string, path: string): string;
  write(agent: string, path: string, text: string): Promise<void>;
  /** Runs a turn in a session of its own; resolves when it has ended. */
  turn(
    text: string,
    input?: object,
  ): Promise<{ readonly id: string; readonly text: string; readonly calls: readonly CallRow[] }>;
  /** The first call of such a turn. */
  one(line: string, options?: object): Promise<CallRow>;
  ask(method: string, path: string, body?: object): Promise<Answer>;
  /** Publishes a skill of one file. `front` is further lines of its front matter. */
  publish(name: string, more?: object, front?: string): Promise<Answer>;
  stop(): Promise<void>;
}

export function skillText(name: string, more = '', body = 'Do it.'): string {
  return `---\nname: ${name}\ndescription: Knows ${name}\n${more}---\n${body}\n`;
}

export function sentFile(path: string, text: string) {
  return { path, content: Buffer.from(text).toString('base64') };
}

export async function startSkillStack(
  options: LiveWorkerOptions,
  instance: Readonly<Record<string, string>>,
): Promise<SkillStack> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'skills-test-')));
  const root = join(folder, 'workspaces');
  const put = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  for (const [path, text] of Object.entries(instance)) await put(`instance/${path}`, text);
  const stack = await startStack({
    ...options,
    agents: options.agents?.map((agent) => ({ workspace: agent.key, ...agent })),
    settings: `workspaceRoot: ${root}\nskills: { folders: [${join(folder, 'instance')}] }\n${options.settings ?? ''}`,
  });
  await stack.ask('PATCH', '/v1/agents/main', { body: { workspace: 'main' } });
  const own = (agent: string, path: string): string => join(root, stack.tenant, agent, path);
  let sessions = 0;
  const turn: SkillStack['turn'] = async (text, input = {}) => {
    sessions += 1;
    const { turn_id: id } = await stack.worker.say(`skills-${sessions}`, text, input);
    const ended = await stack.worker.ended(id);
    return { id, text: ended.text ?? '', calls: await stack.worker.calls(id) };
  };
  const ask: SkillStack['ask'] = (method, path, body) =>
    stack.ask(method, `/v1/skills${path}`, body && { body });
  return {
    stack,
    folder,
    put,
    own,
    async write(agent, path, text) {
      await mkdir(dirname(own(agent, path)), { recursive: true });
      await writeFile(own(agent, path), text);
    },
    turn,
    async one(line, input) {
      const [call] = (await turn(line, input)).calls;
      assert.ok(call);
      return call;
    },
    ask,
    publish: (name, more = {}, front = '') =>
      ask('PUT', `/${name}`, { files: [sentFile('SKILL.md', skillText(name, front))], ...more }),
    async stop() {
      await stack.stop();
      await rm(folder, { recursive: true });
    },
  };
}
