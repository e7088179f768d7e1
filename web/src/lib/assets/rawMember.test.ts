import { expect, test } from 'vitest';
import { rawMember } from './rawMember';

test('a member comes out as it was sent', () => {
	const text =
		' { "a" : [1, "}]\\"", {"payload": 3}], "n":1.0 ,\n "payload" : {"x": 12345678901234567890, "y": 1.0} }';
	expect(rawMember(text, 'payload')).toBe('{"x": 12345678901234567890, "y": 1.0}');
	expect(rawMember(text, 'n')).toBe('1.0');
	expect(rawMember(text, 'a')).toBe('[1, "}]\\"", {"payload": 3}]');
});

test('names are compared as they are meant', () => {
	expect(rawMember('{"p\\u0061yload":null}', 'payload')).toBe('null');
	expect(rawMember('{"payload":"a\\\\"}', 'payload')).toBe('"a\\\\"');
});

test('what is not there is nothing', () => {
	expect(rawMember('{"a":1}', 'payload')).toBeUndefined();
	expect(rawMember('{}', 'payload')).toBeUndefined();
	expect(rawMember('[1]', 'payload')).toBeUndefined();
});
