/** F12, R9, SC-2, SC-4: what models read of an MCP server of 2025-11-25 over http, whatever it answers. */
import { testAnswers } from '#test/support/mcp-answers.ts';

testAnswers('http', '2025-11-25');
