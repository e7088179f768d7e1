import { expect, test } from 'vitest';
import { splitKey } from './key';

test('the key is removed from the address', () => {
	expect(splitKey('http://127.0.0.1:4001/explorer#key=abc')).toEqual({
		key: 'abc',
		address: 'http://127.0.0.1:4001/explorer'
	});
});

test('the query and the rest of the fragment stay', () => {
	expect(splitKey('http://h/explorer?chain=a#x=1&key=a%2Bb')).toEqual({
		key: 'a+b',
		address: 'http://h/explorer?chain=a#x=1'
	});
});

test('an address without a key has none, and a broken one is taken as it is', () => {
	expect(splitKey('http://h/explorer').key).toBeNull();
	expect(splitKey('http://h/explorer#key=').key).toBeNull();
	expect(splitKey('http://h/explorer#key=%zz').key).toBe('%zz');
});
