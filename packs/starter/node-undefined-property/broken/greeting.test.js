const assert = require('node:assert');
const { greeting } = require('./greeting.js');
assert.strictEqual(greeting({ customer: { name: 'Ada' } }), 'Dear Ada,');
assert.strictEqual(greeting({ id: 7 }), 'Dear customer,');
console.log('ok');
