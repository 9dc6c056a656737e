/** Provides links in the API to routes of other features. */
import type { ApiPart } from '#domain/feature.ts';
import { makeOwnLink } from './own-link.ts';

export function createApiPart(): ApiPart {
  return { deps: { makeOwnLink } };
}
