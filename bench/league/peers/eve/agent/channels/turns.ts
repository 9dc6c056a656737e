/** A channel that takes turns and delivers their answers: https://eve.dev/docs/channels/custom. */
import { defineChannel, GET, POST } from 'eve/channels';
import { deliver } from '../../../served.ts';

export default defineChannel({
  routes: [
    GET('/ready', async () => new Response('ready')),
    POST('/turns', async (request, { from }) => {
      const { id, text } = (await request.json()) as { id: string; text: string };
      const session = await from(id).send(text, { auth: null });
      return Response.json({ session: session.id }, { status: 202 });
    }),
  ],
  events: {
    async 'message.completed'(event, channel) {
      if (event.finishReason === 'stop') await deliver(channel.continuation.token ?? '', event.message ?? '');
    },
  },
});
