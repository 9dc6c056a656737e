/** Trying other rules on the calls of the last days (PO-4). Its command does more at the terminal: commands/policy.ts. */
import { defineResource, operation } from '#domain/resource/define-resource.ts';
import { backtestReportSchema, backtestSchema } from '../schema/backtest.ts';

const path = '/v1/policy';

export const backtests = defineResource(
  {
    path,
    tag: 'policy',
    item: backtestReportSchema,
    key: 'id',
    isDefinition: true,
    missing: 'There is no policy',
  },
  () => ({
    backtestPolicy: operation({
      method: 'POST',
      path: `${path}/backtest`,
      scope: 'admin',
      repeatable: true,
      summary: 'Try rules on the calls of the last days',
      description:
        'How many would be allowed, asked about and denied, and which would not be judged as they were. Nothing is run. The newest 20,000 calls are looked at.',
      body: backtestSchema,
      answer: backtestReportSchema,
      command: {
        word: 'backtest',
        help: 'how the calls of the last days would be judged by other settings; nothing is run',
        flags: {
          config: [
            '--config <file>',
            'settings to try: tools and exec of a tempoclaw.yaml',
            { required: true },
          ],
          days: ['--days <n>', 'days to look back, 1 to 90', { bounds: [1, 90], default: 7 }],
          limit: ['--limit <n>', 'differing calls to show, 1 to 200', { bounds: [1, 200], default: 50 }],
          after: ['--after <cursor>', 'go on after the page whose next_cursor this is'],
        },
      },
    }),
  }),
);
