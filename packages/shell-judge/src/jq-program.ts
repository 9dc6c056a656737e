/** Whether a program for jq or yq reads the environment. */
import { argumentsOf, type ShellCommand } from './shell-command.ts';

/** `env` as a function, not the field `.env` or the key `env:`. */
const READS_ENVIRONMENT = /\$ENV\b|(?:^|[\s|(,[{:;+])env(?![\w-]|\s*:)|strenv|envsubst/;
/** A word that can only be a file, or a variable without a secret: `env.json`. */
const FILE = /^[\w./@-]+\.(?:jsonl?|ndjson|ya?ml|toml|xml|csv|txt|log)$/;

/** Any word may be the program, because options may have values before it. */
export function jqReadsEnvironment(command: ShellCommand): boolean {
  return argumentsOf(command).some(({ value }) => !FILE.test(value) && READS_ENVIRONMENT.test(value));
}
