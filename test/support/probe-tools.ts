/** Tools of test code: the test counts their effects, and decides when they end. */
import { z } from 'zod';
import { defineTool, type RunningCall, type Tool } from '#policy/define-tool.ts';
import { toolError } from '#domain/tool.ts';

export interface Probes {
  readonly tools: readonly Tool[];
  /** One entry for each time that a tool's effect happened, in order. */
  readonly effects: readonly { readonly tool: string; readonly callId: string; readonly note: string }[];
  /** Calls of `hold` that run now, by their note. */
  readonly held: ReadonlyMap<string, RunningCall>;
  /** Ends a held call; later ones with the same note are not held. */
  release(note: string): void;
  /** Resolves when `hold` runs with this note. */
  untilHeld(note: string): Promise<void>;
}

const input = z.object({ note: z.string().max(1000).describe('A word to know the call by') });

/**
 * The tools of this test code.
 * - `peek` only reads (local). `glance` also reads, and may run before its answer is recorded, but is held.
 * - `poke` has an effect and is never repeated. `mark` is the same and short. `nudge` has one that may be repeated.
 * - `hold` runs until it is released or stopped. `once_hold` is the same for a tool that is never repeated.
 * - `begin` starts a child. `outside` continues where nobody sees it for a second, or until it is stopped. `break_off`
 *   throws.
 */
export function createProbes(): Probes {
  const effects: { tool: string; callId: string; note: string }[] = [];
  const held = new Map<string, RunningCall>();
  const released = new Set<string>();
  const watchers = new Set<() => void>();
  const changed = (): void => {
    for (const watcher of Array.from(watchers)) watcher();
  };
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const probe = (): void => {
        if (!holds()) return;
        watchers.delete(probe);
        resolve();
      };
      watchers.add(probe);
      probe();
    });

  const tool = (
    name: string,
    replay: Tool['replay'],
    duration: 'short' | 'instant' | 'long',
    run: (note: string, call: RunningCall) => Promise<string>,
  ): Tool =>
    defineTool<z.infer<typeof input>>({
      name,
      description: `Test tool ${name}.`,
      group: 'other',
      replay,
      input,
      limits:
        duration === 'instant'
          ? { duration: 'short', instant: true, timeoutSeconds: 30 }
          : { duration, timeoutSeconds: 30 },
      summary: ({ note }) => note,
      run: async (_deps, { note }, call) => ({ ok: true, text: await run(note, call) }),
    });
  const effect =
    (name: string) =>
    async (note: string, call: RunningCall): Promise<string> => {
      effects.push({ tool: name, callId: call.callId, note });
      changed();
      return `${name} ${note}`;
    };
  const hold =
    (name: string) =>
    async (note: string, call: RunningCall): Promise<string> => {
      held.set(note, call);
      effects.push({ tool: name, callId: call.callId, note });
      changed();
      const aborted = new Promise<never>((_resolve, reject) => {
        call.signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
        if (call.signal.aborted) reject(new Error('stopped'));
      });
      try {
        await Promise.race([until(() => released.has(note)), aborted]);
      } finally {
        held.delete(note);
        changed();
      }
      return `${name} ${note}`;
    };

  return {
    tools: [
      tool('peek', 'readonly', 'short', async (note) => `peek ${note}`),
      tool('glance', 'readonly', 'instant', hold('glance')),
      tool('poke', 'once', 'long', effect('poke')),
      tool('mark', 'once', 'short', effect('mark')),
      tool('nudge', 'idempotent', 'long', effect('nudge')),
      tool('hold', 'readonly', 'long', hold('hold')),
      tool('once_hold', 'once', 'long', hold('once_hold')),
      defineTool<z.infer<typeof input>>({
        name: 'begin',
        description: 'Test tool that takes `note` milliseconds and then starts a pause as a child.',
        group: 'other',
        replay: 'idempotent',
        input,
        limits: { duration: 'short', timeoutSeconds: 5 },
        run: async (_deps, { note }, call) => {
          await new Promise((resolve) => setTimeout(resolve, Number(note)));
          const id = `wait/${call.tenant}/${call.callId}`;
          return { ok: true, text: note, child: { type: 'wait', id, input: { ms: 150 }, wait: true } };
        },
      }),
      defineTool<z.infer<typeof input>>({
        name: 'break_off',
        description: 'Test tool that fails.',
        group: 'other',
        replay: 'idempotent',
        input,
        limits: { duration: 'long', timeoutSeconds: 30 },
        run: async (_deps, { note }) => {
          if (note === 'throw') throw new Error('the tool broke');
          return toolError('ExecutionFailed', note);
        },
      }),
      defineTool<z.infer<typeof input>>({
        name: 'outside',
        description: 'Test tool that goes on outside.',
        group: 'other',
        replay: 'verify',
        mayContinueOutside: true,
        input,
        limits: { duration: 'long', timeoutSeconds: 30 },
        run: async (_deps, { note }, { outside, callId }) => {
          effects.push({ tool: 'outside', callId, note: outside?.isStopped ? 'stopped' : note });
          changed();
          if (outside?.isStopped) return toolError('Cancelled', 'it was stopped');
          if (outside?.left && note !== 'stays') return { ok: true, text: `outside ${note}` };
          await outside?.keep({ since: 0, asks: 0, task: note });
          return { ok: true, text: '', pending: { later: 1 } };
        },
      }),
    ],
    effects,
    held,
    release(note) {
      released.add(note);
      changed();
    },
    untilHeld: (note) => until(() => held.has(note)),
  };
}
