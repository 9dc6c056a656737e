/**
 * Turns zod's issues into lines that a person can act on: where the value came from (flag, variable or
 * file:line:column), which key, what was wrong and what is allowed.
 */
import { z } from 'zod';
import { fieldOf } from '#domain/outside-value.ts';
import { issueWords } from '#domain/schema/problem-words.ts';
import { configSchema } from './schema.ts';

/** Keys of GoClaw and clawft, and what to write in their place (docs/other-names.md). */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  'tools.mcp_servers': 'mcp.servers, with the same fields',
  'tools.web_search': 'web.search; an endpoint of one’s own is web.search.json.url, with {query} in it',
  'tools.web_fetch': 'egress.policy, egress.allowedDomains and egress.blockedDomains',
  'tools.execApproval': 'exec.security, exec.ask and exec.allowlist',
  'tools.shellDenyGroups': 'exec.categories',
  'tools.scrub_credentials': 'nothing: what tools give is always scrubbed',
};

export type Locate = (path: readonly PropertyKey[], onKey: boolean) => string | undefined;

/** Makes one line for each issue; an unknown key gets the list of keys that are known there. */
export function explainIssues(issues: readonly z.core.$ZodIssue[], locate: Locate): string[] {
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => {
        const path = [...issue.path, key];
        const allowed = keysAt(issue.path);
        const known = allowed.length === 0 ? '' : `; allowed here: ${allowed.join(', ')}`;
        const ours = fieldOf(OTHER_NAMES, path.join('.'));
        return line(locate(path, true), path, `unknown key${ours ? `; write ${ours}` : known}`);
      });
    }
    if (issue.code === 'invalid_key') {
      return [line(locate(issue.path, true), issue.path, issueWords(issue))];
    }
    return [line(locate(issue.path, false), issue.path, issue.message)];
  });
}

function line(where: string | undefined, path: readonly PropertyKey[], what: string): string {
  const key = path.map(String).join('.');
  return where === undefined ? `${key}: ${what}` : `${where}: ${key}: ${what}`;
}

function keysAt(path: readonly PropertyKey[]): string[] {
  let node: unknown = configSchema;
  for (const part of path) {
    node = unwrap(node);
    if (node instanceof z.ZodObject) node = node.shape[String(part)];
    else if (node instanceof z.ZodRecord) node = node.valueType;
    else return [];
  }
  node = unwrap(node);
  return node instanceof z.ZodObject ? Object.keys(node.shape) : [];
}

function unwrap(node: unknown): unknown {
  let inner = node;
  // A section with other systems' names is converted before it is checked.
  while (
    inner instanceof z.ZodPipe ||
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodPrefault ||
    inner instanceof z.ZodExactOptional ||
    inner instanceof z.ZodOptional
  ) {
    inner = inner instanceof z.ZodPipe ? inner.out : inner.unwrap();
  }
  return inner;
}
