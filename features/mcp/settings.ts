/** MC-4: servers of the tenant `default`, besides those that are added over HTTP. */
import { z } from 'zod';
import { defineSection } from '#config/section.ts';
import { secretHeaders } from '#config/secret-headers.ts';
import { effectiveEgress } from '#domain/policy/effective-egress.ts';
import { serverProblems } from './rules/check-server.ts';
import { splitServer } from './rules/server.ts';
import { mcpServersSettingsSchema } from './schema/mcp-server.ts';
const schema = z.strictObject({ servers: mcpServersSettingsSchema.prefault({}) }).prefault({});

declare module '#config/section.ts' {
  interface FeatureSettings {
    readonly mcp: z.output<typeof schema>;
  }
}

export const mcpSettings = defineSection({
  name: 'mcp',
  schema,
  problems({ servers }, { egress }) {
    const rules = effectiveEgress(egress, []);
    return Object.entries(servers).flatMap(([name, server]) =>
      serverProblems(splitServer(server).config, rules).map(
        ({ field, message }) => `mcp.servers.${name}.${field}: ${message}`,
      ),
    );
  },
  secrets: ({ servers }) => Object.values(servers).flatMap(({ headers }) => secretHeaders(headers)),
});
