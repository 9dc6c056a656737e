/** canvas: a page of HTML that people see beside the conversation. It is `idempotent`: a call changes the page once. */
import type { Browsers } from '#features/browser/index.ts';
import { z } from 'zod';
import type { Canvases, CanvasLook } from '../canvases.ts';
import { type Canvas, CANVAS_LIMITS, type CanvasStep } from '../contract.ts';
import { type ToolFailure, type ToolResult, toolError } from '#domain/tool.ts';
import { defineTool, type RunningCall } from '#policy/define-tool.ts';

const input = z.object({
  action: z
    .enum(['show', 'update', 'eval', 'snapshot'])
    .describe(
      'show: a whole page in place of what is there; update: new HTML within one element; eval: run a script in the page; snapshot: see it as an image',
    ),
  html: z
    .string()
    .max(CANVAS_LIMITS.html)
    .optional()
    .describe(
      'show: the page, with its scripts and styles in it, since it reaches nothing outside; update: what is within the element',
    ),
  selector: z.string().min(1).max(500).optional().describe('update: a CSS selector of the element'),
  script: z
    .string()
    .min(1)
    .max(CANVAS_LIMITS.change)
    .optional()
    .describe('eval: JavaScript; its last value is given back as JSON'),
});

type Input = z.infer<typeof input>;
interface Needs {
  readonly canvases: Canvases;
  /** Absent in an installation without browsers, where an agent cannot view the page. */
  readonly browsers?: Browsers;
}

export const tool = defineTool<Input, Needs>({
  name: 'canvas',
  description:
    'Show people a page of HTML beside the conversation: a chart, a form, a picture. In the page sendToAgent(data) sends you a message. It reaches no network.',
  keywords:
    'display draw diagram graph plot dashboard ui interface widget visual visualize show user look numbers bar pie line form button survey game preview mockup web app table interactive slide present results visually page html',
  group: 'ui',
  replay: 'idempotent',
  input,
  onlyReads: ({ action }) => action === 'snapshot',
  limits: { duration: 'long', timeoutSeconds: 60 },
  summary: ({ action, selector }) => (selector === undefined ? action : `${action} ${selector}`),
  serial: true,
  // The canvas uses the session's Chromium.
  elsewhere: async ({ browsers }, call) => browsers?.elsewhere(call),
  run: async (deps, args, call) => {
    if (args.action === 'snapshot') return look(deps, call);
    const step = stepOf(args);
    if ('ok' in step) return step;
    const changed = await deps.canvases.change(call, step);
    if (typeof changed === 'string') return toolError('InvalidArgs', changed);
    if (args.action !== 'eval')
      return { ok: true, text: `The canvas is at version ${changed.version}; ${seenWords(step)}` };
    const seen = await lookAt(deps, call, changed);
    return 'ok' in seen ? seen : { ok: true, text: seen.value };
  },
});

/** The page changes by its own scripts too, so only a browser knows whether the element is there. */
function seenWords(step: CanvasStep): string {
  const words = 'people who look at it see it';
  return step.do === 'update'
    ? `${words}, unless nothing there matches ${step.selector}. An eval tells.`
    : `${words}.`;
}

function stepOf({ action, html, selector, script }: Input): CanvasStep | ToolResult {
  const missing = (name: string): ToolResult =>
    toolError('InvalidArgs', `${name}: is required for ${action}`);
  if (action === 'eval') return script === undefined ? missing('script') : { do: 'eval', script };
  if (html === undefined) return missing('html');
  if (action === 'show') return { do: 'show', html };
  if (selector === undefined) return missing('selector');
  if (html.length > CANVAS_LIMITS.change)
    return toolError('InvalidArgs', `html: has more than ${CANVAS_LIMITS.change} characters`);
  return { do: 'update', selector, html };
}

async function look(deps: Needs, call: RunningCall): Promise<ToolResult> {
  const canvas = await deps.canvases.find(call);
  if (!canvas) return toolError('NotFound', 'nothing is shown yet; use action show first');
  const seen = await lookAt(deps, call, canvas);
  if ('ok' in seen) return seen;
  return { ok: true, text: `The canvas at version ${canvas.version}.`, images: [seen.image] };
}

function lookAt(
  { canvases, browsers }: Needs,
  call: RunningCall,
  canvas: Canvas,
): Promise<CanvasLook | ToolFailure> {
  if (browsers) return canvases.look(browsers, call, canvas);
  return Promise.resolve(
    toolError('NotFound', 'this installation has no browser to look at the page with; people see it'),
  );
}
