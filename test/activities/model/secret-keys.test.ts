import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createModels } from '#activities/model/model-catalog.ts';
import { ModelError } from '#domain/model/model.ts';
import { SecretProblem } from '#domain/secret.ts';
import { ask } from './ask.ts';
import { startProvider } from './provider-server.ts';

let server: Awaited<ReturnType<typeof startProvider>>;
before(async () => {
  server = await startProvider();
  server.mock.onMessage('greet', { content: 'Hello.' });
});
after(() => server.close());

const KEY = 'planted-provider-key-1';

for (const [name, header] of [
  ['anthropic', 'x-api-key'],
  ['openai', 'authorization'],
  ['google', 'x-goog-api-key'],
  ['local', 'authorization'],
] as const) {
  describe(`SC-2 ${name} with a key that is a secret`, () => {
    const modelsWith = (resolve: (text: string) => Promise<string>) =>
      createModels({ providers: { [name]: { apiKey: 'secret://key', baseUrl: server.url } } }, {}, resolve);

    test('the value is sent, as it is at the time of the call', async () => {
      let value = KEY;
      const models = modelsWith((text) => Promise.resolve(text.replace('secret://key', value)));
      await ask(models, `${name}/some-model`, 'greet');
      assert.ok(String(server.seen.at(-1)?.headers[header]).endsWith(KEY));
      value = 'changed-provider-key-2';
      await ask(models, `${name}/some-model`, 'greet');
      assert.ok(String(server.seen.at(-1)?.headers[header]).endsWith(value));
    });

    test('one that is not set fails the call with the setting’s name, and nothing is sent', async () => {
      const seen = server.seen.length;
      const models = modelsWith(() => Promise.reject(new SecretProblem('the secret "key" is not set')));
      await assert.rejects(ask(models, `${name}/some-model`, 'greet'), (error) => {
        assert.ok(error instanceof ModelError);
        assert.equal(error.code, 'Auth');
        assert.match(
          error.message,
          new RegExp(`models\\.providers\\.${name}\\.apiKey: the secret "key" is not set`),
        );
        return true;
      });
      assert.equal(server.seen.length, seen);
    });
  });
}
