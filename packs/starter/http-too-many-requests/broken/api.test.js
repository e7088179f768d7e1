const assert = require('node:assert');
const { ask } = require('./api.js');
const busy = { status: 429, statusText: 'Too Many Requests', headers: { 'retry-after': '7' } };
const answers = [new Response('', busy), new Response('42')];
const waited = [];
(async () => {
  const answer = await ask('https://api.example.com/', async () => answers.shift(), async (s) => waited.push(s));
  assert.deepStrictEqual([answer, waited], ['42', [7]]);
  console.log('ok');
})();
