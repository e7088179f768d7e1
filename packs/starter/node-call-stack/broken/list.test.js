const assert = require('node:assert');
const { sum } = require('./list.js');
let list = null;
for (let value = 1; value <= 100_000; value += 1) list = { value, next: list };
assert.strictEqual(sum(list), 5_000_050_000);
console.log('ok');
