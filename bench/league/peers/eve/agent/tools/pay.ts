import { defineTool } from 'eve/tools';
import { z } from 'zod';
import { PAY, pay } from '../../../served.ts';

export default defineTool({
  description: PAY.description,
  inputSchema: z.object({ id: z.string() }),
  execute: ({ id }) => pay(id),
});
