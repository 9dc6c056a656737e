/**
 * Takes the pictures of the documentation again, from a program that really runs: `npx node test/ui/take-pictures.ts`,
 * or with `turn`, `custom-tool` or `team` only those. Check them before you commit them.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { type Clone, cloneRepository, type Program } from '#test/start/program.ts';
import { findChromium, openPage, sees, startBrowser } from './browser.ts';
import { useCustomTool } from './use-custom-tool.ts';

const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url));
/** Wide enough that the run's facts are side by side. */
const SIZE = { width: 1440, height: 1000 };
/** The web UI's own navigation says nothing about us. */
const CLIP = { x: 264, y: 108, width: SIZE.width - 272, height: SIZE.height - 108 };

async function main(): Promise<void> {
  const path = findChromium();
  if (path === undefined) throw new Error('there is no chromium on PATH');
  const clone = await cloneRepository();
  const browser = await startBrowser(path);
  try {
    const program = await clone.start();
    const only = process.argv[2];
    const expected = (name: string): boolean => only === undefined || only === name;
    if (expected('turn')) await takeTurn(clone, program, browser);
    if (expected('custom-tool')) await takeCustomTool(program, browser);
    if (expected('team')) await takeTeam(clone, program, browser);
  } finally {
    await browser.close();
    await clone.remove();
  }
}

/** The tree of the worked example: the lead's turn, its tasks, and their members' turns. */
async function takeTeam(clone: Clone, program: Program, browser: Browser): Promise<void> {
  const example = join(clone.folder, 'examples/report-team');
  const scripts = join(clone.folder, '.tempoclaw/rehearsal');
  mkdirSync(scripts, { recursive: true });
  copyFileSync(join(example, 'report-team.yaml'), join(scripts, 'report-team.yaml'));
  for (const name of readdirSync(join(example, 'agents')))
    await program.ask('POST', '/v1/agents', JSON.parse(readFileSync(join(example, 'agents', name), 'utf8')));
  await program.ask('POST', '/v1/teams', {
    key: 'report',
    lead: 'lead',
    members: ['researcher', 'writer', 'reviewer'],
  });
  const { body: message } = await program.ask('POST', '/v1/sessions/tea/messages', {
    agent: 'lead',
    text: 'Write a report about tea.',
  });
  await until(async () => {
    const { body } = await program.ask('GET', '/v1/sessions/tea/messages');
    return body.data.some(({ text }: { text: string }) => text.includes('has been reviewed')) || undefined;
  });
  const page = await openPage(browser, SIZE);
  const { links } = (await program.ask('GET', `/v1/turns/${message.turn_id}`)).body;
  await page.goto(`${links.temporal}/relationships`);
  await sees(page, /task\/default\.report/);
  await page.getByText('Expand All').click();
  await sees(page, /session\/default\/team:report:3:reviewer/);
  await page.waitForTimeout(1_500);
  await page.screenshot({ path: join(IMAGES, 'team-tree.png'), clip: CLIP });
  await page.close();
}

async function takeTurn(clone: Clone, program: Program, browser: Browser): Promise<void> {
  const cli = (...args: string[]) => clone.command('npx', ['--no-install', 'tempoclaw', ...args]);
  const words = ['run', 'run a command', '--session', 'demo'];
  const turn = cli(...words);
  const approval = await until(
    async () => (await program.ask('GET', '/v1/approvals?status=pending')).body.data[0],
  );
  const link: string = (await program.ask('GET', '/v1/sessions/demo')).body.links.temporal;
  const page = await openPage(browser, SIZE);
  const take = takeFrom(page);
  await take('timeline-waiting.png', `${link}/timeline`, /exec: node/, 620);
  await take('user-metadata.png', `${link}/user-metadata`, /waits for a decision/, 560);
  await take('search-attributes.png', `${link}/search-attributes`, /TempoclawState/, 480);
  await page.goto(approval.links.temporal);
  await sees(page, /approval\/apr_/);
  await page.waitForURL(/timeline/);
  await take(
    'approval.png',
    `${page.url().replace(/\/timeline.*$/, '')}/user-metadata`,
    /Waits for a decision/,
    640,
  );

  const decided = await cli('approvals', 'approve', approval.id);
  const { stdout, stderr } = await turn;
  await take('turn.png', `${link}/timeline`, /call_model • step 2/, 680);
  await page.close();
  const terminal = [
    `$ npx tempoclaw ${words.map((word) => (/ /.test(word) ? `"${word}"` : word)).join(' ')}`,
    withoutNoise(stderr),
    withoutNoise(stdout),
    '',
    `$ npx tempoclaw approvals approve ${approval.id}        # in another terminal`,
    withoutNoise(decided.stdout + decided.stderr),
  ].join('\n');
  await takeTogether(browser, terminal, join(IMAGES, 'turn.png'));
  rmSync(join(IMAGES, 'turn.png'));
}

async function takeCustomTool(program: Program, browser: Browser): Promise<void> {
  const page = await openPage(browser, SIZE);
  const { link } = await useCustomTool(program);
  await takeFrom(page)('custom-tool.png', `${link}/timeline`, /count_lines •/, 700);
  await page.close();
}

function takeFrom(page: Page) {
  return async (name: string, url: string, pattern: RegExp, height: number): Promise<void> => {
    await page.goto(url);
    await sees(page, pattern);
    // Fonts and the moving timeline need time to settle.
    await page.waitForTimeout(1_500);
    const clip = { ...CLIP, height: Math.min(height, CLIP.height) };
    await page.screenshot({ path: join(IMAGES, name), clip });
  };
}

/** Combines the terminal's text above the web UI's picture. */
async function takeTogether(browser: Browser, terminal: string, picture: string): Promise<void> {
  const page = await openPage(browser, { width: CLIP.width, height: 600 });
  const escaped = terminal.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const image = readFileSync(picture).toString('base64');
  await page.setContent(
    `<style>body{margin:0;background:#fff}pre{margin:0;padding:16px 20px;background:#16181d;color:#e6e6e6;` +
      `font:13px/1.45 "DejaVu Sans Mono",monospace;white-space:pre-wrap}img{display:block;width:100%}</style>` +
      `<pre>${escaped}</pre><img src="data:image/png;base64,${image}">`,
  );
  await page.waitForTimeout(300);
  await page.screenshot({ path: join(IMAGES, 'running.png'), fullPage: true });
  await page.close();
}

function withoutNoise(text: string): string {
  return text
    .split('\n')
    .filter((line) => !line.startsWith('npm warn'))
    .join('\n')
    .trimEnd();
}

async function until<T>(probe: () => Promise<T | undefined>): Promise<T> {
  for (const end = performance.now() + 60_000; performance.now() < end; ) {
    const found = await probe();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('what is waited for did not come');
}

await main();
