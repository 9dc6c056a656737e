/** Prepares an image file for models. */
import { imageProblem, type PromptImage, readImage } from '#domain/model/image.ts';
import { FileProblem, shown } from '#activities/workspace/file-problem.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { MediaFile } from './open-media.ts';

/** @throws FileProblem when it is no image that models accept. */
export function seeImage(
  { hasSecret }: Pick<RunningCall, 'hasSecret'>,
  { bytes, ref }: Pick<MediaFile, 'bytes' | 'ref'>,
): PromptImage {
  const facts = readImage(bytes);
  const problem =
    imageProblem(facts, bytes.length) ??
    (hasSecret(bytes.toString('latin1')) ? 'its bytes hold a secret' : undefined);
  if (!facts || problem !== undefined)
    throw new FileProblem('ExecutionFailed', `${shown(ref)} cannot be shown to a model: ${problem}`);
  return { ...facts, bytes };
}
