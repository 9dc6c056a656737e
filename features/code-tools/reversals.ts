/** The point at which a feature decides which calls may reverse others (DU-9). */

export interface Reversals {
  /** Whether `by`, a call that runs now, is the one that may reverse `call`. */
  mayReverse(tenant: string, call: string, by: string): Promise<boolean>;
}

declare module '#domain/feature.ts' {
  interface FeaturePoints {
    readonly reversals: Reversals;
  }
}
