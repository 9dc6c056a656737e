/** The configured models as the API needs them. */
import { ModelError } from '#domain/model.ts';
import type { ModelDirectory } from './deps.ts';

/** `resolve` throws a ModelError for a model that there is not. */
export function createModelDirectory(models: {
  best(): string;
  resolve(ref: string): unknown;
}): ModelDirectory {
  return {
    best: () => models.best(),
    problem(ref) {
      try {
        models.resolve(ref);
        return undefined;
      } catch (error) {
        if (error instanceof ModelError) return error.message;
        throw error;
      }
    },
  };
}
