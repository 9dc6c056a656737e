/** Registers search attributes with any Temporal server; a workflow needs them before it sets them. */
import type { Connection } from '@temporalio/client';

/** Numbers of temporal.api.enums.v1.IndexedValueType; the SDK exports that enum only from CommonJS. */
const TYPE_NUMBERS = {
  Text: 1,
  Keyword: 2,
  Int: 3,
  Double: 4,
  Bool: 5,
  Datetime: 6,
  KeywordList: 7,
} as const;

/** Types by the names of the attributes. */
export type SearchAttributes = Readonly<Record<string, keyof typeof TYPE_NUMBERS>>;

/** Adds those that are missing and returns their names; is safe to repeat. */
export async function registerSearchAttributes(
  connection: Connection,
  namespace: string,
  attributes: SearchAttributes,
): Promise<readonly string[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(attributes).filter(([name]) => customAttributes?.[name] === undefined);
  if (missing.length === 0) return [];
  const searchAttributes = Object.fromEntries(missing.map(([name, type]) => [name, TYPE_NUMBERS[type]]));
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  return missing.map(([name]) => name);
}
