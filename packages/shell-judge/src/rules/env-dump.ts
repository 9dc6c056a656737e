/** Printing the environment, which may contain keys. */
import { jqReadsEnvironment } from '../jq-program.ts';
import { argumentsOf } from '../shell-command.ts';
import { unwrapCommand } from '../parse/unwrap-command.ts';
import { categoryOf } from './rule.ts';

const CODE_RUNNERS = /^(?:python[\d.]*|perl[\d.]*|ruby[\d.]*|irb|node|nodejs|deno|bun|php[\d.]*|lua[\d.]*)$/;

export const envDump = categoryOf('env_dump', [
  {
    deny: 'prints the environment',
    programs: 'env',
    when: (command) => {
      const inner = unwrapCommand(command);
      return (
        inner.commands.length + inner.scripts.length === 0 &&
        !/^--(?:version|help)$/.test(argumentsOf(command)[0]?.value ?? '')
      );
    },
  },
  { deny: 'prints the environment', programs: 'printenv' },
  {
    deny: 'prints every variable',
    programs: 'export declare typeset local readonly',
    when: (command) =>
      argumentsOf(command).every((word) => /^-\w*[px]\w*$/.test(word.value)) &&
      command.assignments.length === 0,
  },
  { deny: 'prints every variable', programs: 'set', when: (command) => command.words.length === 1 },
  { deny: 'prints variables', programs: 'declare typeset export compgen', argument: /^-\w*[pev]\w*$/ },
  {
    deny: 'shows the environment of processes',
    programs: 'ps',
    line: /^[a-df-zA-Z]*e[a-zA-Z]*(?:\s|$)|(?:^|\s)-E(?:\s|$)/,
  },
  { deny: 'reads a process’s environment', path: /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?environ$/ },
  { deny: 'reads the memory of a process', programs: 'strings', path: /^\/proc\// },
  {
    deny: 'reads the environment by code',
    programs: CODE_RUNNERS,
    code: /process\s*(?:\.\s*env\b|\[\s*["'`]env)|os\s*\.\s*environ|getenv|\bENV\b|%ENV|\$_ENV|\$_SERVER|Deno\.env|Bun\.env|\/environ\b/,
  },
  { deny: 'reads the environment from awk', programs: /^[gmn]?awk$/, argument: /ENVIRON/ },
  { deny: 'reads the environment from jq', programs: 'jq yq gojq', when: jqReadsEnvironment },
  {
    confirm: 'prints a variable that may be a secret',
    when: (command) =>
      command.words.some((word) =>
        /\$\{?[#!]?\w*(?:KEY|TOKEN|SECRET|PASSW|CREDENTIAL|PRIVATE|DSN|DATABASE_URL|_URI\b)/i.test(
          word.isLiteral ? '' : word.text,
        ),
      ),
  },
]);
