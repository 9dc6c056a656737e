/** The core alone: no optional capability. `node --conditions=core` takes this list in place of index.ts. */
import type { Feature } from '#domain/feature.ts';

export const FEATURES: readonly Feature[] = [];
