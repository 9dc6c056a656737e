/** The parts that one program starts: each is supervised, and all end in one order. */
import type { Child } from './child.ts';
import type { Supervised } from './supervise.ts';
import { supervise } from './supervise.ts';

export interface PartsOptions<Name extends string> {
  /** The order in which parts are ended: users of a service before the service. */
  readonly order: readonly Name[];
  /** Called with what happens to a part, in words for a person. */
  readonly onEvent: (text: string) => void;
  /** Called with each process, before it is ready. */
  readonly onSpawn: (name: Name, child: Child) => void;
  /** Called for each part of the order once it has ended. */
  readonly onEnd: (name: Name) => Promise<void> | void;
}

export interface Parts<Name extends string> {
  /** For the `onSpawn` of whatever starts the part's process. */
  spawned(name: Name): (child: Child) => void;
  /** Starts the part and keeps it running (supervise.ts). `title` is its name for people. */
  keep(name: Name, title: string, start: () => Promise<Child>): Promise<void>;
  /** The part's newest process. */
  child(name: Name): Child | undefined;
  isStopping(): boolean;
  /** Ends every part that was started. Safe at any time, also while one starts. */
  stop(): Promise<void>;
  /** Ends everything at once, without grace. */
  kill(): void;
}

export function createParts<Name extends string>(options: PartsOptions<Name>): Parts<Name> {
  const children = new Map<Name, Child>();
  const supervised = new Map<Name, Supervised>();
  let stopping = false;
  return {
    spawned: (name) => (child) => {
      children.set(name, child);
      options.onSpawn(name, child);
      // A stop during this spawn has not seen the child.
      if (stopping) void child.stop();
    },
    async keep(name, title, start) {
      const one = await supervise({ name: title, start, onEvent: options.onEvent });
      supervised.set(name, one);
      // A stop during this start has not seen the part.
      if (stopping) await one.stop();
    },
    child: (name) => children.get(name),
    isStopping: () => stopping,
    async stop() {
      stopping = true;
      // All are released at once, so that no part is started again while the others end.
      for (const one of supervised.values()) one.letGo();
      for (const name of options.order) {
        await supervised.get(name)?.stop();
        await children.get(name)?.stop();
        await options.onEnd(name);
      }
    },
    kill() {
      for (const child of children.values()) child.kill();
    },
  };
}
