/** Judges each line of its input as a command: `printf 'ls -la\n' | node examples/judge-lines.ts`. */
import { createInterface } from 'node:readline';
import { judgeCommand, type ShellRules } from '@tempoclaw/shell-judge';

const rules: ShellRules = {
  security: 'full',
  ask: 'on-miss',
  allowlist: [],
  categoriesOff: [],
  deniedPaths: ['.env'],
};

const commands: string[] = [];
for await (const line of createInterface({ input: process.stdin })) if (line !== '') commands.push(line);

const width = Math.max(0, ...commands.map((command) => command.length));
for (const command of commands) {
  const { decision, reason } = judgeCommand(command, rules);
  console.log(`${decision.padEnd(5)}  ${command.padEnd(width)}  ${reason}`);
}
