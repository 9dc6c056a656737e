import { setTimeout as sleep } from 'node:timers/promises';

/** What Chromium answers now and then, mostly while it draws anew; a moment later, the same request succeeds. */
const REFUSAL = 'Unable to capture screenshot';
const RETRY_MS = [100, 400, 1_500];

/** `capture` takes a picture. It changes nothing, so it runs again when Chromium refuses it. */
export async function takePicture<Picture>(capture: () => Promise<Picture>): Promise<Picture> {
  for (const wait of RETRY_MS) {
    try {
      return await capture();
    } catch (error) {
      if (!(error instanceof Error && error.message.includes(REFUSAL))) throw error;
      await sleep(wait);
    }
  }
  return capture();
}
