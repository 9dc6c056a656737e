/** Which workspace files a command runs or passes to an interpreter. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { filesHandedTo, filesRunBy } from '@tempoclaw/shell-judge';

/** Commands, and the paths that they name; `?` after them means that there may be others. */
const CASES: Readonly<Record<string, string>> = {
  'bash run.sh': 'run.sh',
  'bash -x -o pipefail run.sh data.csv': 'run.sh',
  './run.sh a': 'run.sh',
  'chmod +x run.sh && ./run.sh': 'run.sh',
  '/workspace/run.sh': '/workspace/run.sh',
  'python3 -u -W ignore x.py data.csv': 'x.py',
  'python3 -m pkg.mod': 'pkg/mod.py pkg/mod/__main__.py',
  'python3 -c "print(1)" x.py': '',
  'node --require ./hook.js app.js': 'hook.js app.js',
  'node app': 'app.js app',
  'deno run --allow-read x.ts': 'run x.ts',
  'ruby -r ./h x.rb': 'h x.rb',
  'perl -pe s/a/b/ x': '',
  make: 'GNUmakefile makefile Makefile',
  'make -f my.mk all': 'my.mk',
  'npm run x': 'package.json',
  'npm --prefix app test': 'package.json app/package.json',
  'source x': 'x',
  'sh < x': 'x',
  'cat a b | grep -v c | bash -s': 'a b',
  'bash run.sh < in.txt': 'run.sh',
  'awk -f s.awk data': 's.awk',
  'sed -fs.sed x': 's.sed',
  'env A=1 timeout 5 nohup bash run.sh': 'run.sh',
  'bash -c "./a.sh && bash b.sh"': 'a.sh b.sh',
  'cd sub && bash run.sh': 'run.sh sub/run.sh',
  '(cd a; ls); ./run.sh': 'run.sh a/run.sh',
  'for f in a.sh b.sh; do bash $f; done': 'a.sh b.sh',
  'for f in *.sh; do bash $f; done': '?',
  'cat list | xargs bash': 'list ?',
  'find . -name "*.sh" -exec bash {} \\;': '?',
  'bash <(cat x)': 'x',
  'bash <(cat $f)': '?',
  'eval "$(cat x)"': 'x ?',
  'bash $X': '?',
  'cd $D && ./x': 'x ?',
  'bash ~/x.sh': '?',
  '/usr/bin/python3 x.py': 'x.py',
  'cat notes.txt': '',
  'ls -la && git status': '',
  'echo hi > out.txt': '',
};

describe('files that a command runs', () => {
  for (const [command, expected] of Object.entries(CASES))
    test(`${command}: ${expected || 'none'}`, () => {
      const { paths, open } = filesRunBy(command);
      assert.equal([...paths, ...(open === null ? [] : ['?'])].join(' '), expected);
    });

  test('a program without a shell is handed what its arguments name', () => {
    const args = [
      'apply',
      '-f',
      'x.yaml',
      '--input=a/b.json',
      '@body.txt',
      'file://c.json',
      'https://h/p',
      '-v',
    ];
    assert.deepEqual(filesHandedTo(args).paths, ['x.yaml', 'a/b.json', 'body.txt', 'c.json']);
  });
});
