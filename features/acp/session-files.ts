/** Files of prompts and answers, which the API keeps as artifacts. */
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { ApiError, type Client } from '#cli/client.ts';
import { pathOf } from '#cli/command-context.ts';
import type { SentFile } from '#api/sent-files.ts';
import { linkedArtifacts } from '#domain/files/linked-artifacts.ts';

/** Bytes of a file that the editor gets; of a larger one, it gets the address. */
const MAX_SHOWN = 1_048_576;
const TEXT = /^text\/|^application\/json$/;

/** The address of an artifact without its id. */
export function artifactsOf(client: Client): string {
  return `${client.target().url}/v1/artifacts/`;
}

/** Returns the ids of the artifacts. Safe to repeat. @throws ApiError for a file that the API refuses */
export async function uploadFiles(client: Client, files: readonly SentFile[]): Promise<readonly string[]> {
  const ids: string[] = [];
  // One after the other, because each may be large.
  for (const file of files) ids.push('artifact' in file ? file.artifact : await upload(client, file));
  return ids;
}

async function upload(
  client: Client,
  { bytes, type, name }: Exclude<SentFile, { readonly artifact: string }>,
): Promise<string> {
  const response = await client.raw('POST', pathOf('artifacts'), {
    query: { filename: name?.slice(-MAX_NAME) },
    headers: { 'content-type': type ?? 'application/octet-stream' },
    body: new Uint8Array(bytes),
  });
  const { id } = (await response.json()) as { readonly id: string };
  return id;
}

const MAX_NAME = 300;

/** The files that an answer links and the person may read. */
export async function answerFiles(client: Client, markdown: string): Promise<readonly ContentBlock[]> {
  const blocks: ContentBlock[] = [];
  for (const id of linkedArtifacts(markdown).ids) {
    const block = await fileBlock(client, id);
    if (block) blocks.push(block);
  }
  return blocks;
}

async function fileBlock(client: Client, id: string): Promise<ContentBlock | undefined> {
  const response = await client.raw('GET', pathOf('artifacts', id), {}).catch((error: unknown) => {
    // It is another user's, or is no longer there.
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  });
  if (!response) return undefined;
  const uri = `${artifactsOf(client)}${id}`;
  const size = Number(response.headers.get('content-length'));
  const mimeType = response.headers.get('content-type')?.split(';')[0] ?? 'application/octet-stream';
  const name = filenameOf(response) ?? id;
  if (!(size <= MAX_SHOWN)) {
    await response.body?.cancel();
    return { type: 'resource_link', name, uri, mimeType, size };
  }
  const bytes = Buffer.from(await response.arrayBuffer());
  const data = bytes.toString('base64');
  if (mimeType.startsWith('image/')) return { type: 'image', data, mimeType, uri };
  if (mimeType.startsWith('audio/')) return { type: 'audio', data, mimeType };
  const content = TEXT.test(mimeType) ? { text: bytes.toString() } : { blob: data };
  return { type: 'resource', resource: { uri, mimeType, ...content }, _meta: { filename: name } };
}

/** As the API writes it (RFC 8187). */
function filenameOf({ headers }: Response): string | undefined {
  const [, name] = /filename\*=UTF-8''([^;]+)/.exec(headers.get('content-disposition') ?? '') ?? [];
  return name && decodeURIComponent(name);
}
