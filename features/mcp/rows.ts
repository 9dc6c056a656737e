/** What the core must know about the rows of MCP servers. */
import { sql } from 'kysely';
import type { RowPart } from '#store/row-parts.ts';

export const rowPart: RowPart = {
  moved: {
    underWay: [
      {
        what: 'MCP servers that are being checked',
        table: 'mcp_servers',
        where: sql`checking_until > clock_timestamp()`,
      },
      {
        what: 'logins at MCP servers that are being refreshed',
        table: 'mcp_credentials',
        where: sql`refreshing_until > clock_timestamp()`,
      },
    ],
  },
  sealedRows: [
    { table: 'mcp_servers', place: `tenant_id || '/mcp_servers/' || id` },
    { table: 'mcp_credentials', place: `tenant_id || '/mcp_credentials/' || server_id || '/' || user_id` },
  ],
  ofUser: ({ tenant, user, own }) => ({
    before: [
      {
        table: 'mcp_grants',
        where: sql`tenant_id = ${tenant} and kind = 'user' and subject = ${user}`,
        counted: 'mcp_grants',
      },
      {
        table: 'mcp_access_requests',
        where: sql`tenant_id = ${tenant} and (requested_by = ${user} or (kind = 'user' and subject = ${user}))`,
      },
      { table: 'mcp_credentials', where: own, counted: 'mcp_credentials' },
      {
        change: sql`update mcp_servers set check_user = null where tenant_id = ${tenant} and check_user = ${user}`,
      },
    ],
  }),
};
