/**
 * The JSON Schema of a custom tool as the catalog uses schemas (CU-1). It is compiled once, when its first call is
 * read. Patterns always run in linear time (RE2), so that no schema can block a worker.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { z } from 'zod';
import type { Parameters } from '../rules/check-parameters.ts';
import { type Arguments, renderCommand } from '../rules/render.ts';
import type { Template } from '../rules/template.ts';

/** Characters of all texts among the arguments: more than a command line accepts (`renderCommand`). */
const MAX_CHARACTERS = 131_072;

function linearPattern(pattern: string): { test(text: string): boolean; toString(): string } {
  const compiled = RE2JS.compile(pattern);
  return { test: (text) => compiled.matcher(text).find(), toString: () => pattern };
}

const ajv = new Ajv2020({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  useDefaults: true,
  allErrors: true,
  // As in the draft, a format is a hint for readers.
  validateFormats: false,
  addUsedSchema: false,
  logger: false,
  // `code` is for generated files, and we make none.
  code: { regExp: Object.assign(linearPattern, { code: 'new RegExp' }) },
});

/** @throws Error in words for the author when the schema is invalid, such as a pattern that RE2 does not support. */
export function compileParameters(parameters: Parameters): ValidateFunction {
  // Ajv would keep each schema that it ever compiled.
  const schema = structuredClone(parameters);
  try {
    return ajv.compile(schema);
  } finally {
    ajv.removeSchema(schema);
  }
}

/** Parses into `input`: the arguments with defaults, from which `template` makes a command. */
export function argumentsSchema(parameters: Parameters, template: Template): z.ZodType {
  let validate: ValidateFunction | undefined;
  return z
    .unknown()
    .meta({ ...parameters })
    .transform((raw, context) => {
      if (JSON.stringify(raw).length > MAX_CHARACTERS) {
        context.addIssue({ code: 'custom', message: 'are too long for a command line' });
        return z.NEVER;
      }
      validate ??= compileParameters(parameters);
      const args = structuredClone(raw);
      if (validate(args)) {
        const rendered = renderCommand(template, parameters, args as Arguments);
        if (rendered.ok) return args;
        const { key, message } = rendered;
        context.addIssue({ code: 'custom', path: key === null ? [] : [key], message });
      } else for (const error of validate.errors ?? []) context.addIssue(issueOf(error));
      return z.NEVER;
    });
}

function issueOf(error: ErrorObject): { code: 'custom'; path: string[]; message: string } {
  const path = error.instancePath.split('/').slice(1);
  if (error.keyword === 'required')
    return {
      code: 'custom',
      path: [...path, String(error.params['missingProperty'])],
      message: 'is required',
    };
  const allowed: unknown = error.params['allowedValues'];
  const listed = Array.isArray(allowed) ? `: ${allowed.map(String).join(', ')}` : '';
  return { code: 'custom', path, message: `${error.message ?? 'is not valid'}${listed}`.slice(0, 300) };
}
