/**
 * Node's test runner follows every promise and callback of its process, to know which test an uncaught error belongs
 * to. That multiplies the cost of asynchronous code, and only the registration of tests needs it. A test process imports
 * this before `node:test`, and ends it when all of its tests are registered.
 */
import asyncHooks, { type AsyncHook, type HookCallbacks } from 'node:async_hooks';

const { createHook } = asyncHooks;
const hooks: AsyncHook[] = [];

Object.assign(asyncHooks, {
  createHook(callbacks: HookCallbacks): AsyncHook {
    const hook = createHook(callbacks);
    hooks.push(hook);
    return hook;
  },
});

/**
 * Does nothing when it is called again. An uncaught error still fails the process. It is printed here, because the runner
 * no longer knows its test.
 */
export function untrackPromises(): void {
  if (hooks.length === 0) return;
  for (const hook of hooks.splice(0)) hook.disable();
  for (const event of ['uncaughtException', 'unhandledRejection'])
    process.on(event, (error) => console.error(`${event}:`, error));
}
