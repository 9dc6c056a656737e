/**
 * A filter for logs: `… | node examples/scrub-log.ts [VARIABLE …]` hides secrets, and the values of the named
 * environment variables.
 */
import { env } from 'node:process';
import { createScrubStream, registerValues } from '@tempoclaw/scrubber';

const values = process.argv.slice(2).flatMap((name) => env[name] ?? []);
const stream = createScrubStream(registerValues(values));

process.stdin.setEncoding('utf8');
for await (const piece of process.stdin) process.stdout.write(stream.push(String(piece)));
process.stdout.write(stream.end());
