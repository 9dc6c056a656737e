/** A test runs this in a process of its own: one command through exec, and how much the process grew by it. */
import { tool } from '#activities/tools/runtime/exec.ts';
import { toolBench } from './tool-call.ts';

const after: (() => unknown)[] = [];
const bench = await toolBench({ after: (hook: unknown) => void after.push(hook as () => unknown) } as never);
await bench.run(tool, { command: 'true' });
const before = process.memoryUsage().rss;
let max = before;
const timer = setInterval(() => {
  max = Math.max(max, process.memoryUsage().rss);
}, 5);
const result = await bench.run(tool, { command: process.argv[2] });
clearInterval(timer);
max = Math.max(max, process.memoryUsage().rss);
const shown = result.ok ? result.text : result.message;
console.log(JSON.stringify({ grown: max - before, bytes: shown.length, whole: result.whole?.length ?? 0 }));
for (const hook of after.toReversed()) await hook();
