/**
 * The tools that make media, in a temporary workspace, with settings from an environment and a server that acts as all
 * providers.
 */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createMediaMakingTools } from '../making/media-making-tools.ts';
import { openMedia } from '../reading/open-media.ts';
import { createFiles } from '#activities/workspace/files.ts';
import { loadConfig } from '#config';
import type { PendingExternalCall } from '#domain/turn/pending-call.ts';
import type { MediaSettings } from '../schema.ts';
import { SecretProblem } from '#domain/secret.ts';
import type { ToolResult } from '#domain/tool.ts';
import type { RunningCall, Tool } from '#policy/define-tool.ts';
import type { BudgetedWork, BudgetHold } from '#store/budgets/budget-ledger.ts';
import type { BudgetSettlement } from '#domain/budget/budget.ts';
import type { NewEgressRow } from '#store/egress-store.ts';
import { type MediaServer, startMediaServer } from '#test/support/media-server.ts';
import { inTurn, temporaryFolder, toolBench } from '#test/support/tool-call.ts';
import { memoryEgress } from '#test/support/web-site.ts';

export interface MediaBench {
  readonly server: MediaServer;
  readonly rows: NewEgressRow[];
  /** What was reserved, and what was settled, by the order's reference. */
  readonly reserved: Map<string, BudgetedWork['expected']>;
  readonly settled: Map<string, BudgetSettlement>;
  /** What the last call stored. */
  left(): PendingExternalCall | undefined;
  /** Makes a call; with `again`, an attempt that follows one which stored this. */
  run(
    tool: Tool,
    args: object,
    again?: { readonly left: PendingExternalCall; readonly isStopped?: true },
  ): Promise<ToolResult>;
  /** Reads a file of the workspace. */
  read(path: string): Promise<Buffer | undefined>;
  write(path: string, bytes: Buffer): Promise<void>;
}

export interface MediaBenchOptions {
  /** Replaces the variables that name the server and the keys. */
  readonly env?: (server: MediaServer) => Readonly<Record<string, string>>;
  /** Models in place of the usual ones. */
  readonly media?: Partial<MediaSettings>;
  /** Replaces a budget without limit. */
  readonly hold?: BudgetHold;
  readonly call?: Partial<RunningCall>;
}

/** Artifacts need a database. */
const NO_ARTIFACTS = { pool: undefined as never, objects: undefined };

export async function mediaBench(
  t: Pick<TestContext, 'after'>,
  { env = ({ env: all }) => all, media = {}, hold = { held: true }, call = {} }: MediaBenchOptions = {},
): Promise<MediaBench> {
  const server = await startMediaServer();
  t.after(() => server.close());
  const config = loadConfig({ env: env(server), cwd: await temporaryFolder(t) });
  const base = await temporaryFolder(t);
  const files = createFiles({ journalDir: join(base, 'journal'), now: Date.now, lock: inTurn });
  const rows: NewEgressRow[] = [];
  const reserved = new Map<string, BudgetedWork['expected']>();
  const settled = new Map<string, BudgetSettlement>();
  const refOf = (holder: string): string => holder.slice(holder.indexOf('.') + 1);
  const { making } = createMediaMakingTools({
    egress: memoryEgress(rows),
    egressSettings: config.egress,
    mediaPlaces: { settings: { ...config.media, ...media }, providers: config.models.providers },
    files,
    open: (running, ref) => openMedia({ files, egress: memoryEgress(rows), ...NO_ARTIFACTS }, running, ref),
    now: Date.now,
    budgets: { request: (attempt) => ({ attempt, reserve: {} }) },
    budgetLedger: {
      async reserve({ holder, expected }) {
        reserved.set(refOf(holder), expected);
        return hold;
      },
      async settle(_tenant, holder, settlement) {
        settled.set(refOf(holder), settlement);
      },
      noteUses: async () => undefined,
    },
    async resolveSecret(text) {
      if (text.startsWith('secret://')) throw new SecretProblem(`the secret "${text.slice(9)}" is not set`);
      return text;
    },
  });
  const bench = await toolBench(t, { deps: { making } });
  let remaining: PendingExternalCall | undefined;
  const scope = { workspace: bench.workspace, idempotencyKey: 'test' };
  return {
    server,
    rows,
    reserved,
    settled,
    left: () => remaining,
    run(tool, args, again) {
      remaining = again?.left;
      const outside: NonNullable<RunningCall['outside']> = {
        get left() {
          return remaining;
        },
        isAgain: again !== undefined,
        isStopped: again?.isStopped === true,
        answer: undefined,
        async keep(now) {
          remaining = now;
        },
        sample: () => Promise.reject(new Error('no model is asked')),
        isSampling: false,
      };
      return bench.run(tool, args, { callId: 'call_0123456789ab', outside, ...call });
    },
    read: (path) => files.readBytes(scope, path, 1_000_000),
    write: async (path, bytes) => void (await files.write(scope, path, bytes)),
  };
}

/** The text of a result, and the path in it. */
export function madeAt(result: ToolResult): { readonly text: string; readonly path: string } {
  if (!result.ok) throw new Error(`${result.code}: ${result.message}`);
  const [, path = ''] = /^Made by \S+: (\S+) \(/.exec(result.text) ?? [];
  return { text: result.text, path };
}
