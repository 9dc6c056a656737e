/** Refuses a schedule or a heartbeat, and names the field of the request. */
import { Failure } from '#domain/errors.ts';

export function refusedField(field: string, message: string): Failure {
  return new Failure('Unprocessable', `${field}: ${message}`, {
    errors: [{ pointer: `body/${field}`, message }],
  });
}

/** A problem of timingProblem begins with the field that it is about, unless it is about all of them. */
export function refusedTiming(problem: string): Failure {
  const [, field, message = problem] = /^(\w+): (.*)$/s.exec(problem) ?? [];
  const pointer = field === undefined ? 'body/schedule' : `body/schedule/${field}`;
  return new Failure('Unprocessable', problem, { errors: [{ pointer, message }] });
}
