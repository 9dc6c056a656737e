/** What the features declare about their rows. */
import { FEATURES } from '#features';
import { loadRowParts } from '#store/row-parts.ts';

export const ROWS = await loadRowParts(FEATURES);
