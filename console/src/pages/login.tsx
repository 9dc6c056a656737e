/** Asks for an API key, which is exchanged for a session and kept nowhere. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { problemText } from '../api/problem.ts';
import { send } from '../api/request.ts';
import { logIn, login } from '../api/session.ts';
import { Mark } from '../components/icon.tsx';

/** Identity providers, whose pages are not the console's. */
function OtherWays() {
  const ways = useSignal<readonly { readonly name: string; readonly path: string }[]>([]);
  const read = async (): Promise<void> => {
    const answer = await send('GET', 'console/logins');
    // Without an answer there is still the key.
    if (answer instanceof Response && answer.ok) ways.value = (await answer.json()).logins;
  };
  useEffect(() => void read(), []);
  return (
    <>
      {ways.value.map(({ name, path }) => (
        <p key={name}>
          <a href={path} data-native>
            Log in with {name}
          </a>
        </p>
      ))}
    </>
  );
}

export function LoginPage() {
  const problem = useSignal(login.value.state === 'out' ? login.value.problem : undefined);
  const isBusy = useSignal(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    isBusy.value = true;
    problem.value = await logIn({ key: String(new FormData(form).get('key') ?? '').trim() });
    isBusy.value = false;
    form.reset();
  };
  const about = { autocomplete: 'off', spellcheck: false, 'aria-describedby': 'login-problem' };
  return (
    <main class="login">
      <h1>
        <Mark /> TempoClaw
      </h1>
      <form onSubmit={(event) => void submit(event)}>
        <label for="key">API key</label>
        <input id="key" name="key" type="password" required {...about} />
        <p id="login-problem" class="bad" role="alert">
          {problem.value && problemText(problem.value)}
        </p>
        <button type="submit" class="primary" disabled={isBusy.value}>
          Log in
        </button>
      </form>
      <OtherWays />
      <p>
        Or open a link that works once. This command makes one where TempoClaw runs:
        <code class="block">npx tempoclaw open</code>
      </p>
    </main>
  );
}
