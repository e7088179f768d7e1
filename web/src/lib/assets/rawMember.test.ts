import { expect, test } from 'vitest';
import { extractRawMember } from './rawMember';

test('a member is extracted as it was sent', () => {
	const text =
		' { "a" : [1, "}]\\"", {"payload": 3}], "n":1.0 ,\n "payload" : {"x": 12345678901234567890, "y": 1.0} }';
	expect(extractRawMember(text, 'payload')).toBe('{"x": 12345678901234567890, "y": 1.0}');
	expect(extractRawMember(text, 'n')).toBe('1.0');
	expect(extractRawMember(text, 'a')).toBe('[1, "}]\\"", {"payload": 3}]');
});

test('escaped member names are compared unescaped', () => {
	expect(extractRawMember('{"p\\u0061yload":null}', 'payload')).toBe('null');
	expect(extractRawMember('{"payload":"a\\\\"}', 'payload')).toBe('"a\\\\"');
});

test('a missing member is undefined', () => {
	expect(extractRawMember('{"a":1}', 'payload')).toBeUndefined();
	expect(extractRawMember('{}', 'payload')).toBeUndefined();
	expect(extractRawMember('[1]', 'payload')).toBeUndefined();
});
