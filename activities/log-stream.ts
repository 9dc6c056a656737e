/** Where log lines go out: each is scrubbed first, since an error's words may hold anything (SC-3). */
import { createScrubber, type Scrubber } from './scrubber.ts';

export interface LogStream {
  /** One line of JSON, as pino writes it. */
  write(line: string): void;
  /** Which values are known grows while a process starts. */
  hide(scrubber: () => Scrubber): void;
}

export function createLogStream(out: { write(line: string): unknown }): LogStream {
  const bare = createScrubber();
  let scrubber = (): Scrubber => bare;
  return {
    write: (line) => void out.write(scrubbedLine(line, scrubber())),
    hide(next) {
      scrubber = next;
    },
  };
}

/** Still one line of JSON: names and structure stay. */
function scrubbedLine(line: string, scrubber: Scrubber): string {
  try {
    return `${JSON.stringify(scrubber.args(JSON.parse(line) as Record<string, unknown>))}\n`;
  } catch {
    // Not JSON: scrubbed as the text that it is.
    return scrubber.text(line);
  }
}
