/** The point at which a feature runs hooks of type `code`: functions of a program outside. */

export interface HostedHook {
  readonly tenant: string;
  /** `HOST/NAME`. */
  readonly code: string;
  /** What other hooks get as JSON. */
  readonly event: object;
  /** How long it may take. */
  readonly seconds: number;
  readonly signal: AbortSignal;
}

export interface HookHost {
  /**
   * Resolves with the answer as JSON, which may be empty. A repeat runs the hook again. @throws Error, with a message for
   * people, when the hook cannot be run or fails; the reason of the signal
   */
  answer(hook: HostedHook): Promise<string>;
}

declare module '#domain/feature.ts' {
  interface FeaturePoints {
    readonly hookHost: HookHost;
  }
}
