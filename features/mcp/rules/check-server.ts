/**
 * Checks the fields of an MCP server together: one way to reach it, a program that may be started, an address that may
 * be called.
 */
import { judgeUrl, type UrlRules } from '@tempoclaw/egress/rules';
import { argsProblem, commandProblem } from './judge-launch.ts';
import type { McpServerConfig } from './server.ts';

export interface ServerProblem {
  readonly field: 'transport' | 'command' | 'args' | 'url' | 'box';
  readonly message: string;
}

type Reached = Pick<McpServerConfig, 'transport' | 'command' | 'args' | 'url' | 'box'>;

/** Everything that is wrong, as far as it is known before a connection. */
export function serverProblems(server: Reached, rules: UrlRules): readonly ServerProblem[] {
  return server.transport === 'stdio' ? programProblems(server) : addressProblems(server, rules);
}

function programProblems({ command, args, url }: Reached): readonly ServerProblem[] {
  const problems: ServerProblem[] = [];
  if (url !== '') problems.push({ field: 'url', message: 'a stdio server has none' });
  const ofCommand = commandProblem(command);
  if (ofCommand !== undefined) problems.push({ field: 'command', message: ofCommand });
  const ofArgs = argsProblem(args, command);
  if (ofArgs !== undefined) problems.push({ field: 'args', message: ofArgs });
  return problems;
}

function addressProblems(
  { transport, command, args, url, box }: Reached,
  rules: UrlRules,
): readonly ServerProblem[] {
  if (command !== '' || args.length > 0)
    return [{ field: 'command', message: `a server over ${transport} has no command and no args` }];
  if (box) return [{ field: 'box', message: 'only a program has one; give a command in place of the url' }];
  if (url === '') return [{ field: 'url', message: 'say where the server is' }];
  const verdict = judgeUrl(url, rules);
  return verdict.decision === 'deny' ? [{ field: 'url', message: verdict.reason }] : [];
}
