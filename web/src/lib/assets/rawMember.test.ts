import { expect, test } from 'vitest';
import { extractRawMember } from './rawMember';

test('a member comes out as it was sent', () => {
	const text =
		' { "a" : [1, "}]\\"", {"payload": 3}], "n":1.0 ,\n "payload" : {"x": 12345678901234567890, "y": 1.0} }';
	expect(extractRawMember(text, 'payload')).toBe('{"x": 12345678901234567890, "y": 1.0}');
	expect(extractRawMember(text, 'n')).toBe('1.0');
	expect(extractRawMember(text, 'a')).toBe('[1, "}]\\"", {"payload": 3}]');
});

test('names are compared as they are meant', () => {
	expect(extractRawMember('{"p\\u0061yload":null}', 'payload')).toBe('null');
	expect(extractRawMember('{"payload":"a\\\\"}', 'payload')).toBe('"a\\\\"');
});

test('what is not there is nothing', () => {
	expect(extractRawMember('{"a":1}', 'payload')).toBeUndefined();
	expect(extractRawMember('{}', 'payload')).toBeUndefined();
	expect(extractRawMember('[1]', 'payload')).toBeUndefined();
});
