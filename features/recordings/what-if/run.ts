/** Replays many sessions, several at once, within bounds of money. */
import { CliError } from '#cli/cli-error.ts';
import { ApiError, type Client } from '#cli/client.ts';
import type { Recording, WhatIf } from '../schema.ts';
import { addFigures, type Figures } from './figures.ts';
import { type Replayed, replaySession, type Spending, stopTurn } from './replay-session.ts';

/** A session to replay. It is read when its turn comes, so that few are in memory. */
export interface Source {
  readonly name: string;
  /** @throws CliError when it has no recording */
  read(): Promise<Recording>;
}

export interface Bounds {
  /** US dollars; no further turn starts once they are spent. */
  readonly maxUsd: number;
  readonly atOnce: number;
}

/** Why not all sessions were replayed. */
export type Ended = 'max-cost' | 'interrupted';

export interface WhatIfReport {
  readonly agent: string;
  readonly models: WhatIf['models'];
  readonly sessions: readonly Replayed[];
  /** Sessions without a result, and why. */
  readonly left_out: readonly { readonly session: string; readonly why: string }[];
  readonly changed: number;
  readonly answers: number;
  readonly before: Figures;
  readonly after: Figures;
  /** US dollars, also of sessions that have no result; null when a price is not known. */
  readonly spent: number | null;
  readonly ended_by: Ended | null;
}

export interface Run {
  readonly report: Promise<WhatIfReport>;
  /** Stops what runs; the report has the sessions that were replayed before. Safe to repeat. */
  interrupt(): void;
}

export interface Progress {
  replayed(one: Replayed, done: number, spent: number | null): void;
  leftOut(session: string, why: string): void;
}

/** Begins. The report rejects with the first error that all sessions would have. */
export function startRun(
  client: Client,
  sources: readonly Source[],
  { agent, change }: { readonly agent: string; readonly change: WhatIf },
  { maxUsd, atOnce }: Bounds,
  progress: Progress,
): Run {
  const replayed: Replayed[] = [];
  const leftOut: { session: string; why: string }[] = [];
  const running = new Set<string>();
  let spent = 0;
  let isPriced = true;
  let endedBy: Ended | null = null;
  const spending: Spending = {
    isOver: () => endedBy !== null,
    add(usd) {
      if (usd === null) isPriced = false;
      spent += usd ?? 0;
      if (spent >= maxUsd) endedBy ??= 'max-cost';
    },
    running,
  };
  const shownSpent = (): number | null => (isPriced ? spent : null);
  const leaveOut = (session: string, why: string): void => {
    leftOut.push({ session, why });
    progress.leftOut(session, why);
  };

  async function runOne({ name, read }: Source): Promise<void> {
    if (endedBy !== null) return leaveOut(name, WHY[endedBy]);
    try {
      const recording = await read();
      const one = await replaySession(client, recording, change, spending);
      if (!one) return leaveOut(name, WHY[endedBy ?? 'interrupted']);
      replayed.push(one);
      progress.replayed(one, replayed.length + leftOut.length, shownSpent());
    } catch (error) {
      // A session that cannot be replayed must not hide what the others show.
      if (!(error instanceof CliError) || isOfChange(error)) throw error;
      leaveOut(name, error.message);
    }
  }

  async function runAll(): Promise<WhatIfReport> {
    const [first, ...others] = sources;
    // What is wrong for all sessions is said once.
    if (first) await runOne(first);
    const rest = others.values();
    const workers = Array.from({ length: atOnce }, async () => {
      for (const source of rest) await runOne(source);
    });
    await Promise.all(workers);
    return {
      agent,
      models: change.models,
      sessions: replayed,
      left_out: leftOut,
      changed: replayed.filter(({ difference }) => difference).length,
      answers: replayed.reduce((sum, one) => sum + one.answers, 0),
      before: addFigures(replayed.map(({ before }) => before)),
      after: addFigures(replayed.map(({ after }) => after)),
      spent: shownSpent(),
      // What was reached with the last turn has ended nothing.
      ended_by: leftOut.some(({ why }) => endedBy && why === WHY[endedBy]) ? endedBy : null,
    };
  }

  return {
    report: runAll(),
    interrupt() {
      endedBy ??= 'interrupted';
      for (const session of running) void stopTurn(client, session);
    },
  };
}

const WHY: Readonly<Record<Ended, string>> = {
  'max-cost': 'not replayed to its end: --max-cost was reached',
  interrupted: 'not replayed to its end: the command was interrupted',
};

/** The key or the change was refused, and would be for each session. */
function isOfChange(error: CliError): boolean {
  if (!(error instanceof ApiError)) return error.code === 'Unreachable';
  const { errors = [] } = error.problem;
  return (
    [401, 403].includes(error.status) ||
    errors.some(({ pointer = '' }) => /^body\/(change|model)/.test(pointer))
  );
}
