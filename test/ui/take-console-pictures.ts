/**
 * Takes the pictures of the console's pages again, wide and on a phone, light and dark, from a program that really runs:
 * `npx node test/ui/take-console-pictures.ts`, or with a page's name only its. Check them before you commit them.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { type Clone, cloneRepository, type Program } from '#test/start/program.ts';
import { findChromium, sees, startBrowser } from './browser.ts';

const IMAGES = fileURLToPath(new URL('../../docs/images/console/', import.meta.url));
const SIZES = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const SCHEMES = ['light', 'dark'] as const;
/** Fonts, charts and lists need time to settle. */
const SETTLE_MS = 1_200;

interface Shown {
  readonly name: string;
  readonly path: string;
  /** What the page shows when it is whole. */
  readonly pattern: RegExp;
}

async function main(): Promise<void> {
  const path = findChromium();
  if (path === undefined) throw new Error('there is no chromium on PATH');
  mkdirSync(IMAGES, { recursive: true });
  const clone = await cloneRepository();
  const browser = await startBrowser(path);
  try {
    const program = await clone.start();
    const pages = await workFor(clone, program);
    const only = process.argv[2];
    const expected = pages.filter(({ name }) => only === undefined || only === name);
    const kinds = Object.entries(SIZES).flatMap(([size, viewport]) =>
      SCHEMES.map((colorScheme) => ({ kind: `${size}-${colorScheme}`, viewport, colorScheme })),
    );
    for (const { kind, ...options } of kinds) {
      const page = await logIn(browser, program, options);
      for (const shown of expected) await take(page, shown, kind);
      await page.context().close();
    }
  } finally {
    await browser.close();
    await clone.remove();
  }
}

async function logIn(browser: Browser, program: Program, options: object): Promise<Page> {
  const page = await browser.newPage({ ...options, locale: 'en-US', reducedMotion: 'reduce' });
  const { body } = await program.ask('POST', '/v1/console/links', {});
  await page.goto(body.url);
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  return page;
}

async function take(page: Page, { name, path, pattern }: Shown, kind: string): Promise<void> {
  await page.goto(new URL(`/${path}`, page.url()).href);
  await sees(page, pattern);
  await page.waitForTimeout(SETTLE_MS);
  await page.screenshot({ path: join(IMAGES, `${name}-${kind}.png`) });
}

/** Lets agents work, and returns the pages that show it. */
async function workFor(clone: Clone, program: Program): Promise<readonly Shown[]> {
  const ask = async (method: string, path: string, body?: unknown) =>
    (await program.ask(method, path, body)).body;
  const model = 'rehearsal/follow';
  await ask('POST', '/v1/agents', { key: 'clerk', name: 'Clerk', model, tools: { ask: [{ tool: 'exec' }] } });
  await ask('POST', '/v1/agents', { key: 'notes', name: 'Notes', model });
  await ask('POST', '/v1/budgets', { scope: 'tenant', calls: 400, period: 'day' });
  await ask('POST', '/v1/schedules', {
    name: 'morning-report',
    agent: 'notes',
    schedule: { kind: 'cron', expr: '0 9 * * 1-5', tz: 'Europe/Berlin' },
    message: 'Write the report.',
  });
  const say = (session: string, agent: string, text: string) =>
    ask('POST', `/v1/sessions/${session}/messages?wait=60`, { agent, text });
  await startTeam(clone, ask);
  await say(
    'shop',
    'notes',
    [
      'write_file {"path":"orders.csv","content":"day,orders\\nMonday,12\\nTuesday,19\\nWednesday,7\\n"}',
      'read_file {"path":"orders.csv"}',
      'spawn {"task":"read_file {\\"path\\":\\"orders.csv\\"}\\nthen\\nTuesday was the best day.","label":"best day","mode":"sync"}',
      '**Tuesday** was the best day: 19 orders. The file `orders.csv` has all of them.',
    ].join('\nthen\n'),
  );
  const first = await say('shop', 'notes', 'read_file {"path":"orders.csv"}\nthen\nThree days are in it.');
  const second = await say(
    'shop',
    'notes',
    'read_file {"path":"orders.csv"}\nthen\nWednesday was the worst.',
  );
  const canvas = '<h1>Orders</h1><p>Monday 12, <b>Tuesday 19</b>, Wednesday 7</p>';
  await say(
    'shop-canvas',
    'notes',
    `canvas ${JSON.stringify({ action: 'show', html: canvas })}\nthen\nIt is beside this.`,
  );
  for (const [session, command] of [
    ['deploy', 'git push origin main && curl -fsS https://shop.example/health'],
    ['cleanup', 'npm publish --access public'],
  ] as const)
    await say(session, 'clerk', `exec ${JSON.stringify({ command })}`);
  const { data: turns } = await ask('GET', '/v1/sessions/shop/turns');
  const whole = turns.at(-1);
  return [
    { name: 'inbox', path: 'inbox', pattern: /[1-9] waiting/ },
    { name: 'sessions', path: 'sessions', pattern: /deploy/ },
    { name: 'session', path: 'sessions/shop', pattern: /best day/ },
    { name: 'canvas', path: 'sessions/shop-canvas', pattern: /beside this/ },
    { name: 'graph', path: 'sessions/shop/graph', pattern: /best day/ },
    { name: 'run', path: `runs/${whole.id}?step=2`, pattern: /read_file/ },
    { name: 'compare', path: `runs/${first.turn_id}/compare/${second.turn_id}`, pattern: /differ/ },
    { name: 'costs', path: 'costs', pattern: /of 400 calls/ },
    { name: 'team', path: 'teams/report', pattern: /report/ },
    { name: 'agents', path: 'setup/agents', pattern: /clerk/ },
    { name: 'agent', path: 'setup/agents/clerk', pattern: /explain|Explain/ },
    { name: 'policy', path: 'setup/policy', pattern: /[Bb]acktest|Try/ },
    { name: 'schedules', path: 'setup/schedules', pattern: /morning-report/ },
    { name: 'health', path: 'health', pattern: /prune_rows/ },
  ];
}

type Ask = (method: string, path: string, body?: unknown) => Promise<any>;

/** The worked example of the documentation. */
async function startTeam(clone: Clone, ask: Ask): Promise<void> {
  const example = join(clone.folder, 'examples/report-team');
  const scripts = join(clone.folder, '.tempoclaw/rehearsal');
  mkdirSync(scripts, { recursive: true });
  copyFileSync(join(example, 'report-team.yaml'), join(scripts, 'report-team.yaml'));
  for (const name of readdirSync(join(example, 'agents')))
    await ask('POST', '/v1/agents', JSON.parse(readFileSync(join(example, 'agents', name), 'utf8')));
  await ask('POST', '/v1/teams', {
    key: 'report',
    lead: 'lead',
    members: ['researcher', 'writer', 'reviewer'],
  });
  await ask('POST', '/v1/sessions/tea/messages?wait=60', {
    agent: 'lead',
    text: 'Write a report about tea.',
  });
}

await main();
