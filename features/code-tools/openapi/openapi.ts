/** The operations of an OpenAPI document as tools. */
import { CODE_TOOLS, type CodeTool, type CodeTools } from '../sdk/tool.ts';
import { toolOf } from './operation-tool.ts';
import type { OpenapiOptions } from './options.ts';
import { readDocument } from './read-document.ts';
import { readOperations } from './read-operations.ts';

/**
 * `document` is the address or the path of an OpenAPI 3 or Swagger 2 document in JSON or YAML, or the document itself. It
 * is read when the tools are loaded. Its operations become tools that are named FILE_OPERATION: GET and HEAD only read, PUT
 * and DELETE may be repeated, and the others run once.
 */
export function openapi(document: string | URL | object, options: OpenapiOptions = {}): CodeTools {
  return {
    [CODE_TOOLS]: async () => {
      const read = await readDocument(document);
      const operations = readOperations(read.document, options.only);
      const tools = new Map<string, CodeTool>();
      for (const operation of operations) tools.set(operation.name, toolOf(operation, read, options));
      return { tools, source: read.text };
    },
  };
}
