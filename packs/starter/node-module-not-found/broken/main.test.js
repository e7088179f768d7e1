import assert from 'node:assert';
import { invoice } from './main.js';
assert.strictEqual(invoice([2, 3]), 'Total: 5');
console.log('ok');
