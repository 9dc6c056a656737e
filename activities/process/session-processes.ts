/** Background commands of sessions: each person who speaks in a session sees their own. */
import type { BackgroundCommands, BackgroundOwner } from '@tempoclaw/sandbox';

/** The owner of processes; a RunningCall is one. */
export interface ProcessOwner {
  readonly tenant: string;
  readonly sessionKey: string;
  /** Null is nobody in particular. */
  readonly user: string | null;
}

type Owned<Args extends unknown[]> = Args extends [BackgroundOwner, ...infer Rest]
  ? [ProcessOwner, ...Rest]
  : never;
type OfSession<Name extends 'list' | 'find' | 'log' | 'write' | 'kill'> = (
  ...args: Owned<Parameters<BackgroundCommands[Name]>>
) => ReturnType<BackgroundCommands[Name]>;

export interface Processes extends Pick<BackgroundCommands, 'stopOwn'> {
  start(
    owner: ProcessOwner & { readonly idempotencyKey: string },
    request: Parameters<BackgroundCommands['start']>[1],
  ): ReturnType<BackgroundCommands['start']>;
  readonly list: OfSession<'list'>;
  readonly find: OfSession<'find'>;
  readonly log: OfSession<'log'>;
  readonly write: OfSession<'write'>;
  readonly kill: OfSession<'kill'>;
  /**
   * Running commands of all sessions that started in this workspace before their session had read anything from
   * outside: what is written there may influence them.
   */
  watchersOf(tenant: string, workspace: string): ReturnType<BackgroundCommands['watchersOf']>;
  /** Ends all of a session's processes, then its sandboxes; returns how many processes ran. */
  killSession(tenant: string, sessionKey: string): Promise<number>;
  /** The same for a session that may never have had any, which costs one check. */
  killLeft(tenant: string, sessionKey: string): Promise<number>;
}

export function sessionProcesses(commands: BackgroundCommands): Processes {
  const all = (tenant: string, sessionKey: string) => ({ owner: tenant, group: sessionKey });
  const own = ({ tenant, sessionKey, user }: ProcessOwner): BackgroundOwner => ({
    ...all(tenant, sessionKey),
    member: user ?? undefined,
  });
  return {
    start: (owner, request) =>
      commands.start({ ...own(owner), idempotencyKey: owner.idempotencyKey }, request),
    list: (owner) => commands.list(own(owner)),
    find: (owner, id) => commands.find(own(owner), id),
    log: (owner, ...page) => commands.log(own(owner), ...page),
    write: (owner, ...input) => commands.write(own(owner), ...input),
    kill: (owner, id) => commands.kill(own(owner), id),
    watchersOf: (tenant, workspace) => commands.watchersOf(tenant, workspace),
    killSession: (tenant, sessionKey) => commands.killGroup(all(tenant, sessionKey)),
    killLeft: (tenant, sessionKey) => commands.killRemaining(all(tenant, sessionKey)),
    stopOwn: () => commands.stopOwn(),
  };
}
