const assert = require('node:assert');
const { saveAll } = require('./save.js');
const save = async (record) => {
  if (record === 'large') return Promise.reject('the record is too large');
};
saveAll(['small', 'large'], save).then(async (failed) => {
  await new Promise(setImmediate);
  assert.strictEqual(failed, 1);
  console.log('ok');
});
