/** The settings of a sandbox, and of the confinement of commands without one. */

/** The sandbox of a command. Further fields, such as the owner, make another sandbox. */
export interface BoxSettings {
  /** Without a container, `preferred` falls back to bubblewrap, then to the host; `required` refuses. */
  readonly mode: 'preferred' | 'required';
  /** It was set explicitly, so that a fallback is worth a note. */
  readonly stated: boolean;
  readonly image: string;
  readonly network: boolean;
  /** How the workspace appears at MOUNT. */
  readonly workspace: 'rw' | 'ro' | 'none';
  readonly memoryBytes: number;
  readonly cpus: number;
  readonly pids: number;
  /** gVisor's runtime; absent means the engine's default. */
  readonly runtime?: 'runsc' | undefined;
}

/** Where a sandbox shows the workspace. */
export const MOUNT = '/workspace';

/**
 * What separates commands on the host from the program that runs them. `files`: its secret files and the environment of
 * others. `files and network`: its ports too, and all services that would run something outside for any client.
 */
export type Wall = 'none' | 'files' | 'files and network';

/**
 * Whose programs commands find: this machine's, those of its system folders (bubblewrap shows no others), or those of
 * an image, about which this machine knows nothing. On the `open_host` nothing separates a command from the program
 * that runs it.
 */
export type CommandPlace = 'host' | 'open_host' | 'system' | 'image';
