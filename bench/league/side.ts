/** What is compared: one program that runs turns, and what it needs. */
import type { Victim } from './points.ts';
import type { Service } from './services.ts';

/** A side with its servers running, and its own processes. */
export interface RunningSide {
  /** Starts a turn, once however often it is asked. Resolves when the side has accepted it. */
  begin(turn: string, text: string): Promise<void>;
  /** Sends SIGKILL to all processes that run the agent's code. */
  killWorker(): void;
  /** Starts them again. Resolves when they take turns. */
  restartWorker(): Promise<void>;
  /** Whether one of them has ended by itself. */
  hasEnded(): boolean;
  /** The servers that can be killed. */
  readonly services: Readonly<Partial<Record<Exclude<Victim, 'worker'>, Service>>>;
  /** Pids of its own processes, by which their memory is read. */
  pids(): readonly number[];
  stop(): Promise<void>;
}

/** `caller`: the same turn, asked for again. `traffic`: any other turn. */
export type Resume = 'itself' | 'caller' | 'traffic';

export interface Side {
  readonly id: string;
  readonly title: string;
  /** Packages with their versions, as they are shown. */
  readonly versions: string;
  /** The page of its documentation that its program follows. */
  readonly page: string;
  /** What continues a turn whose process has died, when there is one again. */
  readonly resume: Resume;
  /** What is killed as the database and as the engine; a side without one has no such point. */
  readonly victims: readonly Victim[];
  start(options: StartOptions): Promise<RunningSide>;
}

export interface StartOptions {
  readonly worldUrl: string;
  /** A new folder. */
  readonly stateDir: string;
  readonly log: (text: string) => void;
}
