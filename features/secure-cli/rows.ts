/** What the core must know about the rows of secure CLIs. */
import type { RowPart } from '#store/row-parts.ts';
import { sealedPart } from './sealed.ts';

export const rowPart: RowPart = {
  sealedPart,
  sealedRows: [
    { table: 'secure_cli_binaries', place: `tenant_id || '/secure_cli_binaries/' || name` },
    {
      table: 'secure_cli_credentials',
      place: `tenant_id || '/secure_cli_credentials/' || name || '/' || user_id`,
    },
  ],
  ofUser: ({ own }) => ({
    before: [{ table: 'secure_cli_credentials', where: own, counted: 'secure_cli_credentials' }],
  }),
};
