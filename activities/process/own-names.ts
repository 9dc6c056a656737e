/** Names by which what commands start and make is known as ours, and those of settings that their readers see. */
import { marksOf } from '@tempoclaw/sandbox';

/** Stands before marks of processes, and names and labels of containers. */
export const OWN_NAME = 'tempoclaw';
export const OWN_MARKS = marksOf(OWN_NAME);

/** How the image of boxes is made, for people. */
export const MAKE_IMAGE = 'bash docker/sandbox/make-image';

/** Where the bounds of a box in bubblewrap are set. */
export const BOX_BOUNDS = {
  processes: 'sandbox.pids',
  memory: 'sandbox.memory',
  disk: 'worker.commands.disk',
} as const;
