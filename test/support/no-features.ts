/** The core alone: what its tests find in place of the list of features (scripts/test.ts). */
import type { Feature } from '#domain/feature.ts';

export const FEATURES: readonly Feature[] = [];
