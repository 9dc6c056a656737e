/** datetime: the current time in a time zone. */
import { z } from 'zod';
import { defineTool, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { toolError } from '#domain/tool.ts';

const input = z.object({
  timezone: textField(64, 'IANA time zone such as Europe/Berlin; UTC when left out').optional(),
});

export const tool = defineTool<z.infer<typeof input>, Pick<ToolDeps, 'now'>>({
  name: 'datetime',
  description: 'The current date and time, in UTC and in a time zone of your choice.',
  keywords:
    'clock now today day weekday month year hour calendar convert timezone city late hours utc date timestamp week weekend tomorrow yesterday old age holiday days until since how many monday tuesday wednesday thursday friday saturday sunday already',
  group: 'automation',
  common: true,
  replay: 'readonly',
  input,
  limits: { duration: 'short', instant: true, timeoutSeconds: 5 },
  summary: ({ timezone }) => timezone ?? 'UTC',
  run: async ({ now }, { timezone }) => {
    const zone = timezone === undefined || timezone.trim() === '' ? 'UTC' : timezone.trim();
    const at = new Date(now());
    const parts = partsIn(zone, at);
    if (parts === undefined)
      return toolError(
        'InvalidArgs',
        `unknown time zone "${zone}"; give an IANA name such as Europe/Berlin or UTC`,
      );
    const seconds = Math.floor(at.getTime() / 1000);
    return {
      ok: true,
      text: [
        `${parts.weekday}, ${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}:${parts.second} ${parts.timeZoneName} (${zone})`,
        `UTC: ${at.toISOString()}`,
        `Unix: ${seconds}`,
      ].join('\n'),
    };
  },
});

function partsIn(timeZone: string, at: Date): Record<string, string> | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'long',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
      timeZoneName: 'longOffset',
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
}
