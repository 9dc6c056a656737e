/** Which commands read from the network. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readsNetwork } from '@tempoclaw/shell-judge';

const READS = [
  'curl -s https://example.com',
  '/usr/bin/wget -qO- example.com | head',
  'cd x && git clone https://example.com/r.git',
  'git -C r --no-pager pull',
  'git remote update',
  'timeout 5 env A=1 nc example.com 80',
  'echo "$(curl example.com)"',
  "bash -c 'ssh host cat notes'",
  'exec 3<>/dev/tcp/example.com/80; cat <&3',
  `python3 -c "import urllib.request as r; print(r.urlopen('http://example.com').read())"`,
  'node -e "fetch(`https://example.com`)"',
  'scp host:notes .',
  'xargs curl < addresses',
  'x=curl; $x example.com',
  'if true; then (',
];
const READS_NOT = [
  'ls -la',
  'npm test',
  'git status && git log --grep "https://example.com"',
  'echo https://example.com > notes.txt',
  'grep -r curl docs',
  'python3 tests.py --verbose',
  'git remote -v',
  'node -e "console.log(1)"',
  'cat notes.txt | sort',
];

describe('a command that reads the network', () => {
  for (const command of READS) it(command, () => assert.equal(readsNetwork(command), true));
});

describe('a command that does not', () => {
  for (const command of READS_NOT) it(command, () => assert.equal(readsNetwork(command), false));
});
