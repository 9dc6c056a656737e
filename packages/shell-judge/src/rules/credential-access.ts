/** Exfiltration of secrets starts with reading the places where they are kept. A person may permit it. */
import { globMayMatch } from '../glob-may-match.ts';
import { pathWordsOf } from '../path-words.ts';
import { SHOWS_CERTIFICATE } from '../safe/inspectors.ts';
import { programOf, type ShellCommand } from '../shell-command.ts';
import { categoryOf, lineOf, normalPath } from './rule.ts';

/** Names of files and folders with secrets, as they occur in a path. */
const SECRET_NAMES = [
  'Login Data',
  ...(
    '.env .env.local .env.production .env.development .env.staging .envrc .netrc _netrc .npmrc .pypirc ' +
    '.pgpass .my.cnf .git-credentials .htpasswd .vault-token .ssh .gnupg .aws .azure .kube .docker ' +
    '.password-store .terraformrc id_rsa id_dsa id_ecdsa id_ed25519 shadow gshadow sudoers api-key ' +
    '.bash_history .zsh_history .psql_history key4.db keychain-db'
  ).split(' '),
];
const SECRET_PATH =
  /(?:^|[/=:@])(?:\.env(?:\.(?!example|sample|template|dist|defaults?|schema|test\b)[\w.-]+)?|\.envrc|[._]netrc|\.npmrc|\.pypirc|\.pgpass|\.my\.cnf|\.git-credentials|\.htpasswd|\.vault-token|\.(?:ssh|gnupg|aws|azure|kube|docker|password-store)(?:\/.*)?|id_(?:rsa|dsa|ecdsa|ed25519)|g?shadow-?|sudoers|credentials\.json|service-account[\w-]*\.json|api-key|master\.key|\.config\/(?:gcloud|gh|hub)(?:\/.*)?|\.\w+_history|[\w.-]+\.(?:pem|key|ppk|p12|pfx|keystore|jks|kdbx))$/i;

/** `openssl x509` prints the certificate of a file, and never a key that the file also has. */
function showsCertificate(command: ShellCommand): boolean {
  return programOf(command) === 'openssl' && SHOWS_CERTIFICATE.test(lineOf(command));
}

export const credentialAccess = categoryOf('credential_access', [
  {
    confirm: 'reads a place of secrets',
    path: SECRET_PATH,
    when: (command) => !showsCertificate(command),
  },
  {
    confirm: 'may read a place of secrets',
    when: (command) =>
      pathWordsOf(command).some(
        (word) =>
          word.isGlob &&
          normalPath(word)
            .split('/')
            .some((part) =>
              SECRET_NAMES.some(
                (name) => /[*?[]/.test(part) && !/^[*?]+$/.test(part) && globMayMatch(part, name),
              ),
            ),
      ),
  },
  {
    confirm: 'reads stored secrets',
    programs: 'security secret-tool pass op bw vault gpg keyctl lpass',
    when: (command) => command.words.length > 1,
  },
  {
    confirm: 'prints a login',
    programs: 'gh glab gcloud aws az kubectl oc heroku git doctl fly flyctl npm',
    line: /^(?:auth (?:token|print-access-token|print-identity-token|status.*-t)|credential (?:fill|get)|configure (?:get|export-credentials)|sts get-session-token|secrets? (?:get|list|versions)|config view --raw)/,
  },
]);
