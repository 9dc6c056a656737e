/** Implements `tempoclaw demo crash`, which demonstrates that turns are durable. */
import type { Command } from 'commander';
import { type ApiOptions, createContext } from '#cli/command-context.ts';
import { demoCrash } from '../crash.ts';

export function register(demo: Command): void {
  demo
    .command('crash')
    .description('kill the worker in the middle of a tool and watch the turn finish')
    .action(async (options: ApiOptions) => {
      process.exitCode = await demoCrash(createContext(options));
    });
}
