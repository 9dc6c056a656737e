/** The whole of the console: the login until somebody is logged in, then the frame around the pages. */
import { login } from '../api/session.ts';
import { Busy } from '../components/notices.tsx';
import { LoginPage } from '../pages/login.tsx';
import { Shell } from './shell.tsx';
import { Toasts } from './toasts.tsx';

export function App() {
  return (
    <>
      <Content />
      <Toasts />
    </>
  );
}

function Content() {
  switch (login.value.state) {
    case 'loading':
      return <Busy />;
    case 'offline':
      return (
        <main class="notice">
          <h1>TempoClaw does not answer</h1>
          <p role="status">Trying again…</p>
        </main>
      );
    case 'out':
      return <LoginPage />;
    case 'in':
      return <Shell me={login.value.me} />;
  }
}
