// Drives a server with the official SDK: tools, resources, templates, errors, progress and cancellation.
// usage: node mcp.mjs '{"command": ..., "args": [...], "cwd": ..., "env": {...}}'   or   '{"url": ..., "stalls": false}'
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const told = JSON.parse(process.argv[2]);
const transport = told.url
  ? new StreamableHTTPClientTransport(new URL(told.url), { requestInit: { headers: told.headers ?? {} } })
  : new StdioClientTransport({ command: told.command, args: told.args, cwd: told.cwd, env: told.env });
const client = new Client({ name: 'peer', version: '1.0.0' });
const wrong = [];
transport.onerror = (error) => wrong.push(String(error));
await client.connect(transport);

const call = async (name, args = {}, options) => {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  assert.equal(typeof result.content[0].text, 'string');
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result;
};
const well = async (name, args, options) => {
  const result = await call(name, args, options);
  assert.ok(!result.isError, `${name}: ${result.content[0].text}`);
  return result.structuredContent;
};
const fails = async (name, args, code, word) => {
  const result = await call(name, args);
  assert.equal(result.isError, true, `${name} should fail`);
  assert.equal(result.structuredContent.code, code, result.content[0].text);
  if (word) assert.ok(result.structuredContent.message.includes(word), result.structuredContent.message);
};
const throws = async (promise, codes) => {
  const error = await promise.then(() => assert.fail('no error'), (error) => error);
  assert.ok(codes.includes(error.code), `${error.code}: ${error.message}`);
};

// Who it is and what it has.
assert.equal(client.getServerVersion().name, 'capsid');
await client.ping();
const { tools } = await client.listTools();
const own = ['evolve', 'recall', 'record_outcome', 'search', 'publish', 'verify', 'status', 'help'];
const names = tools.map((tool) => tool.name);
assert.deepEqual(names.slice(0, 8), own);
assert.equal(names.filter((name) => name.startsWith('gep_')).length, told.compat ? 15 : 0);
const bytes = JSON.stringify(tools.slice(0, 8)).length;
assert.ok(bytes < 9000, `${bytes} bytes`);
assert.ok(tools.every((tool) => tool.inputSchema.type === 'object' && tool.description && tool.annotations));
const hints = (name) => tools.find((tool) => tool.name === name).annotations;
assert.equal(hints('status').readOnlyHint, true);
assert.equal(hints('publish').destructiveHint, true);

// Resources, page by page.
const resources = [];
let cursor;
let pages = 0;
do {
  const page = await client.listResources(cursor ? { cursor } : {});
  resources.push(...page.resources);
  cursor = page.nextCursor;
  pages += 1;
} while (cursor);
assert.ok(pages > 1, 'the list has pages');
assert.ok(['spec', 'genes', 'capsules', 'events'].every((name) => resources.some((one) => one.uri === `gep://${name}`)));
assert.equal(new Set(resources.map((one) => one.uri)).size, resources.length);
const { resourceTemplates } = await client.listResourceTemplates();
for (const kind of ['genes', 'capsules', 'events']) {
  assert.ok(resourceTemplates.some((one) => one.uriTemplate === `gep://${kind}/{id}`));
}
const read = async (uri) => (await client.readResource({ uri })).contents[0];
const spec = await read('gep://spec');
assert.equal(spec.mimeType, 'text/markdown');
assert.ok(spec.text.includes('asset_id'));
const genes = JSON.parse((await read('gep://genes')).text).genes;
assert.ok(genes.length > 50);
const one = await read(resources.find((entry) => entry.uri.startsWith('gep://genes/')).uri);
assert.equal(one.mimeType, 'application/json');
assert.equal(JSON.parse(one.text).type, 'Gene');
await throws(client.readResource({ uri: 'gep://genes/none_of_this_name' }), [-32002, -32602]);
await throws(client.readResource({ uri: 'file:///etc/passwd' }), [-32002, -32602]);
await throws(client.listResources({ cursor: 'not one of ours' }), [-32602]);

// A whole cycle.
const steps = [];
const begun = await well('evolve', { text: 'error: TypeError: x is not a function', force: true }, { onprogress: (step) => steps.push(step) });
assert.ok(begun.run_id.startsWith('run_') && begun.prompt.length > 100 && begun.gene);
assert.ok(steps.length > 0 && steps[0].message, 'progress is told');
assert.equal((await well('evolve', { action: 'review' })).run_id, begun.run_id);
await fails('evolve', { action: 'solidify', run_id: 'run_1' }, 'run_pending');
assert.equal((await well('evolve', { action: 'reject' })).run_id, begun.run_id);
await fails('evolve', { action: 'reject' }, 'nothing_pending');
const summary = await well('status');
assert.equal(summary.waiting_run, null);
assert.equal((await well('recall', { query: 'TypeError: x is not a function' })).signals.includes('log_error'), true);
await well('record_outcome', { signals: ['log_error'], status: 'success', score: 0.9, summary: 'Fixed it', gene: 'gene_repair' });
assert.equal((await well('verify', { what: 'store' })).valid, true);
assert.equal((await well('verify', { what: 'asset', asset: { type: 'Gene', asset_id: 'sha256:0' } })).valid, false);
for (const what of ['genes', 'capsules', 'failed', 'events', 'signals']) await well('status', { what });
for (const topic of [undefined, 'protocol', 'signals', 'commands', 'codes', 'evolve', 'node publish', 'no_hub']) {
  assert.ok((await well('help', topic ? { topic } : {})).text.length > 20, topic);
}

// What is wrong is told so that it can be corrected.
await throws(client.callTool({ name: 'no_such_tool', arguments: {} }), [-32602]);
await fails('status', { what: 'everything' }, 'input_invalid', '`what`');
await fails('recall', { signals: 'log_error' }, 'input_invalid', '`signals`');
await fails('recall', { singals: [] }, 'input_invalid', '`singals`');
await fails('record_outcome', { signals: ['x'] }, 'input_invalid', '`status`');
await fails('record_outcome', { signals: ['x'], status: 'success', score: 7 }, 'input_invalid', '`score`');
await fails('evolve', { text: 'x'.repeat(600_000) }, 'input_invalid', 'bytes');
await fails('publish', { action: 'revoke', id: 'sha256:0', dry_run: false }, 'input_invalid', '`confirm`');
await fails('help', { topic: 'nothing at all' }, 'not_found');
await fails('verify', { what: 'asset', id: 'none' }, 'not_found');
await throws(client.request({ method: 'no/such/method' }, { parse: (x) => x }).catch((error) => { throw error; }), [-32601]);

// A hub that does not answer is left behind at once, and the next call is not held up.
if (told.stalls) {
  const abort = new AbortController();
  const since = Date.now();
  const stalled = client.callTool({ name: 'search', arguments: { query: 'anything' } }, undefined, { signal: abort.signal });
  setTimeout(() => abort.abort('no longer wanted'), 300);
  await stalled.then(() => assert.fail('it was cancelled'), () => {});
  await client.ping();
  await well('help');
  assert.ok(Date.now() - since < 5000, 'cancelling took too long');
}

assert.deepEqual(wrong, []);
await client.close();
console.log(`ok: ${tools.length} tools, ${bytes} bytes, ${resources.length} resources on ${pages} pages`);
