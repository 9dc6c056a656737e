/** F12, R9, SC-2, SC-4: what models read of an MCP server of 2025-11-25 over stdio, whatever it answers. */
import { testAnswers } from '#test/support/mcp-answers.ts';

testAnswers('stdio', '2025-11-25');
