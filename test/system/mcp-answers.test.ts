/** F12, R9, SC-2, SC-4: what models read of MCP servers of each revision over each transport, whatever they answer. */
import { answersTests } from '#test/support/mcp-answers.ts';

answersTests('all');
