/** Keeps files that agents give to people. */
import { FileProblem, shown } from '#activities/workspace/file-problem.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { Failure } from '#domain/errors.ts';
import { type ArtifactPlaces, asAttachment, putArtifact } from './store.ts';

export function createKeepFile(places: ArtifactPlaces): NonNullable<ToolDeps['keepFile']> {
  return async ({ tenant, user, hasSecret }, { name: filename, type, bytes }) => {
    // Secrets are removed from words; a file is sent unchanged or not at all.
    if (!/^(?:image|audio|video)\//.test(type ?? '') && hasSecret(bytes.toString('latin1')))
      throw new FileProblem(
        'PermissionDenied',
        `${shown(filename ?? 'the file')} holds what no chat is told: a secret`,
      );
    try {
      return asAttachment(await putArtifact(places, tenant, { bytes, user, filename, type, hasSecret }));
    } catch (error) {
      if (!(error instanceof Failure) || error.type === 'Unavailable') throw error;
      throw new FileProblem('ExecutionFailed', `${shown(filename ?? 'the file')}: ${error.message}`);
    }
  };
}
