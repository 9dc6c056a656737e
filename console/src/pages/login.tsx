/** Asks for an API key, which is exchanged for a session and kept nowhere. */
import { useSignal } from '@preact/signals';
import { problemText } from '../api/problem.ts';
import { logIn, login } from '../api/session.ts';

export function LoginPage() {
  const problem = useSignal(login.value.state === 'out' ? login.value.problem : undefined);
  const isBusy = useSignal(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const key = String(new FormData(form).get('key') ?? '').trim();
    isBusy.value = true;
    problem.value = await logIn({ key });
    isBusy.value = false;
    form.reset();
  };
  return (
    <main class="login">
      <h1>TempoClaw</h1>
      <form onSubmit={(event) => void submit(event)}>
        <label for="key">API key</label>
        <input
          id="key"
          name="key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          aria-describedby="login-problem"
        />
        <p id="login-problem" class="bad" role="alert">
          {problem.value && problemText(problem.value)}
        </p>
        <button type="submit" class="primary" disabled={isBusy.value}>
          Log in
        </button>
      </form>
      <p>
        Or open a link that works once. This command makes one where TempoClaw runs:
        <code class="block">npx tempoclaw open</code>
      </p>
    </main>
  );
}
