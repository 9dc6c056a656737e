/** The core alone: its tests load this in place of the list of features (scripts/test.ts). */
import type { Feature } from '#domain/feature.ts';

export const FEATURES: readonly Feature[] = [];
