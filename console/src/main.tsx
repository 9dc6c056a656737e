/** Starts the console. */
import { render } from 'preact';
import { startSession } from './api/session.ts';
import { App } from './app/app.tsx';
import { startRouter, takeLinkToken } from './app/router.ts';
import { startShortcuts } from './app/shortcuts.ts';
import { applyTheme } from './app/theme.ts';
import './styles/base.css';
import './styles/shell.css';
import './styles/pages.css';

applyTheme();
startRouter();
startShortcuts();
void startSession(takeLinkToken());
const root = document.getElementById('app');
if (root) render(<App />, root);
