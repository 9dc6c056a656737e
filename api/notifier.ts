/** Lets one loop sleep until somebody rings. A ring while the loop is awake is not lost. */
export interface Bell {
  readonly ring: () => void;
  /** Returns immediately if it rang since the last wait. */
  wait(milliseconds: number): Promise<'rang' | 'silence'>;
}

export function createNotifier(): Bell {
  let rung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    async wait(milliseconds) {
      if (!rung)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, milliseconds);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      wake = undefined;
      const result = rung ? 'rang' : 'silence';
      rung = false;
      return result;
    },
  };
}
