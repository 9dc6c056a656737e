/** Channels of type `webhook`: signed calls of any system. */
import type { ChannelTypePart } from '#features/channels/index.ts';
import { beginWork } from './begin-work.ts';
import { webhookReader } from './reader.ts';
import { inboundWebhookSchema } from './schema.ts';
import { isStandardSecret } from './signatures.ts';

export const channelType: ChannelTypePart = {
  // The secret for the signature of each request.
  credentials: ['secret'],
  settings: ['allowed_tools', ...Object.keys(inboundWebhookSchema.shape)],
  schema: inboundWebhookSchema,
  problem(settings, { secret = '' }) {
    const { signature, action } = inboundWebhookSchema.parse(settings);
    if (signature === 'standard' && !isStandardSecret(secret))
      return {
        field: 'secret',
        message:
          'must be whsec_ and base64, by which Standard Webhooks sign; name another signature: github, stripe or hmac',
      };
    if (action === 'schedule' && settings.allowed_tools)
      return {
        field: 'allowed_tools',
        message: 'means nothing with the action schedule, whose run has its own',
      };
    return undefined;
  },
  reader: webhookReader,
  begin: beginWork,
};
