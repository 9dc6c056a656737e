/** Files between a page and the workspace: uploads, screenshots and documents, and downloads. */
import { constants } from 'node:fs';
import { lstat, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Download } from 'playwright-core';
import { withTimeout } from '#domain/async/with-timeout.ts';
import { toolError } from '#domain/tool.ts';
import { acted, type Done, element, type InTab, NAVIGATION_MS, needs, shortError, terms } from './in-tab.ts';
import { ignoring } from './open-browser.ts';
import { takePicture } from './take-picture.ts';

/** Largest file that is saved or uploaded to a page. */
const FILE_BYTES = 20 * 1024 * 1024;

export async function upload(place: InTab): Promise<Done> {
  const { tab, command, call, files } = place;
  if (command.files === undefined) return needs('files');
  const found = await element(place);
  if ('ok' in found) return found;
  const values = [];
  for (const path of command.files) {
    const buffer = await files.readBytes(call, path, FILE_BYTES);
    if (!buffer) return toolError('ExecutionFailed', `${path}: has more than ${FILE_BYTES} bytes`);
    values.push({ name: basename(path), mimeType: 'application/octet-stream', buffer });
  }
  await found.setInputFiles(values, terms(place));
  return acted(tab.page, `Gave ${values.length} files to ${command.ref}.`);
}

export async function screenshot(place: InTab): Promise<Done> {
  const { tab, command } = place;
  const found = command.ref === undefined ? undefined : await element(place);
  if (found && 'ok' in found) return found;
  const image = await takePicture(() =>
    found
      ? found.screenshot(terms(place))
      : tab.page.screenshot({ fullPage: command.full_page === true, ...terms(place, NAVIGATION_MS) }),
  );
  return { text: `Screenshot saved: ${await saved(place, image, 'screenshot', 'png')}`, image };
}

export async function pdf(place: InTab): Promise<Done> {
  const bytes = await place.tab.page.pdf({ printBackground: true });
  return { text: `PDF saved: ${await saved(place, bytes, 'page', 'pdf')}` };
}

async function saved(
  { command, call, files }: InTab,
  bytes: Buffer,
  name: string,
  end: string,
): Promise<string> {
  if (bytes.length > FILE_BYTES) throw new Error(`it has more than ${FILE_BYTES} bytes`);
  const path = command.path ?? `browser/${name}-${call.callId.slice(-8)}.${end}`;
  await files.change(call, path, true, () => bytes);
  return `${path} (${bytes.length} bytes)`;
}

/** Copies files that the page downloaded to the workspace; one line each. */
export async function keepDownloads({
  browser,
  call,
  files,
}: Pick<InTab, 'browser' | 'call' | 'files'>): Promise<string[]> {
  const lines: string[] = [];
  for (const [index, download] of browser.takeDownloads().entries())
    lines.push(await keepDownload(download, { call, files }, index));
  return lines;
}

async function keepDownload(
  download: Download,
  { call, files }: Pick<InTab, 'call' | 'files'>,
  index: number,
): Promise<string> {
  const name =
    download
      .suggestedFilename()
      .replace(/[^\p{L}\p{N}._-]+/gu, '_')
      .replace(/^\.+/, '')
      .slice(-100) || 'file';
  try {
    const from = await withTimeout(NAVIGATION_MS, download.path());
    if (from === undefined) throw new Error(`it took longer than ${NAVIGATION_MS / 1000} s`);
    if ((await lstat(from)).size > FILE_BYTES)
      return `${name} was not kept: it has more than ${FILE_BYTES} bytes`;
    // A box may have put a link there.
    const bytes = await readFile(from, { flag: constants.O_RDONLY | constants.O_NOFOLLOW });
    const path = `browser/${call.callId.slice(-8)}-${name}`;
    await files.change(
      { ...call, idempotencyKey: `${call.idempotencyKey}/${index}` },
      path,
      true,
      () => bytes,
    );
    return `Downloaded: ${path} (${bytes.length} bytes)`;
  } catch (error) {
    await ignoring(download.cancel());
    return `${name} was not downloaded: ${shortError(error)}`;
  } finally {
    await ignoring(download.delete());
  }
}
