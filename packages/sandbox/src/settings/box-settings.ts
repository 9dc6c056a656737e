/** What a box is made of, and what stands around commands without one. */

/** The box of a command. Fields beyond these, such as whose it is, make another box. */
export interface BoxSettings {
  /** Where no container can be had, a `preferred` one falls back to bubblewrap, then to the host; a `required` one refuses. */
  readonly mode: 'preferred' | 'required';
  /** Somebody has set it, so that a fallback is worth a note. */
  readonly stated: boolean;
  readonly image: string;
  readonly network: boolean;
  /** How the workspace is seen at MOUNT. */
  readonly workspace: 'rw' | 'ro' | 'none';
  readonly memoryBytes: number;
  readonly cpus: number;
  readonly pids: number;
  /** gVisor's; absent: the engine's usual one. */
  readonly runtime?: 'runsc' | undefined;
}

/** Where a box shows the workspace. */
export const MOUNT = '/workspace';

/**
 * What stands between commands on the host and the program that runs them. `files`: its secret files and the environment of
 * others; `files and network`: its ports too, and all that would run something outside for whoever asks.
 */
export type Wall = 'none' | 'files' | 'files and network';

/**
 * Whose programs commands find: this machine's, those of its system's folders (bubblewrap shows no others), or those of
 * an image, of which this machine knows nothing. On the `open_host` nothing stands between a command and the program that runs it.
 */
export type CommandPlace = 'host' | 'open_host' | 'system' | 'image';
