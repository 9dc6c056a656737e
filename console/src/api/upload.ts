/** Sends a file of the person's machine, which messages then name. */
import type { Operations } from './operations.ts';
import { OFFLINE, readProblem, type Result } from './problem.ts';
import { credentials } from './request.ts';

const NAME = 'POST /v1/artifacts';

export type UploadedFile = Operations[typeof NAME]['answer'];

/** Resolves with the artifact or the problem, and never rejects. */
export async function uploadFile(file: File): Promise<Result<UploadedFile>> {
  const query = new URLSearchParams({ filename: file.name });
  try {
    const response = await fetch(new URL(`v1/artifacts?${query}`, document.baseURI), {
      method: 'POST',
      credentials: 'same-origin',
      headers: {
        accept: 'application/json',
        'content-type': file.type || 'application/octet-stream',
        'x-csrf-token': credentials.csrf,
      },
      body: file,
    });
    if (response.ok) return { ok: true, data: (await response.json()) as UploadedFile };
    return { ok: false, problem: await readProblem(response) };
  } catch {
    return { ok: false, problem: OFFLINE };
  }
}
