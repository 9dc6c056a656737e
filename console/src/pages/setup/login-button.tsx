/** Begins the login of a user at an MCP server. The button becomes a link, which no browser blocks. */
import { useSignal } from '@preact/signals';
import { NewTab } from '../../components/page-frame.tsx';
import { ActButton } from './act-button.tsx';

export function LoginButton({ label, address }: { readonly label: string; readonly address: string }) {
  const login = useSignal('');
  // The server names the address: one that is no web address is no link.
  if (/^https?:/.test(login.value))
    return <NewTab href={login.value}>Log in at {new URL(login.value).host}</NewTab>;
  return (
    <ActButton
      label={label}
      scope="run"
      address={`${address}/oauth/start`}
      onDone={({ authorization_url: url }) => (login.value = String(url))}
    />
  );
}
