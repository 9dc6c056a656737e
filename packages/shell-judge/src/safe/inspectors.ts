/** Programs that tell about themselves, about the machine, or about a file's form; decided by their whole line. */
import type { ShellCommand } from '../shell-command.ts';
import { firstIs, onlyWords, safePrograms, valuesOf } from './safe-program.ts';

/** `openssl x509 -in cert.pem -noout -dates` */
export const SHOWS_CERTIFICATE =
  /^x509(?: -(?:in [^-]\S*|noout|text|dates|startdate|enddate|subject|issuer|serial|fingerprint|sha256|ext \w+|checkend \d+|inform \w+))+$/;

/** `strings @list`: programs of binutils read further words from that file, including options. */
export function hasNoOptionFile(command: ShellCommand): boolean {
  return valuesOf(command).every((value) => !value.startsWith('@'));
}

export const INSPECTORS = safePrograms({
  // Of these only the question for their version.
  'docker podman helm aws gcloud az gh psql mysql mariadb redis-cli nginx ssh sudo': {
    when: (command) => /^(?:--version|-V)$/.test(valuesOf(command).join(' ')),
  },
  kubectl: { when: (command) => /^version(?: --client)+$/.test(valuesOf(command).join(' ')) },
  openssl: {
    when: (command) =>
      /^(?:version|rand -(?:hex|base64) \d+|dgst -(?:md5|sha\d+) [^-]\S*)$/.test(
        valuesOf(command).join(' '),
      ) || SHOWS_CERTIFICATE.test(valuesOf(command).join(' ')),
  },
  uv: {
    when: (command) => /^pip (?:list|freeze|check|tree|show [\w.-]+)$/.test(valuesOf(command).join(' ')),
  },
  man: { options: 'kf', when: onlyWords(/^[\w.+:-]+$/) },
  nm: { options: 'aACDgPprsuvn', when: hasNoOptionFile },
  objdump: { options: 'adfhprsStTxDC', when: hasNoOptionFile },
  readelf: { options: 'adehlnrsSuVW', when: hasNoOptionFile },
  size: { options: 'ABdtx', when: hasNoOptionFile },
  stty: { when: firstIs(/^size$/) },
  tput: { when: firstIs(/^(?:cols|lines|colors)$/) },
  lsof: { when: onlyWords(/^-(?:i\S*|P|n|t|iTCP)$|^:\d+$/) },
  ss: { when: onlyWords(/^-[ltnpua4]+$/) },
  ps: { when: (command) => /^(?:|-ef?|-A|aux?|-aux?|-o)$/.test(valuesOf(command).join(' ')) },
});
