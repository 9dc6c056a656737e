/**
 * F12, R9, SC-2, SC-4: what models read of an MCP server, whatever it answers. Each answer comes from a server of one
 * revision over one transport, in turn; test/system/mcp-answers.test.ts takes each from all.
 */
import { answersTests } from '#test/support/mcp-answers.ts';

answersTests('in turn');
