const assert = require('node:assert');
const { start } = require('./server.js');
(async () => {
  const first = await start();
  const second = await start();
  assert.notStrictEqual(first.address().port, second.address().port);
  first.close();
  second.close();
  console.log('ok');
})();
