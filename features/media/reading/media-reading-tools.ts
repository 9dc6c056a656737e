/** What the tools that read media use: a file wherever it is, its text, and what models see and hear in it. */
import type { RunningCall } from '#policy/define-tool.ts';
import { createReadWithModels, type ReadWithModels, type ReadWithModelsDeps } from './read-with-models.ts';
import { type FilmParts, type FilmPartsDeps, extractVideoParts } from './video-parts.ts';
import { type MediaFile, openMedia, type OpenMediaDeps } from './open-media.ts';

export interface Media extends ReadWithModels {
  /**
   * Opens a file named `artifact:ID`, by an address of the web, or by a path of the workspace. @throws FileProblem,
   * EgressError
   */
  open(call: RunningCall, ref: string): Promise<MediaFile>;
  /** Its sound, and pictures of it at even intervals; undefined if the worker has no ffmpeg. @throws FileProblem */
  takeApart(call: RunningCall, film: MediaFile): Promise<FilmParts | undefined>;
}

export interface MediaTools {
  readonly media: Media;
}

export function createMediaReadingTools(
  deps: ReadWithModelsDeps & OpenMediaDeps & FilmPartsDeps,
): MediaTools {
  return {
    media: {
      ...createReadWithModels(deps),
      open: (call, ref) => openMedia(deps, call, ref),
      takeApart: (call, { bytes }) => extractVideoParts(deps, call, bytes),
    },
  };
}
