/** The rules for common programs, and which credentials each needs. */
import type { SecureCliRules } from './secure-cli.ts';
import type { CliEnvKind } from '../resource.ts';

export interface SecureCliPreset extends Omit<SecureCliRules, 'keyword_allowlist'> {
  readonly env: readonly { readonly name: string; readonly kind: CliEnvKind; readonly optional?: true }[];
}

/** The words in this order, whatever options are between them. */
function words(...of: readonly string[]): string {
  return `(^|\\s)${of.join('\\s(.*\\s)?')}(\\s|$)`;
}

export const SECURE_CLI_PRESETS: Readonly<Record<string, SecureCliPreset>> = {
  gh: {
    env: [{ name: 'GH_TOKEN', kind: 'sensitive' }],
    deny_args: [words('auth'), words('ssh-key'), words('gpg-key'), words('repo', 'delete'), words('secret')],
    deny_verbose: ['^--verbose(=.*)?$', '^-v+$'],
    timeout_seconds: 30,
    tips: 'Use --json FIELDS with --jq EXPRESSION to get just what you need; gh api reaches everything else.',
  },
  gcloud: {
    env: [{ name: 'GOOGLE_APPLICATION_CREDENTIALS', kind: 'file' }],
    deny_args: [
      words('iam'),
      words('auth'),
      words('projects', 'delete'),
      words('services', 'disable'),
      words('kms'),
    ],
    deny_verbose: ['^--verbosity[= ]debug$', '^--log-http(=.*)?$'],
    timeout_seconds: 120,
    tips: 'Use --format=json and --quiet; name the project with --project.',
  },
  aws: {
    env: [
      { name: 'AWS_ACCESS_KEY_ID', kind: 'sensitive' },
      { name: 'AWS_SECRET_ACCESS_KEY', kind: 'sensitive' },
      { name: 'AWS_DEFAULT_REGION', kind: 'value', optional: true },
    ],
    deny_args: [
      words('iam'),
      words('organizations'),
      words('sts', 'assume[a-z-]*'),
      words('ec2', 'terminate[a-z-]*'),
    ],
    deny_verbose: ['^--debug(=.*)?$'],
    timeout_seconds: 60,
    tips: 'Use --output json with --query; add --no-cli-pager to commands with long output.',
  },
  kubectl: {
    env: [{ name: 'KUBECONFIG', kind: 'file' }],
    deny_args: [
      // Types are read in any letter case.
      words('delete', '(\\S*,)?(?i:namespace|namespaces|ns)([,/.]\\S*)?'),
      words('delete', '(\\S*,)?(?i:node|nodes|no)([,/.]\\S*)?'),
      words('drain'),
      words('cordon'),
    ],
    deny_verbose: [],
    timeout_seconds: 60,
    tips: 'Use -o json or -o wide; name the namespace with -n.',
  },
  terraform: {
    env: [{ name: 'TF_TOKEN_app_terraform_io', kind: 'sensitive', optional: true }],
    deny_args: [words('destroy'), '(^|\\s)--?destroy(=\\S*)?(\\s|$)', words('force-unlock')],
    deny_verbose: [],
    timeout_seconds: 300,
    tips: 'Use -input=false and -no-color; look at a plan before you apply it.',
  },
};
