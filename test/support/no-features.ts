/** The core on the build's engine: its tests load this in place of the list of features (scripts/test.ts). */
import type { Feature } from '#domain/feature.ts';
import { fastPath } from '#features/fast-path/feature.ts';
import { isPlainEngine } from './engine.ts';

export const FEATURES: readonly Feature[] = isPlainEngine() ? [] : [fastPath];

export const FEATURE_PROBLEMS: readonly string[] = [];
