const assert = require('node:assert');
const { isOpen } = require('./offer.js');
const offer = { until: '2024-02-01T00:00:00Z' };
const at = (time) => isOpen(offer, new Date(time));
assert.strictEqual(at('2024-01-31T23:59:59Z'), true, 'an offer is open until its last second');
assert.strictEqual(at('2024-02-01T00:00:01Z'), false, 'an offer is closed when it ended');
console.log('ok');
