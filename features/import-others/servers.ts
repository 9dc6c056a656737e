/** MCP servers of other systems. The values of their variables and headers become references to secrets. */
import type { Fields } from '#domain/outside-value.ts';
import { mcpServerCreateSchema } from '#features/mcp/index.ts';
import { type Findings, keep, referencesFor, remarkRest, toName } from './findings.ts';

/** `usual` are fields that the other system has by default, other than we. */
export function addServer(findings: Findings, name: string, server: Fields, usual: Fields = {}): void {
  const what = `mcp server ${name}`;
  const { name: _name, display_name: _label, env, headers, settings, api_key, transport, ...rest } = server;
  const { command, args, url, enabled, tool_prefix, timeout_sec, internal_only, ...more } = rest;
  if (hasCredential(String(url ?? ''))) {
    findings.remarks.push({
      what,
      why: 'its address holds a credential; add it with a header that refers to a secret',
    });
    return;
  }
  const ours = toName(name);
  const fields = {
    command,
    args,
    url,
    enabled,
    tool_prefix,
    internal_only,
    transport,
    timeout_sec: timeout_sec || undefined,
  };
  const value = {
    name: ours,
    ...usual,
    ...Object.fromEntries(
      Object.entries(fields).filter(([, one]) => one !== undefined && one !== null && one !== ''),
    ),
    env: referencesFor(env, 'mcp', ours),
    headers: referencesFor(headers, 'mcp', ours),
  };
  if (!keep(findings, findings.servers, what, mcpServerCreateSchema, value)) return;
  const isKept = { settings, ...(api_key ? { api_key: true } : {}), ...more };
  remarkRest(findings, what, isKept, { api_key: 'set it as a header that refers to a secret' });
}

function hasCredential(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && (parsed.username !== '' || parsed.password !== '' || parsed.search !== '');
}
