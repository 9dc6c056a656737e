/** Output of log lines: each is scrubbed first, because an error's text may contain anything (SC-3). */
import { writeSync } from 'node:fs';
import { createScrubber, type Scrubber } from './scrubber.ts';

export interface LogStream {
  /** One line of JSON, as pino writes it. */
  write(line: string): void;
  /** Sets the scrubber; the number of known values grows while a process starts. */
  hide(scrubber: () => Scrubber): void;
}

export interface LogOutput {
  write(line: string): unknown;
}

/**
 * Writes to a file's or pipe's descriptor, by default standard output. A line that cannot be written (a full disk, a
 * reader that is gone or far behind) is dropped, and the next successful one reports how many were. A log never ends a
 * process.
 */
export function openLogOutput(fd = 1): LogOutput {
  let dropped = 0;
  let isCut = false;
  return {
    write(line) {
      const lost = {
        level: 40,
        time: Date.now(),
        dropped,
        msg: 'log lines were dropped: no room to write them',
      };
      const before = `${isCut ? '\n' : ''}${dropped === 0 ? '' : `${JSON.stringify(lost)}\n`}`;
      const bytes = Buffer.from(before + line);
      let written = 0;
      try {
        while (written < bytes.length) written += writeSync(fd, bytes, written);
        dropped = 0;
        isCut = false;
      } catch {
        // The error cannot be logged, so only the count is.
        dropped += 1;
        isCut ||= written > 0;
      }
    },
  };
}

export function createLogStream(out: LogOutput): LogStream {
  const bare = createScrubber();
  let scrubber = (): Scrubber => bare;
  return {
    write: (line) => void out.write(scrubbedLine(line, scrubber())),
    hide(next) {
      scrubber = next;
    },
  };
}

/** The result is still one line of JSON: names and structure stay. */
function scrubbedLine(line: string, scrubber: Scrubber): string {
  try {
    return `${JSON.stringify(scrubber.args(JSON.parse(line) as Record<string, unknown>))}\n`;
  } catch {
    // Text that is not JSON is scrubbed as plain text.
    return scrubber.text(line);
  }
}
