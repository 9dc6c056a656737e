/** Resolves `tempoclaw` and its entries to this build, for files outside of it: their folder needs no installation. */
import { registerHooks } from 'node:module';

let isProvided = false;

export function provideExports(): void {
  if (isProvided) return;
  isProvided = true;
  registerHooks({
    resolve: (name, context, next) =>
      /^tempoclaw(?:\/|$)/.test(name)
        ? next(name, { ...context, parentURL: import.meta.url })
        : next(name, context),
  });
}
