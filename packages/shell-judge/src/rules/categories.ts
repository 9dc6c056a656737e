/** All deny categories, in the order in which they are reported. */
import { codeInjection } from './code-injection.ts';
import { containerEscape } from './container-escape.ts';
import { credentialAccess } from './credential-access.ts';
import { cryptoMining } from './crypto-mining.ts';
import { dangerousPaths } from './dangerous-paths.ts';
import { dataExfiltration } from './data-exfiltration.ts';
import { destructiveOps } from './destructive-ops.ts';
import { envDump } from './env-dump.ts';
import { envInjection } from './env-injection.ts';
import { filterBypass } from './filter-bypass.ts';
import { networkRecon } from './network-recon.ts';
import { packageInstall } from './package-install.ts';
import { persistence } from './persistence.ts';
import { privilegeEscalation } from './privilege-escalation.ts';
import { processControl } from './process-control.ts';
import { reverseShell } from './reverse-shell.ts';
import type { Category } from './rule.ts';

export const CATEGORIES: readonly Category[] = [
  destructiveOps,
  dataExfiltration,
  reverseShell,
  codeInjection,
  privilegeEscalation,
  dangerousPaths,
  envInjection,
  containerEscape,
  cryptoMining,
  filterBypass,
  networkRecon,
  packageInstall,
  persistence,
  processControl,
  envDump,
  credentialAccess,
];
