/**
 * The contained thread without records of where each promise was created. They are for the `Call Stack` tab of Temporal's
 * web UI, which nobody opens in a test, and take a quarter of the thread's time.
 */
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';

Object.defineProperty(globalHandlers, 'setPromiseHook', { value: () => undefined });
await import('#workers/contained/contained-thread.ts');
