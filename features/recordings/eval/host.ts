/** What runs an eval: it reaches the installation. `tempoclaw eval` provides it before it loads the file. */

export interface EvalHost {
  /** Throws for an answer that is no 2xx; the message says why. */
  send(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown>;
  /** Reads a recording; the path is relative to the folder of the agents. */
  readRecording(path: string): EvalRecording;
}

/** The part of a recording that an eval uses. */
export interface EvalRecording {
  readonly turns: readonly {
    readonly steps: readonly {
      readonly calls: readonly {
        readonly tool: string;
        readonly args: Readonly<Record<string, unknown>>;
        readonly code: string | null;
        readonly result: string;
      }[];
    }[];
  }[];
}

const HOST = Symbol.for('tempoclaw.eval');

export function provideHost(host: EvalHost): void {
  Object.assign(globalThis, { [HOST]: host });
}

/** @throws Error in a file that something else runs */
export function hostOfEval(): EvalHost {
  const host = (globalThis as { readonly [HOST]?: EvalHost })[HOST];
  if (!host) throw new Error('Run this file with: npx tempoclaw eval');
  return host;
}
