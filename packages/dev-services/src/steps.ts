/** Shows the steps of a start: spinners on a terminal, plain lines elsewhere, JSON lines for programs. */
import { Listr } from 'listr2';

/** One step; `run` reports details while it works and returns its result in a few words. */
export interface Step {
  readonly key: string;
  readonly title: string;
  readonly run: (detail: (text: string) => void) => Promise<string>;
}

export interface ProgressOptions {
  /**
   * Prints one JSON object a line on stdout:
   * `{"type":"step","step","state":"started|progress|done|failed","detail","ms"}`.
   */
  readonly json: boolean;
  readonly write: (line: string) => void;
}

/**
 * Runs the groups in order and the steps of a group at once. Throws the first failure, after its whole group has ended.
 */
export async function runSteps(
  groups: readonly (readonly Step[])[],
  options: ProgressOptions,
): Promise<void> {
  for (const group of groups) {
    const failures: unknown[] = [];
    const tasks = group.map((step) => ({
      title: step.title,
      task: async (_context: unknown, task: { title: string; output: string | NodeJS.WritableStream }) => {
        const began = performance.now();
        const report = (state: string, detail?: string): void => {
          if (!options.json) return;
          const ms = Math.round(performance.now() - began);
          options.write(
            JSON.stringify({ type: 'step', step: step.key, state, detail: detail || undefined, ms }),
          );
        };
        report('started');
        // A part that restarts long after its step still reports its progress, when its list is finished.
        let isOver = false;
        try {
          const result = await step.run((text) => {
            if (isOver) return;
            task.output = text;
            report('progress', text);
          });
          report('done', result);
          task.title = `${step.title}: ${result} (${((performance.now() - began) / 1_000).toFixed(1)} s)`;
        } catch (error) {
          const words = error instanceof Error ? error.message : String(error);
          report('failed', words);
          failures.push(error);
          // Listr shows the first line; the whole text follows once, at the end.
          throw new Error(`${step.title}: ${words.split('\n')[0]}`, { cause: error });
        } finally {
          isOver = true;
        }
      },
    }));
    await new Listr(tasks, {
      concurrent: true,
      exitOnError: false,
      registerSignalListeners: false,
      renderer: options.json ? 'silent' : 'default',
      fallbackRenderer: 'simple',
      // A terminal that reports no width would get one letter a line.
      fallbackRendererCondition: process.stdout.columns === 0,
    }).run();
    if (failures.length > 0) throw failures[0];
  }
}
