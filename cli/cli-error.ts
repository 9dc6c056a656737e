/** How a command fails: what went wrong, what to do about it, and the exit code that tells programs. */

/** 0 done · 1 failed · 2 wrong usage · 130 interrupted by the person. */
export const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface CliErrorDetails {
  readonly remedy?: string;
  readonly exitCode?: ExitCode;
  /** A stable word for programs, such as the API's problem code. */
  readonly code?: string;
}

/** Printed as `message` with `remedy` below it; never with a stack, because it is no bug. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly remedy: string | undefined;
  readonly exitCode: ExitCode;
  readonly code: string;

  constructor(message: string, details: CliErrorDetails = {}) {
    super(message);
    this.remedy = details.remedy;
    this.exitCode = details.exitCode ?? EXIT.failed;
    this.code = details.code ?? 'Failed';
  }

  /** The fields that `--json` prints beside code and remedy. */
  forPrograms(): { readonly message: string } {
    return { message: this.message };
  }
}

export function usageError(message: string, remedy?: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: 'Usage', remedy: remedy || undefined });
}
