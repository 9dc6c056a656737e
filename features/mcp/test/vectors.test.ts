/** MC-2, MC-3, R9: names, filters, grants, programs and addresses of MCP servers, from test/vectors. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { serverProblems } from '../rules/check-server.ts';
import {
  callSeconds,
  grantProblem,
  grantWith,
  type McpGrant,
  maxCallSeconds,
  passesFilter,
} from '../rules/grants.ts';
import { argsProblem, commandProblem } from '../rules/judge-launch.ts';
import { clawftToolName, mcpBaseName, mcpReplay, mcpToolName, readMcpTool } from '../rules/server.ts';

const vectors = JSON.parse(readFileSync(new URL('../../../test/vectors/mcp.json', import.meta.url), 'utf8'));

describe('MCP servers', () => {
  for (const { prefix, server, result } of vectors.naming.cases)
    it(`MC-2 tools of ${server} with the prefix "${prefix}" are named ${result}__…`, () => {
      assert.equal(mcpToolName(mcpBaseName(prefix, server), 'search'), `${result}__search`);
    });

  it("MC-2 clawft's name of a tool has no prefix", () => {
    assert.equal(clawftToolName('github', 'search'), 'github__search');
  });

  for (const { tool, allow, deny, expect } of vectors.filter)
    it(`MC-3 ${tool} ${expect ? 'passes' : 'does not pass'} allow ${JSON.stringify(allow)} and deny ${JSON.stringify(deny)}`, () => {
      assert.equal(passesFilter(tool, allow, deny), expect);
    });

  const grant = (kind: 'agent' | 'user', tool_allow: string[], more: Partial<McpGrant> = {}): McpGrant => ({
    kind,
    subject: 'x',
    tool_allow,
    tool_deny: [],
    enabled: true,
    config_overrides: {},
    ...more,
  });

  it('MC-3 of the grants of agent and user both hold, and what either denies is denied', () => {
    const [{ agent_allow, user_allow, expect }] = vectors.grants;
    const grants = [grant('agent', agent_allow), grant('user', user_allow, { tool_deny: ['d'] })];
    const has = (tool: string): boolean =>
      grantProblem({ server: 's', tool, requireGrant: false, grants }, 'x', 'x') === undefined;
    assert.deepEqual(['a', 'b', 'c', 'd'].filter(has), expect);
  });

  it('MC-3 a grant is needed where the server says so, and one that is off refuses', () => {
    const access = { server: 's', tool: 't', requireGrant: true, grants: [grant('agent', [])] };
    assert.equal(grantProblem(access, 'x', null), undefined);
    assert.match(grantProblem(access, 'y', null) ?? '', /agent y has no grant/);
    const off = { ...access, requireGrant: false, grants: [grant('user', [], { enabled: false })] };
    assert.match(grantProblem(off, 'y', 'x') ?? '', /switched off/);
    assert.equal(grantProblem(off, 'x', null), undefined);
  });

  it('MC-3 an approved request adds to the grant that is there, and what that denies stays denied', () => {
    const request = { kind: 'agent', subject: 'x', tool_allow: ['b', 'c'] } as const;
    const before = grant('agent', ['a', 'b'], { tool_deny: ['d'] });
    assert.deepEqual(grantWith(before, request), { ...before, tool_allow: ['a', 'b', 'c'] });
    assert.deepEqual(grantWith(undefined, request), grant('agent', ['b', 'c']));
    assert.deepEqual(grantWith(grant('agent', []), request), grant('agent', []), 'it had all before');
    const off = grant('agent', [], { enabled: false, tool_deny: ['d'] });
    assert.deepEqual(grantWith(off, request), grant('agent', ['b', 'c'], { tool_deny: ['d'] }));
  });

  it('MC-3 the seconds of a call are those of its agent’s grant', () => {
    const grants = [grant('agent', [], { config_overrides: { timeout_sec: 5 } }), grant('user', [])];
    assert.deepEqual([callSeconds(60, grants, 'x'), callSeconds(60, grants, 'y')], [5, 60]);
    assert.equal(maxCallSeconds(3, grants), 5);
  });

  for (const command of vectors.command_validation.reject)
    it(`R9 ${JSON.stringify(command)} is not started`, () => assert.ok(commandProblem(command)));
  for (const command of vectors.command_validation.accept.filter(Boolean))
    it(`R9 ${command} may be started`, () => assert.equal(commandProblem(command), undefined));

  for (const args of vectors.args_validation.reject)
    it(`R9 the arguments ${JSON.stringify(args)} are refused`, () => assert.ok(argsProblem(args)));
  for (const args of vectors.args_validation.accept)
    it(`R9 the arguments ${JSON.stringify(args)} are taken`, () =>
      assert.equal(argsProblem(args), undefined));
  it('R9 options that hold code in the same word are refused too, and those of packages are not', () => {
    for (const arg of ['--eval=1', '-pe', '-eprocess.exit()', '--import=x', '--node-options=x', 'eval'])
      assert.ok(argsProblem([arg]), arg);
    for (const args of [
      ['-p', '1+1'],
      ['--no-warnings', '-p', '1+1'],
      ['--title', 'name', '-p', '1+1'],
      ['-r', './first.js', 'server.js'],
      ['--run', 'start'],
      ['--entry-url', 'data:text/javascript,1'],
    ])
      assert.ok(argsProblem(args, '/usr/bin/node'), args.join(' '));
    assert.equal(argsProblem(['server.js', '-p', '3000', '-r', '/root', '--run', 'x'], 'node'), undefined);
    assert.equal(argsProblem(['run', 'start', '-p', '3000'], 'bun'), undefined);
    assert.equal(argsProblem(['-y', '-p', '@scope/package', 'server'], 'npx'), undefined);
    assert.equal(argsProblem(['-m', 'mcp_server_fetch'], 'python3'), undefined);
  });

  it('R9 servers of other runtimes start too, with their own ways to hold code refused', () => {
    for (const command of ['uv', 'npm', 'pipx', 'java', 'dotnet', '/usr/bin/ruby', 'go', 'cargo', 'php'])
      assert.equal(commandProblem(command), undefined, command);
    for (const command of ['perl', 'docker', 'env', 'uv run', 'UV', './uv', '/tmp/../bin/uv', 'nodejs'])
      assert.ok(commandProblem(command), command);
    for (const [command, ...args] of [
      ['php', '-r', 'phpinfo();'],
      ['php', '-d', 'auto_prepend_file=/tmp/x', 'server.php'],
      ['ruby', '-r./first', 'server.rb'],
      ['/usr/bin/java', '-javaagent:x.jar', '-jar', 'server.jar'],
      ['uv', 'run', 'python', '-c', 'import os'],
      ['ruby', '-we', 'system'],
      ['ruby', '-e%x[id]'],
      ['python3', '-tc', 'x'],
      ['npx', '-yc', 'curl https://x.test -o /tmp/x'],
      ['go', 'run', '-exec', '/tmp/x', './server'],
      ['go', 'run', '-toolexec=/tmp/x', './server'],
      ['cargo', 'run', '--config', 'x.toml'],
    ])
      assert.ok(argsProblem(args, command), [command, ...args].join(' '));
    for (const [command, ...args] of [
      ['uv', '--directory', '/srv/app', 'run', '--with', 'mcp[cli]', 'server.py'],
      ['uvx', '--from', 'git+https://github.com/x/y@v1', 'server>=1.0'],
      ['java', '-jar', '/srv/server.jar'],
      ['dotnet', 'run', '--project', 'x.csproj'],
      ['php', 'server.php', '-d', 'data'],
    ])
      assert.equal(argsProblem(args, command), undefined, [command, ...args].join(' '));
  });

  it('R9 redirections and variables of a shell are signs of it, and so is code in capitals', () => {
    for (const args of [
      ['server.js', '>', 'log.txt'],
      ['server.js', '>>log.txt'],
      ['server.js', '2>/tmp/errors'],
      ['server.js', '<in.txt'],
      ['server.js > /tmp/log'],
      ['--root=$HOME/x'],
      ['--token', '$TOKEN'],
      ['Authorization: $TOKEN'],
      ['EVAL(1)'],
      ['import subprocess'],
      ['-r', './first.js'],
      ['-cimport os'],
    ])
      assert.ok(argsProblem(args), args.join(' '));
  });

  it('R9 arguments that only look like these are taken', () => {
    for (const [command, ...args] of [
      ['npx', '-y', 'mcp-remote', 'https://mcp.test/', '--header', 'Authorization:${TOKEN}'],
      ['npx', '-y', 'server-postgres', 'postgresql://u:p@db.test/x?sslmode=require&application_name=y'],
      ['npx', '-y', 'server-mongo', 'mongodb+srv://db.test/x?retryWrites=true&w=majority'],
      ['node', 'subprocess-server.js', '--password', 'pa$$word', '--price', '5$'],
      ['node', 'server.js', '--title', '<b>', '--map', 'a->b', '--where', 'age > 5'],
      ['uvx', '--from', 'server<2', 'server'],
      ['java', '-cp', '/srv/server.jar', 'com.example.Server'],
      ['go', 'run', './server', '-mode', 'stdio', '-name', 'x', '-config', '/etc/x.json', '-repo=x'],
    ])
      assert.equal(argsProblem(args, command), undefined, [command, ...args].join(' '));
  });

  it('R9 Python may be started by its version', () => {
    for (const command of ['python3.12', '/opt/venv/bin/python3.9'])
      assert.equal(commandProblem(command), undefined, command);
    for (const command of ['python3.', 'python3.12.1', 'python3.sh', 'node.20', './python3.12', 'bash3.2'])
      assert.ok(commandProblem(command), command);
  });

  it('R9 the query of an address is no sign of a shell, other signs in it are', () => {
    assert.equal(argsProblem(['-y', 'mcp-remote', 'https://mcp.test/sse?a=1&b=2']), undefined);
    for (const arg of [
      'https://mcp.test/?a=1 & id',
      'https://mcp.test/?a=`id`',
      'https://mcp.test/;id',
      'a&b',
    ])
      assert.ok(argsProblem([arg]), arg);
  });

  it('MC-2 servers called x and mcp_x have tools of different names', () => {
    assert.notEqual(mcpBaseName('', 'mcp_x'), mcpBaseName('', 'x'));
    assert.equal(mcpBaseName('mcp_x', 'y'), 'mcp_x');
  });

  for (const url of vectors.url_validation.reject)
    it(`R5 ${url} is no address of a server`, () => {
      const server = { transport: 'streamable-http', command: '', args: [], url, box: false } as const;
      assert.equal(serverProblems(server, {})[0]?.field, 'url');
    });

  it('a server is reached in one way', () => {
    const both = { command: 'node', args: [], url: 'https://mcp.example.com/', box: false };
    assert.equal(serverProblems({ ...both, transport: 'stdio' }, {})[0]?.field, 'url');
    assert.equal(serverProblems({ ...both, transport: 'sse' }, {})[0]?.field, 'command');
    assert.deepEqual(serverProblems({ ...both, command: '', transport: 'sse' }, {}), []);
    const boxed = { ...both, command: '', transport: 'sse', box: true } as const;
    assert.equal(serverProblems(boxed, {})[0]?.field, 'box');
  });
});

describe('what is kept of a tool that a server lists', () => {
  const tool = { name: 'get-sum', description: 'Adds', inputSchema: { type: 'object' } };

  it('an object schema without properties gets some, and what names a schema is left out', () => {
    const inputSchema = { type: 'object', $schema: 'x', $id: 'http://x/', id: 'y', required: ['a'] };
    assert.deepEqual(readMcpTool({ ...tool, inputSchema })?.schema, {
      type: 'object',
      properties: {},
      required: ['a'],
    });
  });

  it('a name of other characters and a schema too deep or too large are left out', () => {
    let deep: object = {};
    for (let level = 0; level < 20_000; level += 1) deep = { properties: { deep } };
    const large = { type: 'object', properties: { a: { description: 'x'.repeat(40_000) } } };
    for (const bad of [
      { ...tool, name: 'a b' },
      { ...tool, name: 'x'.repeat(101) },
      { ...tool, inputSchema: deep },
      { ...tool, inputSchema: large },
      { ...tool, inputSchema: { properties: { 'a\0': {} } } },
      { ...tool, inputSchema: { properties: { '\ud800': {} } } },
      'a text',
      null,
    ])
      assert.equal(readMcpTool(bad), undefined);
    assert.equal(readMcpTool({ ...tool, description: 'x'.repeat(9_000) })?.description.length, 4_000);
  });

  it('a tool that its server can run as a task is kept as one', () => {
    for (const [taskSupport, task] of [
      ['required', true],
      ['optional', true],
      ['forbidden', undefined],
    ] as const)
      assert.equal(readMcpTool({ ...tool, execution: { taskSupport } })?.task, task);
  });

  it('DU-2 it is run once, unless an admin says otherwise or the server is believed', () => {
    const read = readMcpTool({ ...tool, annotations: { readOnlyHint: true, idempotentHint: true } });
    assert.ok(read);
    assert.equal(mcpReplay({ replay: {}, trust_hints: false }, read), 'once');
    assert.equal(mcpReplay({ replay: {}, trust_hints: true }, read), 'readonly');
    assert.equal(mcpReplay({ replay: { 'get-sum': 'idempotent' }, trust_hints: true }, read), 'idempotent');
    assert.equal(
      mcpReplay({ replay: {}, trust_hints: true }, { ...read, readOnlyHint: false }),
      'idempotent',
    );
  });
});
