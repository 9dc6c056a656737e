/** The input of the tool `browser`, in our names and in those of other systems. */
import { z } from 'zod';
import { toolError, type ToolFailure } from '#domain/tool.ts';

/** Actions on an open tab. */
export const TAB_ACTION_NAMES = [
  'navigate',
  'snapshot',
  'click',
  'type',
  'press',
  'select',
  'hover',
  'wait',
  'evaluate',
  'upload',
  'screenshot',
  'pdf',
  'console',
  'dialog',
] as const;

export const browserInput = z.object({
  action: z
    .enum([...TAB_ACTION_NAMES, 'open', 'close', 'tabs', 'status', 'stop', 'start', 'act'])
    .describe(
      'What to do. navigate or open (a new tab) first, then snapshot: it names elements by refs (e5), which click, type, press, select, hover, upload and screenshot take',
    ),
  url: z.string().max(8192).optional().describe('navigate, open: an http or https address'),
  ref: z
    .string()
    .regex(/^(?:f\d+)?e\d+$/, 'must be a ref of the newest snapshot, such as e5')
    .optional()
    .describe('The element, by the newest snapshot'),
  text: z
    .string()
    .max(100_000)
    .optional()
    .describe(
      'type: the text, in place of what is there; wait: until the page shows it; click: exactly these words, where they have no ref; dialog: the answer to a prompt',
    ),
  submit: z.boolean().optional().describe('type: press Enter afterwards'),
  slowly: z.boolean().optional().describe('type: key by key, after what is there'),
  key: z.string().max(50).optional().describe('press: Enter, Tab, ArrowDown, Control+a, or a character'),
  values: z
    .array(z.string().max(1000))
    .max(100)
    .optional()
    .describe('select: values or labels of the options'),
  files: z
    .array(z.string().min(1).max(4096))
    .max(10)
    .optional()
    .describe('upload: paths in the workspace, 20 MB each'),
  script: z
    .string()
    .max(50_000)
    .optional()
    .describe(
      'evaluate: JavaScript, an expression or a function (of the element, with ref); what it gives is returned as JSON',
    ),
  button: z.enum(['left', 'right', 'middle']).optional().describe('click: left unless given'),
  double: z.boolean().optional().describe('click: twice'),
  accept: z
    .boolean()
    .optional()
    .describe('dialog: true for OK, or to leave the page; false for Cancel, or to stay'),
  x: z
    .number()
    .min(0)
    .max(100_000)
    .optional()
    .describe('click: pixels from the left of the element, or of the window without ref'),
  y: z.number().min(0).max(100_000).optional().describe('click: pixels from the top'),
  seconds: z.number().min(0).max(30).optional().describe('wait: so long; 1 unless text or ref say for what'),
  full_page: z.boolean().optional().describe('screenshot: the whole page, not only what the window shows'),
  path: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe('screenshot, pdf: file in the workspace; one of its own unless given'),
  tab: z.string().max(20).optional().describe('Which tab, by tabs; the newest or last used one unless given'),
  max_chars: z
    .number()
    .int()
    .min(200)
    .max(50_000)
    .default(8000)
    .describe('Most characters of a snapshot, console or script'),
  depth: z.number().int().min(1).max(100).optional().describe('snapshot: levels of the tree'),
  timeout_ms: z
    .number()
    .int()
    .min(100)
    .max(30_000)
    .optional()
    .describe('How long to wait for the element or the page'),
  request: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('act: { kind: click, type, press, hover, wait or evaluate, ref, … }'),
});

export type BrowserCommand = z.infer<typeof browserInput>;

/** Converts `act` of other systems: it has one of our actions in `request`. */
export function canonical(input: BrowserCommand): BrowserCommand | ToolFailure {
  if (input.action !== 'act') return input;
  const { kind, fn, timeMs, doubleClick, targetId, ...rest } = input.request ?? {};
  const read = browserInput.safeParse({
    ...rest,
    action: kind,
    tab: targetId ?? input.tab,
    timeout_ms: input.timeout_ms,
    ...(fn === undefined ? {} : { script: fn }),
    ...(typeof timeMs === 'number' ? { seconds: timeMs / 1000 } : {}),
    ...(doubleClick === undefined ? {} : { double: doubleClick }),
  });
  if (read.success && read.data.action !== 'act') return read.data;
  const [problem] = read.error?.issues ?? [];
  return toolError(
    'InvalidArgs',
    `request: ${problem ? `${problem.path.join('.')}: ${problem.message}` : 'kind is missing'}`,
  );
}
