/** What the core must know of reversals: they go with their session, and with old calls. */
import { sql } from 'kysely';
import { isOlder } from '#store/old-rows.ts';
import { IMAGE_PLACE } from './before-images.ts';
import type { RowPart } from '#store/row-parts.ts';

const KEPT_DAYS = 365;
const IMAGES_KEPT_DAYS = 30;

export const rowPart: RowPart = {
  oldRows: [
    { table: 'undone_calls', isOld: isOlder('created_at', KEPT_DAYS) },
    { table: 'before_images', isOld: isOlder('created_at', IMAGES_KEPT_DAYS) },
  ],
  sealedRows: [{ table: 'before_images', place: IMAGE_PLACE }],
  ofSession: ({ own }) => [
    { table: 'undone_calls', where: sql`${own}` },
    { table: 'before_images', where: sql`${own}`, counted: 'file_versions' },
  ],
};
