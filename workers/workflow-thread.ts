/** A thread that runs workflows: the SDK's own, without a hook on every promise (see workflow-threads.ts). */
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';

// Unhooked, the SDK answers `__stack_trace` with an error that says so.
Object.defineProperty(globalHandlers, 'setPromiseHook', { value: () => undefined });
await import('@temporalio/worker/lib/workflow/workflow-worker-thread.js');
