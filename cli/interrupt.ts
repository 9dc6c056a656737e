/** Handles Ctrl-C: the first one stops what runs, the second one exits at once. */

export interface Interrupt {
  /** Acts as if Ctrl-C was pressed; for prompts, which read the key themselves. */
  fire(): void;
  fired(): boolean;
  off(): void;
}

export function interruptTwice(handlers: { first(): void; second(): void }): Interrupt {
  let count = 0;
  const fire = (): void => {
    count += 1;
    if (count === 1) handlers.first();
    else handlers.second();
  };
  process.on('SIGINT', fire);
  return { fire, fired: () => count > 0, off: () => void process.off('SIGINT', fire) };
}
