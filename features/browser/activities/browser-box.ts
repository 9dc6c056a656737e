/**
 * Chooses where a browser's processes run: in a container, else in bubblewrap, else on the host, as its agent's sandbox
 * allows (SH-3). A box has no network and sees only Chromium, its profile, and the socket of its proxy. The box
 * isolates it in place of Chromium's own sandbox.
 */
import { randomUUID } from 'node:crypto';
import { chmod, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toolError, type ToolFailure } from '#domain/tool.ts';
import type { Sandbox } from '#domain/sandbox.ts';
import { DEFAULT_PATH } from '@tempoclaw/sandbox/settings';
import type { RunningCall } from '#policy/define-tool.ts';
import { boxOwner } from '#activities/process/box-owner.ts';
import {
  BOX_ENVIRONMENT,
  type Boxes,
  type Bubblewrap,
  EngineProblem,
  type EngineProbe,
} from '@tempoclaw/sandbox';
import type { Chromium } from './chromium.ts';

/** What a box shows of the host, at the same paths. */
export interface BoxedPlace {
  readonly chromium: Chromium;
  /** Folders of the browser itself. */
  readonly profile: string;
  readonly temporary: string;
  /** The proxy's socket, in one of these folders. */
  readonly socket: string;
}

export interface BrowserBox {
  /** The command before Chromium's arguments. CDP goes over its standard input and output. */
  command(place: BoxedPlace): Promise<readonly string[]>;
  /** Safe to repeat. */
  end(): Promise<void>;
}

export interface Boxing {
  readonly boxes: Boxes;
  readonly bubblewrap: Bubblewrap;
}

export type BrowserCall = Pick<
  RunningCall,
  'tenant' | 'agent' | 'user' | 'sessionKey' | 'callId' | 'egress' | 'sandbox'
>;

/** The proxy's port within a box, which has its own loopback interface. */
export const BOX_PROXY_PORT = 3128;
/** Limit of threads and processes for Chromium's own, far above the limit of an agent's commands. */
const PIDS = 1024;
const PROGRAM = fileURLToPath(new URL('in-box.py', import.meta.url));
const ATTACH = fileURLToPath(new URL('./attach-chromium.ts', import.meta.url));

/** If there is neither `box` nor a failure, the browser runs on the host, with a note if a box was requested. */
export async function browserBox(
  { boxes, bubblewrap }: Boxing,
  call: BrowserCall,
  memoryBytes: number,
): Promise<{ readonly box?: BrowserBox; readonly note?: string } | ToolFailure> {
  const { sandbox } = call;
  if (!sandbox) return {};
  const probe = await boxes.probe(sandbox);
  const isAsConfigured = probe.ok && (sandbox.mode !== 'required' || sandbox.runtime === probe.runtime);
  if (probe.ok && isAsConfigured)
    return { box: containerBox(boxes, probe, { ...sandbox, memoryBytes }, call) };
  const reason = probe.ok ? `the engine has no runtime ${sandbox.runtime}` : probe.reason;
  if (sandbox.mode === 'required')
    return toolError('SandboxUnavailable', `${reason}; the browser was not started`);
  const note = (where: string) => (sandbox.stated ? { note: `[The browser runs ${where}: ${reason}]` } : {});
  if (!(await bubblewrap.works())) return note('on the host, not in a sandbox');
  return { box: bubbleBox(bubblewrap, sandbox), ...note('in bubblewrap instead of a container') };
}

function containerBox(
  boxes: Boxes,
  check: Extract<EngineProbe, { ok: true }>,
  sandbox: Sandbox,
  owner: BrowserCall,
): BrowserBox {
  const name = `${boxes.name}-browser-${randomUUID()}`;
  return {
    async command({ chromium, profile, temporary, socket }) {
      const spec = await boxes.describe(boxOwner({ ...owner, workspace: profile }, sandbox), sandbox, check);
      // The box has another user; the proxy's clients must still know its password.
      await chmod(socket, 0o666);
      if (temporary !== profile) await chmod(temporary, 0o711);
      const mount = (folder: string, ReadOnly: boolean) => ({
        Type: 'bind' as const,
        Source: folder,
        Target: folder,
        ReadOnly,
      });
      const variables = { ...BOX_ENVIRONMENT, ...chromium.env, HOME: profile };
      const options = {
        ...spec.options,
        name,
        Entrypoint: ['python3', '-c', await readFile(PROGRAM, 'utf8')],
        Cmd: [socket, String(BOX_PROXY_PORT), chromium.path],
        Env: Object.entries(variables).map(([variable, value]) => `${variable}=${value}`),
        OpenStdin: true,
        StdinOnce: true,
        AttachStdin: true,
        AttachStdout: true,
        AttachStderr: true,
        HostConfig: {
          ...spec.options.HostConfig,
          NetworkMode: 'none',
          PidsLimit: PIDS,
          ShmSize: sandbox.memoryBytes / 4,
          Mounts: [
            mount(profile, false),
            ...(temporary === profile ? [] : [mount(temporary, true)]),
            mount(dirname(chromium.path), true),
          ],
        },
      };
      const encoded = Buffer.from(JSON.stringify(options)).toString('base64');
      return [
        process.execPath,
        '--disable-warning=ExperimentalWarning',
        ATTACH,
        boxes.engine.address,
        encoded,
      ];
    },
    end: () => boxes.remove(name).catch(unlessEngine),
  };
}

/** Ignores engine errors: Chromium ends when its input closes, or has ended with its engine. */
function unlessEngine(error: unknown): void {
  if (!(error instanceof EngineProblem)) throw error;
}

function bubbleBox(bubblewrap: Bubblewrap, sandbox: Sandbox): BrowserBox {
  return {
    async command({ chromium, profile, temporary, socket }) {
      const none = { ...sandbox, workspace: 'none', network: false } as const;
      const folder = dirname(chromium.path);
      const shown = [profile, temporary].flatMap((path) => ['--bind', path, path]);
      const more = [...shown, '--ro-bind', folder, folder, '--setenv', 'PATH', DEFAULT_PATH];
      const prefix = await bubblewrap.prefix(profile, '', none, more);
      const program = await readFile(PROGRAM, 'utf8');
      return [...prefix, 'python3', '-c', program, socket, String(BOX_PROXY_PORT), chromium.path];
    },
    end: () => Promise.resolve(),
  };
}
