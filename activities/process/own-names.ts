/** Names that identify what our commands start and create, and names of settings that readers of messages see. */
import { marksOf } from '@tempoclaw/sandbox';

/** Prefix of marks of processes, and of names and labels of containers. */
export const OWN_NAME = 'tempoclaw';
export const OWN_MARKS = marksOf(OWN_NAME);

/** How people build the image of sandboxes. */
export const MAKE_IMAGE = 'bash docker/sandbox/make-image';

/** The settings of limits for a sandbox with bubblewrap. */
export const BOX_BOUNDS = {
  processes: 'sandbox.pids',
  memory: 'sandbox.memory',
  disk: 'worker.commands.disk',
} as const;
