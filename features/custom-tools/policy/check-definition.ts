/**
 * Finds everything that is wrong with a custom tool before it is stored, so that each stored tool can be rendered and
 * compiled.
 */
import { type Parameters, parameterProblems } from '../rules/check-parameters.ts';
import { readTemplate } from '../rules/template.ts';
import { compileParameters } from './arguments-schema.ts';

export interface DefinitionProblem {
  readonly field: 'command' | 'parameters';
  readonly message: string;
}

export function definitionProblems(definition: {
  readonly command: string;
  readonly parameters: Parameters;
}): readonly DefinitionProblem[] {
  const { command, parameters } = definition;
  const unsupported = parameterProblems(parameters);
  if (unsupported.length > 0) return unsupported.map((message) => ({ field: 'parameters', message }));
  const read = readTemplate(command, parameters);
  const problems: DefinitionProblem[] = read.ok
    ? []
    : read.problems.map((message) => ({ field: 'command', message }));
  try {
    compileParameters(parameters);
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    problems.push({ field: 'parameters', message: `is no JSON Schema: ${words.slice(0, 500)}` });
  }
  return problems;
}
