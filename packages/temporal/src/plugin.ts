/** The plugin of a worker: its guarded activities ask TempoClaw before they run. */
import { fileURLToPath } from 'node:url';
import type { BundleOptions, BundlerPlugin, WorkerOptions, WorkerPlugin } from '@temporalio/worker';
import { createGuardActivities } from './activities.ts';
import type { GuardedTool, GuardedTools } from './contract.ts';
import { inboundOf } from './inbound.ts';
import type { ServerOptions } from './server.ts';

export { FAILURES, type GuardedTool, type GuardedTools, type Replay } from './contract.ts';
export type { ServerOptions } from './server.ts';

export interface TempoClawPluginOptions extends ServerOptions {
  /** The guarded activities, by their types. At most 200. */
  readonly tools: GuardedTools;
}

const MAX_TOOLS = 200;
const NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
const REPLAYS: ReadonlySet<unknown> = new Set(['readonly', 'idempotent', 'once']);

/** The file beside this one, of sources or of the built package. */
const WORKFLOW_MODULE = fileURLToPath(new URL(`./workflow${import.meta.url.slice(-3)}`, import.meta.url));

/** For `plugins` of a worker, and of `bundleWorkflowCode` when its workflows are bundled before. */
export class TempoClawPlugin implements WorkerPlugin, BundlerPlugin {
  readonly name = 'tempoclaw';
  readonly #options: TempoClawPluginOptions;

  /** @throws TypeError for options that cannot be used */
  constructor(options: TempoClawPluginOptions) {
    checkOptions(options);
    this.#options = options;
  }

  configureBundler(options: BundleOptions): BundleOptions {
    const tools = Buffer.from(JSON.stringify(this.#options.tools)).toString('hex');
    const modules = options.workflowInterceptorModules ?? [];
    return { ...options, workflowInterceptorModules: [...modules, `${WORKFLOW_MODULE}?${tools}`] };
  }

  configureWorker(options: WorkerOptions): WorkerOptions {
    const { tools } = this.#options;
    const { activity = [], ...others } = options.interceptors ?? {};
    const guard = ({ info }: { readonly info: { readonly activityType: string } }) => {
      const inbound = inboundOf(tools, info.activityType);
      return inbound ? { inbound } : {};
    };
    return {
      ...options,
      activities: { ...options.activities, ...createGuardActivities(this.#options) },
      interceptors: { ...others, activity: [guard, ...activity] },
    };
  }
}

function checkOptions({ url, key, tools }: TempoClawPluginOptions): void {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new TypeError('TempoClawPlugin: url must be the http(s) address of the API');
  if (typeof key !== 'function' && !key)
    throw new TypeError(
      'TempoClawPlugin: key is empty; make one with `tempoclaw api-keys create NAME --scopes run`',
    );
  const all = Object.entries(tools);
  if (all.length > MAX_TOOLS)
    throw new TypeError(`TempoClawPlugin: tools has more than ${MAX_TOOLS} activities`);
  for (const [type, tool] of all) checkTool(type, tool);
}

function checkTool(type: string, { name = type, replay }: GuardedTool): void {
  if (!REPLAYS.has(replay))
    throw new TypeError(`TempoClawPlugin: tools.${type}.replay must be readonly, idempotent or once`);
  if (!NAME.test(name))
    throw new TypeError(
      `TempoClawPlugin: tools.${type}: give it a \`name\` for rules: 1 to 64 letters, digits or _, a letter first`,
    );
}
